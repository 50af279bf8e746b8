/** What somebody works with: a pointer, a finger, or nothing but keys. One story is played with each. */
import type { Locator, Page } from 'playwright-core';
import { typeKeys } from '../../shell/scripts/firefox.ts';

/** A way to do what a story asks for. */
export interface Hands {
  /** Presses a button, a tab, a row. */
  press(target: Locator): Promise<void>;
  /** Writes into a field in place of what is there. */
  write(target: Locator, value: string): Promise<void>;
  /** Writes a time such as `2026-01-31T09:00` into a field for one. */
  writeTime(target: Locator, value: string): Promise<void>;
  check(target: Locator): Promise<void>;
  /** Looks for something in a field that refers to a record, and takes it. */
  refer(field: Locator, typed: string, option: string): Promise<void>;
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

/** Types a text by keys. */
function type(page: Page, text: string): Promise<void> {
  const isFirefox = page.context().browser()?.browserType().name() === 'firefox';
  return isFirefox ? typeKeys(page, text) : page.keyboard.type(text);
}

/** From the search over everything, which keys alone can do. */
async function find(page: Page, title: string, id: string): Promise<Locator> {
  await page.keyboard.press('Control+k');
  await type(page, title);
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

/** A mouse. */
export function pointer(page: Page): Hands {
  return {
    press: (target) => target.click(),
    write: (target, value) => target.fill(value),
    writeTime: (target, value) => target.fill(value),
    check: (target) => target.check(),
    async refer(field, typed, option) {
      await field.fill(typed);
      await page.getByRole('option', { name: option }).click();
    },
    pick: (row) => row.click(),
    async choose(button, entry) {
      await button.click();
      await page.getByRole('menuitem', { name: entry }).click();
    },
    open: (app) => show(page, app, (task) => task.click()),
  };
}

/** A finger, on a desktop whose windows fill the screen. */
export function finger(page: Page): Hands {
  return {
    ...pointer(page),
    press: (target) => target.tap(),
    async refer(field, typed, option) {
      await field.fill(typed);
      await page.getByRole('option', { name: option }).tap();
    },
    pick: (row) => row.locator('.svc-card').tap(),
    async choose(button, entry) {
      await button.tap();
      await page.getByRole('menuitem', { name: entry }).tap();
    },
    async open({ id }) {
      await page.locator('.shell-start-button').tap();
      await page.locator(`.shell-start-app[data-app="${id}"]`).tap();
      await page.locator(`.shell-window[data-app="${id}"][data-active] .svc-app`).first().waitFor();
      return windowOf(page, id);
    },
  };
}

/** Presses a key until the focus is there; what can't be reached so is no good. */
async function walk(page: Page, target: Locator, key: string): Promise<void> {
  await target.waitFor();
  const isThere = () => target.evaluate((element) => element.contains(document.activeElement));
  // To find something by its role and name, the whole page is read: it's found once, and anew when it was drawn anew.
  let found = await target.elementHandle();
  for (let stop = 0; stop < MOST_STOPS; stop += 1) {
    const where = await found?.evaluate((element) => {
      if (!element.isConnected) return 'gone';
      return element.contains(document.activeElement) ? 'there' : 'elsewhere';
    });
    if (where !== 'elsewhere') {
      if (await isThere()) return;
      found = await target.elementHandle();
    }
    await page.keyboard.press(key);
  }
  throw new Error(`the key ${key} doesn't lead to ${target}`);
}

/** Whether something stands before what has the focus. */
function isBehind(target: Locator): Promise<boolean> {
  return target.evaluate((element) => {
    const order = document.activeElement?.compareDocumentPosition(element) ?? 0;
    return (order & Node.DOCUMENT_POSITION_PRECEDING) !== 0 && (order & Node.DOCUMENT_POSITION_CONTAINS) === 0;
  });
}

/** Keys, and nothing else. */
export function keys(page: Page): Hands {
  // Nobody goes round through the browser's own buttons to what stands just before.
  const reach = async (target: Locator) => {
    await target.waitFor();
    await walk(page, target, (await isBehind(target)) ? 'Shift+Tab' : 'Tab');
  };
  const press = async (target: Locator) => {
    await reach(target);
    await page.keyboard.press('Enter');
  };
  return {
    press,
    async write(target, value) {
      await reach(target);
      await page.keyboard.press('Control+a');
      await type(page, value);
    },
    async writeTime(target, value) {
      const [, year, month, day, hour, minute] = /(\d+)-(\d+)-(\d+)T(\d+):(\d+)/.exec(value) ?? [];
      await reach(target);
      // Each part leads on to the next when it is full. Chromium's year is not: it may be longer.
      await page.keyboard.type(`${day}${month}${year}`);
      if (page.context().browser()?.browserType().name() === 'chromium') await page.keyboard.press('ArrowRight');
      // Where a browser counts hours to twelve, the half of the day is a part, too.
      await page.keyboard.type(`${hour}${minute}${Number(hour) < 12 ? 'a' : 'p'}`);
      if ((await target.inputValue()) !== value) throw new Error(`${await target.inputValue()} was written`);
    },
    async check(target) {
      await reach(target);
      if (!(await target.isChecked())) await page.keyboard.press('Space');
    },
    async refer(field, typed, option) {
      await reach(field);
      await page.keyboard.press('Control+a');
      await type(page, typed);
      await page.locator('[role=option][aria-selected=true]', { hasText: option }).waitFor();
      await page.keyboard.press('Enter');
    },
    async pick(row) {
      await row.waitFor();
      const grid = row.locator('xpath=ancestor::*[@role="grid"]');
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
