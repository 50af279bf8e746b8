/** What somebody works with: a pointer, a finger, or nothing but keys. One story is played with each. */
import type { Locator, Page } from 'playwright-core';

/** A way to do what a story asks for. */
export interface Hands {
  /** Presses a button, a tab, a row. */
  press(target: Locator): Promise<void>;
  /** Writes into a field in place of what is there. */
  write(target: Locator, value: string): Promise<void>;
  check(target: Locator): Promise<void>;
  /** Opens a row of the list. */
  pick(row: Locator): Promise<void>;
  /** Takes an entry of the menu that a button opens. */
  choose(button: Locator, entry: string): Promise<void>;
  /** Opens an app of the desktop, or shows its window. */
  open(app: { readonly id: string; readonly title: string }): Promise<Locator>;
}

/** The most stops of the Tab key on the way to anything. */
const MOST_STOPS = 150;

function windowOf(page: Page, id: string): Locator {
  return page.locator(`.shell-window[data-app="${id}"]`);
}

/** From the search over everything, which keys alone can do. */
async function find(page: Page, title: string, id: string): Promise<Locator> {
  await page.keyboard.press('Control+k');
  await page.keyboard.type(title);
  await page.locator('[role=option][aria-selected=true]', { hasText: title }).first().waitFor();
  await page.keyboard.press('Enter');
  const window = page.locator(`.shell-window[data-app="${id}"][data-active]`);
  await window.locator('.svc-app').first().waitFor();
  return windowOf(page, id);
}

/** Shows an app's window again where it has one, and opens one otherwise. */
async function show(
  page: Page,
  { id, title }: { readonly id: string; readonly title: string },
  bringBack: (task: Locator) => Promise<void>,
): Promise<Locator> {
  const window = windowOf(page, id);
  if ((await window.count()) === 0) return find(page, title, id);
  if ((await window.getAttribute('data-active')) === null)
    await bringBack(page.locator(`.shell-task[data-app="${id}"]`));
  await page.locator(`.shell-window[data-app="${id}"][data-active]`).waitFor();
  return window;
}

/** A mouse, or a finger. */
export function pointer(page: Page): Hands {
  return {
    press: (target) => target.click(),
    write: (target, value) => target.fill(value),
    check: (target) => target.check(),
    pick: (row) => row.click(),
    async choose(button, entry) {
      await button.click();
      await page.getByRole('menuitem', { name: entry }).click();
    },
    open: (app) => show(page, app, (task) => task.click()),
  };
}

/** Presses a key until the focus is there; what can't be reached so is no good. */
async function walk(page: Page, target: Locator, key: string): Promise<void> {
  await target.waitFor();
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    if (await target.evaluate((element) => element.contains(document.activeElement))) return;
    await page.keyboard.press(key);
  }
  throw new Error(`the key ${key} doesn't lead to ${target}`);
}

/** Keys, and nothing else. */
export function keys(page: Page): Hands {
  const reach = (target: Locator) => walk(page, target, 'Tab');
  const press = async (target: Locator) => {
    await reach(target);
    await page.keyboard.press('Enter');
  };
  return {
    press,
    async write(target, value) {
      await reach(target);
      await page.keyboard.press('Control+a');
      await page.keyboard.type(value);
    },
    async check(target) {
      await reach(target);
      if (!(await target.isChecked())) await page.keyboard.press('Space');
    },
    async pick(row) {
      await row.waitFor();
      const grid = page.getByRole('grid');
      await reach(grid);
      await page.keyboard.press('Control+Home');
      for (let stop = 0; stop < MOST_STOPS; stop += 1) {
        const active = await grid.getAttribute('aria-activedescendant');
        if ((await row.locator(`[id="${active}"]`).count()) > 0) break;
        await page.keyboard.press('ArrowDown');
      }
      await page.keyboard.press('Enter');
    },
    async choose(button, entry) {
      await press(button);
      await walk(page, page.getByRole('menuitem', { name: entry }), 'ArrowDown');
      await page.keyboard.press('Enter');
    },
    open: (app) =>
      show(page, app, async (task) => {
        await walk(page, page.locator('.shell-taskbar'), 'F6');
        await walk(page, task, 'ArrowRight');
        await page.keyboard.press('Enter');
      }),
  };
}
