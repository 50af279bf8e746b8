/** Everything by keyboard. */
import assert from 'node:assert/strict';
import { area, becomes, box, closeAll, frames, middle, openApp, placement, story } from './scenario.ts';

/** Keys pressed on a fresh window, and where it ends. */
const SNAPPING: [string, string[], string][] = [
  ['left', ['ArrowLeft'], 'left'],
  ['right', ['ArrowRight'], 'right'],
  ['top', ['ArrowUp'], 'maximized'],
  ['top twice gives the upper half', ['ArrowUp', 'ArrowUp'], 'top'],
  ['bottom', ['ArrowDown'], 'bottom'],
  ['left, then right', ['ArrowLeft', 'ArrowRight'], 'right'],
  ['left, then top', ['ArrowLeft', 'ArrowUp'], 'topLeft'],
  ['left, then top twice gives the upper half', ['ArrowLeft', 'ArrowUp', 'ArrowUp'], 'top'],
  ['right, then bottom', ['ArrowRight', 'ArrowDown'], 'bottomRight'],
  ['upper half, then left', ['ArrowUp', 'ArrowUp', 'ArrowLeft'], 'topLeft'],
  ['quarter, across and down', ['ArrowLeft', 'ArrowUp', 'ArrowRight', 'ArrowDown'], 'right'],
];

