/** Taskbar, previews and pilot view. */
import assert from 'node:assert/strict';
import { box, drag, frames, middle, openApp, story } from './scenario.ts';

export const overview = [
  story('preview: a resting pointer takes no window away, and shows what is out of sight', {}, async ({ page }) => {
    await openApp(page, 'notes');
    const away = page.locator('.shell-window').first();
    await page.keyboard.press('Alt+Shift+ArrowDown');
    await page.keyboard.press('Alt+Shift+ArrowDown');
    await away.waitFor({ state: 'hidden' });
    const win = await openApp(page, 'notes');
    const before = await box(win);
    await page.locator('.shell-task').hover();
    await page.locator('.shell-preview').waitFor();
    await page.waitForTimeout(250);
    assert.deepEqual(await box(win), before, 'what is in sight stays where it is');
    const card = await box(page.locator('.shell-preview-open[data-filled]'));
    const live = await box(page.locator('.shell-window.shell-flying'));
    assert.ok(
      live.x >= card.x - 1 && live.y >= card.y - 1 && live.height <= card.height + 1,
      'the minimized one is pictured',
    );
    await page.locator('.shell-preview-open:not([data-filled])').hover();
    const { x, y, width, height } = await box(page.locator('.shell-outline'));
    assert.deepEqual({ x, y, width, height }, before, 'its card shows where it is');
    await page.mouse.move(700, 100);
    await page.locator('.shell-preview').waitFor({ state: 'detached' });
    await away.waitFor({ state: 'hidden' });
    assert.equal(await page.locator('.shell-outline').count(), 0);
  }),
  story('preview: only for whoever points at a button, and gone when a window is turned to', {}, async ({ page }) => {
    await openApp(page, 'sales');
    const first = await middle(page.locator('.shell-task'));
    const { width } = await box(page.locator('.shell-task'));
    await page.mouse.move(first.x + width + 4, first.y);
    const clock = await openApp(page, 'clock');
    await page.waitForTimeout(700);
    assert.equal(await page.locator('.shell-task[data-app=clock]:hover').count(), 1, 'the button came to the pointer');
    assert.equal(await page.locator('.shell-preview').count(), 0);
    await page.mouse.move(first.x + width + 6, first.y + 2);
    await page.locator('.shell-preview').waitFor();
    await page.keyboard.press('Control+Backquote');
    await page.locator('.shell-preview').waitFor({ state: 'detached' });
    await page.mouse.move(first.x, first.y);
    await page.locator('.shell-preview').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.shell-preview').waitFor({ state: 'detached' });
    await page.locator('.shell-task').last().hover();
    await page.locator('.shell-preview').waitFor();
    await page.evaluate(() => window.Shell.configure({ defaults: { taskbarPosition: 'left' } }));
    await page.locator('.shell-preview').waitFor({ state: 'detached' });
    assert.equal(await clock.evaluate((element) => (element as HTMLElement).inert), false);
  }),
  story('preview: several windows of an app, chosen and closed by keyboard', {}, async ({ page }) => {
    await openApp(page, 'notes');
    await openApp(page, 'notes');
    assert.equal(await page.locator('.shell-task').count(), 1);
    await page.locator('.shell-task').focus();
    await page.keyboard.press('Enter');
    assert.equal(await page.locator('.shell-preview-card').count(), 2);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.waitForFunction(() => document.querySelectorAll('.shell-window').length === 1);
    await page.keyboard.press('Escape');
    await page.locator('.shell-preview').waitFor({ state: 'detached' });
    assert.equal(await page.locator('.shell-window').evaluate((element) => (element as HTMLElement).inert), false);
  }),
  story('task button: minimizes the active window and brings it back', {}, async ({ page }) => {
    const win = await openApp(page, 'clock');
    await page.locator('.shell-task').click();
    await win.waitFor({ state: 'hidden' });
    await page.locator('.shell-task').click();
    await win.waitFor({ state: 'visible' });
  }),
  story('pilot: shows all windows, adds, fills and deletes webtops', {}, async ({ page }) => {
    const clock = await openApp(page, 'clock');
    await openApp(page, 'sales');
    await page.locator('.shell-pilot-button').click();
    assert.equal(await page.locator('.shell-pilot-window').count(), 2);
    await page.getByRole('button', { name: 'Add webtop' }).click();
    const card = page.locator('.shell-pilot-card').nth(1);
    await drag(page, await middle(page.locator('.shell-pilot-window[aria-label=Clock]')), await middle(card));
    await page.waitForFunction(() => document.querySelectorAll('.shell-pilot-window').length === 1);
    await frames(page);
    const [inCard, screen] = [await box(clock), await box(card.locator('.shell-pilot-screen'))];
    assert.ok(
      inCard.x >= screen.x - 2 && inCard.x + inCard.width <= screen.x + screen.width + 2,
      'the window shows in the card',
    );
    await card.getByRole('button', { name: 'Webtop 2', exact: true }).click();
    assert.equal(await page.locator('.shell-pilot-window').count(), 1);
    await page.getByRole('button', { name: 'Delete Webtop 2' }).click();
    assert.equal(await page.locator('.shell-pilot-window').count(), 2, 'its window went to the neighbour');
    assert.equal(await page.locator('.shell-pilot-card').count(), 1);
    await page.locator('.shell-pilot-window[aria-label=Clock]').click();
    await page.locator('.shell-pilot').waitFor({ state: 'detached' });
    assert.ok(
      await clock.evaluate((element) => element.hasAttribute('data-active') && !(element as HTMLElement).inert),
    );
  }),
  story('pilot: packed in rows, names whole; the wallpaper in every card; one × a window', {}, async ({ page }) => {
    const apps = ['calculator', 'gallery', 'notes', 'people', 'weather'];
    for (const id of apps) await openApp(page, id);
    await page.keyboard.press('F9');
    await page.getByRole('button', { name: 'Add webtop' }).click();
    const slots = page.locator('.shell-pilot-slot');
    const boxes = await Promise.all(apps.map((_id, at) => box(slots.nth(at))));
    const rows: (typeof boxes)[] = [];
    for (const one of boxes) {
      const row = rows.at(-1);
      const last = row?.at(-1);
      if (row && last && one.x > last.x) row.push(one);
      else rows.push([one]);
    }
    const spans = rows.map((row) => ({
      gaps: row.slice(1).map((one, at) => one.x - ((row[at]?.x ?? 0) + (row[at]?.width ?? 0))),
      top: Math.min(...row.map(({ y }) => y)),
      bottom: Math.max(...row.map(({ y, height }) => y + height)),
    }));
    assert.ok(rows.length > 1, 'more than one row');
    for (const gap of spans.flatMap(({ gaps }) => gaps)) assert.ok(gap > 0 && gap <= 40, `a gap of ${gap} px`);
    for (const [at, { top }] of spans.entries()) {
      const above = spans[at - 1];
      // Names have their place between rows.
      if (above) assert.ok(top > above.bottom && top - above.bottom <= 64, `rows are ${top - above.bottom} px apart`);
    }
    const cut = await page
      .locator('.shell-pilot-name > span:last-child')
      .evaluateAll((names) =>
        names.filter((name) => name.scrollWidth > name.clientWidth).map((name) => name.textContent),
      );
    assert.deepEqual(cut, [], 'names that are cut');
    const pictures = await page
      .locator('.shell-wallpaper, .shell-pilot-screen')
      .evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundImage));
    assert.equal(pictures.length, 3, 'a wallpaper and two cards');
    assert.match(pictures[0] ?? '', /gradient/);
    assert.equal(new Set(pictures).size, 1, 'cards show the wallpaper');
    assert.equal(await page.locator('[data-current] .shell-pilot-drawing').count(), apps.length, 'with what is open');
    const first = slots.first();
    const closing = page.locator(`.shell-window[data-app=${apps.at(-1)}]`);
    assert.equal(await closing.locator('[data-act=close]').isVisible(), false, 'nothing lies below the disc');
    await first.hover();
    const disc = await middle(first.locator('.shell-pilot-close'));
    await page.mouse.click(disc.x, disc.y);
    await closing.waitFor({ state: 'detached' });
    assert.equal(await page.locator('.shell-pilot-window').count(), apps.length - 1);
  }),
  story('pilot: Escape closes it from the taskbar, too', {}, async ({ page }) => {
    await openApp(page, 'clock');
    await page.evaluate(() => window.Shell.notify({ title: 'Backup done' }));
    await page.keyboard.press('F9');
    await page.locator('.shell-bell').click();
    await page.locator('.shell-notice-panel').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.shell-notice-panel').waitFor({ state: 'detached' });
    assert.equal(await page.locator('.shell-pilot').count(), 1, 'one at a time');
    await page.keyboard.press('Escape');
    await page.locator('.shell-pilot').waitFor({ state: 'detached' });
    assert.equal(await page.locator('.shell-window[data-active]').getAttribute('data-app'), 'clock');
  }),
  story('pilot: the focus survives a drag, so that Escape still closes', {}, async ({ page }) => {
    await openApp(page, 'clock');
    await openApp(page, 'sales');
    await page.keyboard.press('F9');
    await page.getByRole('button', { name: 'Add webtop' }).click();
    const card = await middle(page.locator('.shell-pilot-card').nth(1));
    const carried = page.locator('.shell-window[data-app=sales]');
    const from = await middle(page.locator('.shell-pilot-window[aria-label=Sales]'));
    const before = await box(carried);
    await drag(page, from, card, false);
    const held = await box(carried);
    assert.ok(held.width < before.width / 2, `it shrinks on its way to the cards: ${held.width}`);
    await page.keyboard.press('Escape');
    await page.mouse.up();
    await frames(page);
    assert.equal(
      await page.locator('.shell-pilot-window').count(),
      2,
      'taken back, and the lifted pointer chose nothing',
    );
    await page.keyboard.press('Alt+Shift+M');
    assert.equal(await page.getByRole('menu').count(), 0, 'no window to have a menu');
    await page.keyboard.press('Escape');
    await page.locator('.shell-pilot').waitFor({ state: 'detached' });
  }),
  story('taskbar: with more apps than fit, the active one is in sight', {}, async ({ page }) => {
    await page.evaluate(() => {
      for (let index = 0; index < 40; index += 1) {
        window.Shell.registerApp({ id: `m${index}`, title: `App ${index}`, icon: 'box.svg', render: () => undefined });
        window.Shell.openApp(`m${index}`);
      }
    });
    const inSight = async (id: string) => {
      await frames(page);
      const [bar, task] = [
        await box(page.locator('.shell-tasks')),
        await box(page.locator(`.shell-task[data-app=${id}]`)),
      ];
      const along = (from: number, length: number, start: number, size: number) =>
        from >= start && from + length <= start + size + 1;
      return along(task.x, task.width, bar.x, bar.width) && along(task.y, task.height, bar.y, bar.height);
    };
    assert.equal(await inSight('m39'), true);
    assert.equal(await inSight('m0'), false);
    await page.setViewportSize({ width: 1024, height: 768 });
    assert.equal(await inSight('m39'), true, 'the bar became shorter');
    await page.evaluate(() => {
      const early = [...document.querySelectorAll<HTMLElement>('.shell-window')].slice(0, 12);
      for (const win of early) win.querySelector<HTMLElement>('[data-act=close]')?.click();
    });
    await page.waitForFunction(() => document.querySelectorAll('.shell-task').length === 28);
    assert.equal(await inSight('m39'), true, 'others closed');
    await page.evaluate(() => window.Shell.configure({ defaults: { taskbarPosition: 'left' } }));
    assert.equal(await inSight('m39'), true, 'the bar went to the side');
    await page.evaluate(() => window.Shell.configure({ defaults: { taskbarPosition: 'bottom' } }));
    await page.evaluate(() => {
      for (let index = 0; index < 12; index += 1) window.Shell.openApp(`m${index}`);
    });
    await page.evaluate(() => window.Shell.registerApp({ id: 'extra', title: 'x', icon: 'box.svg', render: () => '' }));
    await page.keyboard.press('Control+Backquote');
    assert.equal(await page.locator('.shell-window[data-active]').getAttribute('data-app'), 'm10');
    assert.equal(await inSight('m10'), true);
    await page.locator('.shell-tasks').hover();
    await page.mouse.wheel(0, 3000);
    await page.waitForFunction(() => (document.querySelector('.shell-tasks')?.scrollLeft ?? 0) > 100);
  }),
  story('pilot: nine webtops and no more; by keyboard', {}, async ({ page }) => {
    await page.keyboard.press('F9');
    for (let count = 1; count < 9; count += 1) await page.getByRole('button', { name: 'Add webtop' }).click();
    assert.equal(await page.locator('.shell-pilot-card').count(), 9);
    assert.equal(await page.getByRole('button', { name: 'Add webtop' }).count(), 0);
    await page.locator('.shell-pilot-card-open').first().focus();
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('.shell-pager [aria-current]').getAttribute('aria-label'), 'Webtop 3');
    await page.keyboard.press('Alt+Shift+Digit7');
    assert.equal(await page.locator('.shell-pager [aria-current]').getAttribute('aria-label'), 'Webtop 7');
  }),
  story('pilot: Delete closes the window under the focus, and the next is the active one', {}, async ({ page }) => {
    const clock = await openApp(page, 'clock');
    await openApp(page, 'sales');
    await page.keyboard.press('F9');
    await page.keyboard.press('Delete');
    await page.waitForFunction(() => document.querySelectorAll('.shell-pilot-window').length === 1);
    assert.equal(await page.locator('.shell-window').getAttribute('data-app'), 'clock');
    await page.keyboard.press('Escape');
    await page.locator('.shell-pilot').waitFor({ state: 'detached' });
    assert.equal(await clock.getAttribute('data-active'), '');
    assert.equal(await clock.evaluate((element) => element.contains(document.activeElement)), true);
  }),
  story(
    'taskbar: beside its buttons a press takes no focus, and a right one leads to its settings',
    {},
    async ({ page }) => {
      const notes = await openApp(page, 'notes');
      await notes.locator('textarea').click();
      const clock = await middle(page.locator('.shell-clock'));
      await page.mouse.click(clock.x, clock.y);
      const typing = () => notes.locator('textarea').evaluate((field) => field === document.activeElement);
      assert.equal(await typing(), true, 'after a press');
      await page.mouse.click(clock.x, clock.y, { button: 'right' });
      await page.keyboard.press('Escape');
      assert.equal(await typing(), true, 'after its menu');
      await page.mouse.click(clock.x, clock.y, { button: 'right' });
      await page.getByRole('menuitem', { name: 'Show desktop' }).click();
      await notes.waitFor({ state: 'hidden' });
      await page.locator('.shell-task').click({ button: 'right' });
      assert.equal(await page.getByRole('menu').count(), 1);
      await page.getByRole('menuitem', { name: 'Minimize' }).waitFor();
      await page.keyboard.press('Escape');
      await page.mouse.click(clock.x, clock.y, { button: 'right' });
      await page.getByRole('menuitem', { name: 'Settings' }).click();
      await page.getByRole('tab', { name: 'Taskbar', selected: true }).waitFor();
    },
  ),
  story('pilot: who sends a window away stays where they are', {}, async ({ page }) => {
    const clock = await openApp(page, 'clock');
    const sales = await openApp(page, 'sales');
    await page.keyboard.press('F9');
    await page.getByRole('button', { name: 'Add webtop' }).click();
    await page.locator('.shell-pilot-card').nth(1).waitFor();
    await page.waitForTimeout(300);
    const card = page.locator('.shell-pilot-window').first();
    assert.equal(await card.getAttribute('aria-label'), 'Sales');
    await drag(page, await middle(card), await middle(page.locator('.shell-pilot-card').nth(1)));
    await page.waitForFunction(() => document.querySelectorAll('.shell-pilot-window').length === 1);
    await page.keyboard.press('Escape');
    await page.locator('.shell-pilot').waitFor({ state: 'detached' });
    await frames(page);
    assert.equal(await page.locator('.shell-pager [aria-current]').getAttribute('aria-label'), 'Webtop 1');
    assert.equal(await sales.isVisible(), false);
    assert.equal(await clock.getAttribute('data-active'), '');
  }),
];