export const keyboard = [
  story('focus: goes along to another webtop, and back into the window', {}, async ({ page }) => {
    const win = await openApp(page, 'notes');
    await page.keyboard.press('F9');
    await page.getByRole('button', { name: 'Add webtop' }).click();
    await page.keyboard.press('Escape');
    await page.locator('.shell-pilot').waitFor({ state: 'detached' });
    await win.locator('textarea').focus();
    await page.keyboard.press('Alt+Shift+PageDown');
    await win.waitFor({ state: 'hidden' });
    await frames(page);
    assert.equal(await page.evaluate(() => document.activeElement?.classList.contains('shell-main')), true);
    await page.keyboard.press('Alt+Shift+PageUp');
    await win.waitFor({ state: 'visible' });
    await frames(page);
    assert.equal(await win.evaluate((element) => element.contains(document.activeElement)), true);
    await page.locator('.shell-tile').first().focus();
    await page.keyboard.press('Alt+Shift+Digit2');
    await frames(page);
    assert.equal(await page.evaluate(() => document.activeElement?.classList.contains('shell-main')), true);
  }),
  story('Ctrl+arrow: moves between the snap positions', {}, async ({ page }) => {
    for (const [name, keys, expected] of SNAPPING) {
      const win = await openApp(page, 'clock');
      for (const key of keys) await page.keyboard.press(`Control+${key}`);
      await frames(page);
      assert.equal(await placement(win), expected, name);
      await closeAll(page);
    }
  }),
  story('Ctrl+arrow: bottom twice minimizes, from anywhere', {}, async ({ page }) => {
    const win = await openApp(page, 'clock');
    for (const first of [[], ['ArrowLeft'], ['ArrowUp']]) {
      for (const key of first) await page.keyboard.press(`Control+${key}`);
      await page.keyboard.press('Control+ArrowDown');
      await page.keyboard.press('Control+ArrowDown');
      await win.waitFor({ state: 'hidden' });
      await page.locator('.shell-task').click();
      await win.waitFor({ state: 'visible' });
    }
  }),
  story('Ctrl+arrow: the second binding works, and a text field keeps its own', {}, async ({ page }) => {
    const win = await openApp(page, 'notes');
    await win.locator('textarea').focus();
    await page.keyboard.press('Control+ArrowLeft');
    assert.equal(await placement(win), 'normal', 'the caret moved, not the window');
    await win.getByRole('button', { name: 'New note' }).focus();
    await page.keyboard.press('Alt+Shift+ArrowRight');
    assert.equal(await placement(win), 'right');
    const usable = await area(page);
    await becomes(win, { x: usable.width / 2, y: 0, width: usable.width / 2, height: usable.height }, 'right half');
    // From the taskbar, where Ctrl moves what is pinned.
    await page.locator('.shell-task').focus();
    await page.keyboard.press('Control+ArrowLeft');
    assert.equal(await placement(win), 'right');
    await page.keyboard.press('Alt+Shift+ArrowLeft');
    assert.equal(await placement(win), 'left');
  }),
  story('menus: the first press beside one only closes it, whatever lies below', {}, async ({ page }) => {
    const framed = await openApp(page, 'handbook');
    await page.frameLocator('.shell-frame').locator('#field').waitFor();
    const corner = await box(framed);
    const win = await openApp(page, 'clock');
    const menus = page.getByRole('menu');
    const icon = win.locator('.shell-window-icon');
    const shortcut = await middle(page.locator('.shell-tile').first());
    const beside = { x: corner.x + corner.width - 20, y: corner.y + corner.height - 20 };
    for (const [what, { x, y }] of [
      ['a frame', beside],
      ['a shortcut', shortcut],
      ['the button that opened it', await middle(icon)],
    ] as const) {
      await icon.click();
      await menus.waitFor();
      await page.mouse.click(x, y);
      await menus.waitFor({ state: 'detached' });
      await frames(page);
      assert.equal(await page.locator('.shell-scrim').count(), 0);
      assert.equal(await page.locator('.shell-window').count(), 2, `${what} got nothing of the press`);
      assert.ok(
        await win.evaluate((element) => element.hasAttribute('data-active')),
        `${what} got nothing of the press`,
      );
      assert.ok(await win.evaluate((element) => element.contains(document.activeElement)), 'the focus goes back');
    }
    await icon.click();
    await page.mouse.click(shortcut.x, shortcut.y, { button: 'right' });
    assert.ok(await menus.getByText('Rename').isVisible(), 'the other button opens the menu of what it points at');
    await page.mouse.click(shortcut.x, shortcut.y);
    await menus.waitFor({ state: 'detached' });
    await page.locator('.shell-start-button').click();
    await page.mouse.click(beside.x, beside.y);
    await page.locator('.shell-start').waitFor({ state: 'detached' });
    await frames(page);
    assert.ok(await win.evaluate((element) => element.hasAttribute('data-active')), 'the frame got nothing of it');
    await page.mouse.click(beside.x, beside.y);
    assert.ok(await framed.evaluate((element) => element.hasAttribute('data-active')), 'the second press arrives');
    await page.locator('.shell-start-button').click();
    await page.locator('.shell-task[data-app=clock]').click();
    assert.equal(await page.locator('.shell-start').count(), 0);
    assert.ok(await win.evaluate((element) => element.hasAttribute('data-active')), 'the taskbar stays in use');
  }),
  story('menus: arrow keys, letters, submenus, Escape, focus returns', {}, async ({ page }) => {
    await openApp(page, 'clock');
    const focused = () => page.evaluate(() => document.activeElement?.textContent?.trim() ?? '');
    await page.keyboard.press('Alt+Shift+M');
    await page.getByRole('menu').waitFor();
    assert.equal(await focused(), 'Minimize');
    await page.keyboard.press('ArrowUp');
    assert.match(await focused(), /^Close/);
    await page.keyboard.press('Home');
    await page.keyboard.press('a');
    assert.equal(await focused(), 'Arrange');
    await page.keyboard.press('ArrowRight');
    assert.equal(await page.getByRole('menu').count(), 2);
    await page.keyboard.press('ArrowLeft');
    assert.equal(await focused(), 'Arrange');
    await page.keyboard.press('Escape');
    assert.equal(await page.getByRole('menu').count(), 0);
    assert.ok(await page.evaluate(() => document.querySelector('.shell-window')?.contains(document.activeElement)));
  }),
  story('move and resize by keys: it says how; Enter keeps, Escape takes back', {}, async ({ page }) => {
    const win = await openApp(page, 'clock');
    const choose = async (name: string) => {
      await page.keyboard.press('Alt+Shift+M');
      await page.getByRole('menuitem', { name, exact: true }).focus();
      await page.keyboard.press('Enter');
    };
    const before = await box(win);
    const hint = page.locator('.shell-toast').filter({ hasText: 'with the arrow keys' });
    await choose('Move');
    await hint.waitFor();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowDown');
    await becomes(win, { ...before, x: before.x + 24, y: before.y + 4 }, 'moved');
    await page.keyboard.press('Enter');
    await hint.waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowRight');
    const moved = { ...before, x: before.x + 24, y: before.y + 4 };
    await becomes(win, moved, 'kept, and the keys are the window’s again');
    await choose('Resize');
    await hint.waitFor();
    await page.keyboard.press('ArrowRight');
    await becomes(win, { ...moved, width: moved.width + 24 }, 'wider');
    await page.keyboard.press('Escape');
    await becomes(win, moved, 'taken back');
    assert.equal(await hint.count(), 0);
    assert.ok(await win.evaluate((element) => element.contains(document.activeElement)));
  }),
  story('start menu: arrows walk the apps, Home and End lead to the first and the last', {}, async ({ page }) => {
    await page.keyboard.press('Control+k');
    const focused = () => page.evaluate(() => (document.activeElement as HTMLElement | null)?.dataset.app);
    const apps = await page
      .locator('.shell-start-app')
      .evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.app));
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), apps[0]);
    await page.keyboard.press('ArrowRight');
    assert.equal(await focused(), apps[1]);
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), apps[6], 'the one below, of five columns');
    await page.keyboard.press('End');
    assert.equal(await focused(), apps.at(-1));
    await page.keyboard.press('Home');
    assert.equal(await focused(), apps[0]);
    await page.keyboard.press('ArrowUp');
    assert.equal(await page.getByRole('combobox').evaluate((input) => input === document.activeElement), true);
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.type('pai');
    await page.getByRole('option', { name: 'Paint' }).waitFor();
    assert.equal(await page.getByRole('combobox').inputValue(), 'pai', 'whoever types over the apps searches');
  }),
  story('regions: F6 goes round window, taskbar and webtop; Ctrl+` steps through windows', {}, async ({ page }) => {
    await openApp(page, 'clock');
    await openApp(page, 'sales');
    const where = () =>
      page.evaluate(() =>
        ['.shell-window', '.shell-taskbar', '.shell-main'].find((region) => document.activeElement?.closest(region)),
      );
    assert.equal(await where(), '.shell-window');
    await page.keyboard.press('F6');
    assert.equal(await where(), '.shell-taskbar');
    await page.keyboard.press('F6');
    assert.equal(await where(), '.shell-main');
    await page.keyboard.press('F6');
    assert.equal(await where(), '.shell-window');
    const active = () => page.locator('.shell-window[data-active]').getAttribute('data-app');
    assert.equal(await active(), 'sales');
    await page.keyboard.press('Control+Backquote');
    assert.equal(await active(), 'clock');
  }),
  story('grid: arrows walk, Enter opens, Ctrl+arrow moves, Delete removes and can be undone', {}, async ({ page }) => {
    await page.locator('.shell-tile').first().focus();
    const focused = () => page.evaluate(() => document.activeElement?.querySelector('.shell-tile-label')?.textContent);
    assert.equal(await focused(), 'Notes');
    await page.keyboard.press('End');
    assert.equal(await focused(), 'Weather');
    await page.keyboard.press('Home');
    assert.equal(await focused(), 'Notes');
    await page.keyboard.press('ArrowRight');
    assert.equal(await focused(), 'Clock');
    await page.keyboard.press('ArrowDown');
    assert.equal(await focused(), 'People');
    await page.keyboard.press('Control+ArrowDown');
    await frames(page);
    assert.equal(await focused(), 'People');
    assert.equal(await page.evaluate(() => document.activeElement?.parentElement?.style.gridRowStart), '3');
    assert.equal(await page.locator('.shell-sr[role=status]').last().textContent(), 'People: row 3, column 2');
    await page.keyboard.press('Delete');
    await page.waitForFunction(() => document.querySelectorAll('.shell-tile').length === 9);
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.waitForFunction(() => document.querySelectorAll('.shell-tile').length === 10);
    await frames(page);
    assert.equal(await focused(), 'People', 'the focus goes to what came back');
    const place = await page.evaluate(() => {
      const style = document.activeElement?.parentElement?.style;
      return [style?.gridRowStart, style?.gridColumnStart];
    });
    assert.deepEqual(place, ['3', '2'], 'it is back where it was');
    await page.keyboard.press('Delete');
    await page.getByRole('button', { name: 'Undo' }).waitFor();
    await page.locator('.shell-toast').getByRole('button', { name: 'Close' }).click();
    assert.equal(await page.evaluate(() => document.activeElement === document.body), false);
    await page.locator('.shell-tile').first().focus();
    await page.keyboard.press('Enter');
    await page.locator('.shell-window[data-app=notes]').waitFor();
  }),
  story('folder: Tab stays inside; whoever leaves it finds it closed', {}, async ({ page }) => {
    await page.locator('.shell-tile').first().focus();
    await page.keyboard.press('F2');
    await page.keyboard.press('m');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    const folder = page.locator('.shell-folder');
    const reopen = async () => {
      if ((await folder.count()) > 0) return;
      await page.locator('.shell-tile[data-folder]').focus();
      await page.keyboard.press('Enter');
      await folder.waitFor();
    };
    await reopen();
    for (const key of ['Tab', 'Tab', 'Tab', 'Tab', 'Shift+Tab', 'Shift+Tab']) {
      await page.keyboard.press(key);
      assert.equal(await folder.evaluate((element) => element.contains(document.activeElement)), true, key);
    }
    const lost = () => page.evaluate(() => document.activeElement === document.body || document.activeElement === null);
    for (const [key, region] of [
      ['Control+k', '.shell-start'],
      ['F9', '.shell-pilot'],
      ['F6', '.shell-taskbar'],
    ] as const) {
      await reopen();
      await page.keyboard.press(key);
      await frames(page);
      assert.equal(await folder.count(), 0, `${key} closes the folder`);
      assert.ok(await page.evaluate((wanted) => document.activeElement?.closest(wanted), region), region);
      await page.keyboard.press('Escape');
      await frames(page);
      assert.equal(await lost(), false, `the focus after ${key} and Escape`);
    }
    await reopen();
    await page.keyboard.press('F2');
    await page.getByRole('menu').waitFor();
    assert.equal(await folder.count(), 1, 'a menu of the folder leaves it open');
    await page.keyboard.press('Escape');
    await openApp(page, 'clock');
    await frames(page);
    assert.equal(await folder.count(), 0, 'nothing lies over the window');
    assert.equal(await lost(), false);
    await reopen();
    await page.keyboard.press('F9');
    await page.getByRole('button', { name: 'Add webtop' }).click();
    await page.keyboard.press('Escape');
    await page.locator('.shell-pilot').waitFor({ state: 'detached' });
    await reopen();
    await page.keyboard.press('Alt+Shift+PageDown');
    await frames(page);
    assert.equal(await folder.count(), 0, 'it stays with its webtop');
    assert.equal(await lost(), false);
  }),
  story('focus: it is never lost when windows open, minimize and close', {}, async ({ page }) => {
    const lost = () => page.evaluate(() => document.activeElement === document.body || document.activeElement === null);
    for (const id of ['clock', 'notes', 'sales']) await openApp(page, id);
    assert.equal(await lost(), false);
    await page.keyboard.press('Alt+Shift+W');
    await page.waitForFunction(() => document.querySelectorAll('.shell-window').length === 2);
    // Of windows that close fast after each other, the last one hands the focus on in the next frame.
    await frames(page);
    assert.equal(await lost(), false);
    await page.locator('.shell-window[data-active] [data-act=minimize]').click();
    assert.equal(await lost(), false);
    await page.keyboard.press('Alt+Shift+W');
    await page.waitForFunction(() => document.querySelectorAll('.shell-window').length === 1);
    await frames(page);
    assert.equal(await lost(), false);
  }),
  story('focus: keys that come before the frame find what the person sees next', {}, async ({ page }) => {
    for (const id of ['clock', 'sales']) await openApp(page, id);
    /** Opens an app, or presses keys, all before the browser draws. */
    const atOnce = (...steps: ({ app: string } | { code: string; key: string; mods: object })[]) =>
      page.evaluate((all) => {
        for (const step of all) {
          if ('app' in step) window.Shell.openApp(step.app);
          else {
            const { code, key, mods } = step;
            const how = { code, key, ...mods, bubbles: true, cancelable: true };
            (document.activeElement ?? document.body).dispatchEvent(new KeyboardEvent('keydown', how));
          }
        }
      }, steps);
    const press = (code: string, key: string, mods: object) => ({ code, key, mods });
    const altShift = { altKey: true, shiftKey: true };
    const focused = () => page.evaluate(() => document.activeElement?.className);
    await atOnce(press('KeyW', 'W', altShift), press('KeyM', 'M', altShift));
    await frames(page);
    assert.equal(await focused(), 'shell-menu-item');
    await page.keyboard.press('Escape');
    assert.equal(await focused(), 'shell-window', 'after a window that closed, and the menu of the next one');
    await page.keyboard.press('F6');
    assert.match((await focused()) ?? '', /shell-start-button/);
    await atOnce({ app: 'notes' }, press('KeyK', 'k', { ctrlKey: true }));
    await frames(page);
    assert.equal(await page.getByRole('combobox').evaluate((field) => field === document.activeElement), true);
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.shell-window[data-active]').getAttribute('data-app'), 'notes');
    assert.equal(await focused(), 'shell-window', 'after a window that opened, and the search');
  }),
  story('focus: a menu whose window closes meanwhile hands it to the next one', {}, async ({ page }) => {
    await openApp(page, 'clock');
    await page.evaluate(() => {
      window.Shell.registerApp({
        id: 'slow',
        title: 'Slow to close',
        icon: 'notes.svg',
        render: ({ onClose }) => {
          onClose(() => new Promise<void>((resolve) => window.addEventListener('saved', () => resolve())));
        },
      });
    });
    const win = await openApp(page, 'slow');
    await page.keyboard.press('Alt+Shift+W');
    await page.keyboard.press('Alt+Shift+M');
    await page.getByRole('menu').waitFor();
    await page.evaluate(() => window.dispatchEvent(new Event('saved')));
    await win.waitFor({ state: 'detached' });
    await frames(page);
    await page.keyboard.press('Escape');
    const active = page.locator('.shell-window[data-active]');
    assert.equal(await active.getAttribute('data-app'), 'clock');
    assert.equal(await active.evaluate((element) => element.contains(document.activeElement)), true);
  }),
];
