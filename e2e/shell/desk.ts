/** What makes a desktop to stay at: windows that hide none, a way to the webtop and back, seams, one selection, undo. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import {
  area,
  becomes,
  box,
  drag,
  frames,
  middle,
  openApp,
  placement,
  same,
  story,
  titleOf,
  twice,
} from './scenario.ts';

/** Whether something of a window's rim is in sight, to see and to press. */
async function inSight(page: Page, win: Locator): Promise<boolean> {
  const rect = await box(win);
  const id = await win.getAttribute('data-id');
  return page.evaluate(
    ([{ x, y, width, height }, own]) => {
      const shares = [0.02, 0.2, 0.4, 0.6, 0.8, 0.98];
      const rim = shares.flatMap((share) => [
        [x + width * share, y + 14],
        [x + width * share, y + height - 14],
        [x + 14, y + height * share],
        [x + width - 14, y + height * share],
      ]);
      const hits = rim.map(([left = 0, top = 0]) =>
        document.elementFromPoint(left, top)?.closest<HTMLElement>('.shell-window'),
      );
      return hits.some((hit) => hit?.dataset.id === own);
    },
    [rect, id] as const,
  );
}

async function activeTask(page: Page): Promise<string | null> {
  await frames(page);
  return page.locator('.shell-task[aria-current]').getAttribute('data-app');
}

/** The app whose task button has the focus. */
const focusedApp = (page: Page) => page.evaluate(() => (document.activeElement as HTMLElement).dataset.app);

export const desk = [
  story('placement: the first window stands in the middle, further ones hide none', {}, async ({ page }) => {
    const first = await openApp(page, 'notes');
    const usable = await area(page);
    const at = await box(first);
    assert.ok(Math.abs(at.x + at.width / 2 - (usable.x + usable.width / 2)) <= 1, 'in the middle');
    assert.ok(Math.abs(at.y + at.height / 2 - (usable.y + usable.height / 2)) <= 1, 'in the middle');
    const all = [first];
    for (const id of ['gallery', 'welcome', 'people', 'handbook', 'calculator']) {
      all.push(await openApp(page, id));
      for (const win of all)
        assert.ok(await inSight(page, win), `${await win.getAttribute('data-app')} can be seen after ${id}`);
    }
  }),
  story('task button: the active one is marked, whatever changes meanwhile', {}, async ({ page }) => {
    await openApp(page, 'weather');
    await page.waitForFunction(
      () => document.querySelector('[data-app=weather] .shell-window-title')?.textContent !== 'Weather',
    );
    await openApp(page, 'handbook');
    assert.equal(await activeTask(page), 'handbook');
    await page.locator('.shell-task[data-app=weather]').click();
    assert.equal(await activeTask(page), 'weather');
    await page.keyboard.press('Alt+Shift+W');
    await page.waitForFunction(() => document.querySelectorAll('.shell-window').length === 1);
    assert.equal(await activeTask(page), 'handbook');
  }),
  story(
    'taskbar: one that hides itself stays while a preview is open, beside it',
    { options: { defaults: { taskbarPosition: 'bottom' } } },
    async ({ page }) => {
      await openApp(page, 'shell.settings', { section: 'taskbar' });
      await page.getByRole('switch').click();
      await page.keyboard.press('Alt+Shift+W');
      await openApp(page, 'notes');
      await openApp(page, 'notes');
      await page.mouse.move(700, 300);
      await page.waitForFunction(() => document.querySelector('[data-bar-hidden]') !== null);
      await page.mouse.move(300, 899);
      await page.waitForFunction(() => document.querySelector('[data-bar-hidden]') === null);
      await page.waitForTimeout(250);
      const task = await middle(page.locator('.shell-task'));
      await page.mouse.move(task.x - 3, task.y);
      await page.mouse.move(task.x, task.y);
      await page.locator('.shell-preview').waitFor();
      const [panel, bar] = [await box(page.locator('.shell-preview')), await box(page.locator('.shell-taskbar'))];
      assert.ok(panel.y + panel.height <= bar.y, 'the bar covers nothing of it');
      await page.mouse.move(task.x, panel.y + panel.height / 2, { steps: 5 });
      await page.waitForTimeout(900);
      assert.equal(await page.locator('[data-bar-hidden]').count(), 0, 'the bar stays');
      await page.locator('.shell-preview').waitFor();
    },
  ),
  story('selection: stays within the window that one works in', {}, async ({ page }) => {
    await openApp(page, 'gallery');
    const win = await openApp(page, 'welcome');
    await win.locator('p').click();
    await page.keyboard.press('Control+A');
    const text = await page.evaluate(() => getSelection()?.toString() ?? '');
    const own = await win.locator('.shell-host').innerText();
    for (const line of text.split('\n').filter((part) => part.trim()))
      assert.ok(own.includes(line.trim()), `“${line}” is selected, too`);
    assert.match(text, /Open apps from the start menu/);
  }),
  story('tile: pressed twice opens once', {}, async ({ page }) => {
    await twice(page, page.locator('.shell-tile', { hasText: 'Notes' }));
    await page.locator('.shell-window').waitFor();
    await page.waitForTimeout(300);
    assert.equal(await page.locator('.shell-window').count(), 1);
  }),
  story(
    'effects: drawn in the ink of the wallpaper',
    { options: { defaults: { wallpaper: 'paper', effect: 'snow' } }, reducedMotion: false },
    async ({ page }) => {
      await page.waitForTimeout(600);
      const darkest = await page.evaluate(() => {
        const canvas = document.querySelector<HTMLCanvasElement>('.shell-effect');
        const { data } = canvas?.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] };
        let least = 255;
        for (let at = 0; at < data.length; at += 4)
          if ((data[at + 3] ?? 0) > 60) least = Math.min(least, data[at] ?? 255);
        return least;
      });
      assert.ok(darkest < 90, `flakes on paper are dark, not ${darkest}`);
    },
  ),
  story('phone on its side: the badge sits on its tile', { width: 844, height: 390, touch: true }, async ({ page }) => {
    const tile = page.locator('.shell-tile', { hasText: 'Tasks' });
    const [plate, badge] = [await box(tile.locator('.shell-plate')), await box(tile.locator('.shell-badge'))];
    assert.ok(badge.x < plate.x + plate.width && badge.x + badge.width > plate.x + plate.width - 14, 'at its corner');
    assert.ok(Math.abs(badge.y - plate.y) < 14);
  }),
  story('start menu: numbers in names count as numbers', {}, async ({ page }) => {
    await page.evaluate(() => {
      for (const number of [10, 2, 1, 11])
        window.Shell.registerApp({ id: `z${number}`, title: `Zone ${number}`, icon: 'box.svg', render: () => '' });
    });
    await page.keyboard.press('Control+K');
    const names = await page.locator('.shell-start-app').filter({ hasText: 'Zone' }).allInnerTexts();
    assert.deepEqual(names, ['Zone 1', 'Zone 2', 'Zone 10', 'Zone 11']);
  }),
  story('keys: the desktop’s own work from within a frame of the page’s origin', {}, async ({ page }) => {
    const win = await openApp(page, 'handbook');
    const field = win.frameLocator('iframe').locator('input');
    await field.fill('text');
    await field.press('F9');
    await page.locator('.shell-pilot').waitFor();
    await page.keyboard.press('Escape');
    await field.press('Control+K');
    await page.locator('.shell-start').waitFor();
    await page.keyboard.press('Escape');
    await field.focus();
    await field.press('F6');
    assert.equal(await page.evaluate(() => document.activeElement?.closest('.shell-taskbar') !== null), true);
    await field.focus();
    await field.press('Control+ArrowLeft');
    assert.equal(await placement(win), 'normal', 'in a field it moves by words');
    await field.press('Alt+Shift+ArrowLeft');
    assert.equal(await placement(win), 'left');
  }),
  story('undo: Ctrl+Z brings back what was removed, and F6 reaches the notice', {}, async ({ page }) => {
    const tile = page.locator('.shell-tile', { hasText: 'Notes' });
    await tile.focus();
    await page.keyboard.press('Delete');
    await tile.waitFor({ state: 'detached' });
    for (let step = 0; step < 3; step += 1) {
      await page.keyboard.press('F6');
      if (await page.evaluate(() => document.activeElement?.matches('.shell-toast button'))) break;
    }
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), 'Undo');
    await page.keyboard.press('Enter');
    await tile.waitFor();
    await page.locator('.shell-tile', { hasText: 'Clock' }).focus();
    await page.keyboard.press('Delete');
    await page.keyboard.press('Delete');
    assert.equal(await page.locator('.shell-tile').count(), 8);
    await page.keyboard.press('Control+z');
    await page.keyboard.press('Control+z');
    await page.waitForFunction(() => document.querySelectorAll('.shell-tile').length === 10);
    await page.keyboard.press('Control+z');
    assert.equal(await page.locator('.shell-tile').count(), 10, 'no more than was removed');
  }),
  story('drag: a tile on another changes places with it', {}, async ({ page }) => {
    const [notes, people] = [
      page.locator('.shell-tile', { hasText: 'Notes' }),
      page.locator('.shell-tile', { hasText: 'Sales' }),
    ];
    const [from, to] = [await box(notes), await box(people)];
    const target = await middle(people);
    await drag(page, await middle(notes), { x: target.x + to.width / 2 + 4, y: target.y });
    same(await box(notes), to, 'Notes');
    same(await box(people), from, 'Sales');
  }),
  story('show desktop: by corner and by key, and back as it was', {}, async ({ page }) => {
    const clock = await openApp(page, 'clock');
    const sales = await openApp(page, 'sales');
    await page.locator('.shell-home').click();
    await sales.waitFor({ state: 'hidden' });
    assert.equal(await clock.isVisible(), false);
    await page.keyboard.press('Alt+Shift+D');
    await sales.waitFor({ state: 'visible' });
    assert.equal(await clock.isVisible(), true);
    assert.equal(await sales.getAttribute('data-active'), '');
    await page.keyboard.press('Alt+Shift+D');
    await sales.waitFor({ state: 'hidden' });
    await page.locator('.shell-task[data-app=clock]').click();
    await clock.waitFor({ state: 'visible' });
    assert.equal(await sales.isVisible(), false, 'turning to one brings that one');
  }),
  story(
    'home: on a phone one press leads to the webtop',
    { width: 390, height: 844, touch: true },
    async ({ page }) => {
      for (const id of ['notes', 'clock', 'sales']) await openApp(page, id);
      const home = page.getByRole('button', { name: 'Show desktop' });
      const size = await box(home);
      assert.ok(size.width >= 44 && size.height >= 44, 'room for a finger');
      await home.tap();
      await page.waitForFunction(() => document.querySelectorAll('.shell-window:not(.shell-away)').length === 0);
      await home.tap();
      await frames(page);
      assert.equal(await page.locator('.shell-window:not(.shell-away)').count(), 0, 'home leads home');
    },
  ),
  story('seam: two snapped windows are resized together, by pointer and by keys', {}, async ({ page }) => {
    const left = await openApp(page, 'notes');
    await page.keyboard.press('Alt+Shift+ArrowLeft');
    const right = await openApp(page, 'people');
    await page.keyboard.press('Alt+Shift+ArrowRight');
    const usable = await area(page);
    // Where the seam is once both are placed.
    const half = { ...usable, x: usable.x + usable.width / 2, width: usable.width / 2 };
    await becomes(left, { ...usable, width: half.width }, 'the left half');
    await becomes(right, half, 'the right half');
    await drag(page, { x: half.x + 1, y: 400 }, { x: half.x + 201, y: 400 });
    await becomes(left, { ...usable, width: Math.round(usable.width / 2) + 200 }, 'left');
    await becomes(right, { ...usable, x: usable.x + usable.width / 2 + 200, width: usable.width / 2 - 200 }, 'right');
    await page.reload();
    await becomes(page.locator('.shell-window[data-app=notes]'), { ...usable, width: usable.width / 2 + 200 }, 'kept');
    await drag(page, await titleOf(page.locator('.shell-window[data-app=people]')), { x: 1000, y: 400 });
    await drag(page, await titleOf(page.locator('.shell-window[data-app=people]')), { x: 1438, y: 400 });
    await becomes(
      right,
      { ...usable, x: usable.x + usable.width / 2 + 200, width: usable.width / 2 - 200 },
      'fills the rest',
    );
    await drag(page, { x: usable.x + usable.width / 2 + 201, y: 400 }, { x: 5, y: 400 }, false);
    assert.ok((await box(left)).width >= 240, 'a side stays usable');
    await page.keyboard.press('Escape');
    await page.mouse.up();
    await becomes(left, { ...usable, width: usable.width / 2 + 200 }, 'taken back');
  }),
  story('offer: the other half is filled by a press or by F6', {}, async ({ page }) => {
    const people = await openApp(page, 'people');
    const clock = await openApp(page, 'clock');
    await openApp(page, 'sales');
    await page.keyboard.press('Control+ArrowLeft');
    const offer = page.locator('.shell-assist');
    await offer.waitFor();
    assert.equal(await offer.locator('.shell-preview-card').count(), 2);
    const usable = await area(page);
    await page.keyboard.press('F6');
    assert.equal(await page.evaluate(() => document.activeElement?.closest('.shell-assist') !== null), true);
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    await becomes(people, { ...usable, x: usable.x + usable.width / 2, width: usable.width / 2 }, 'chosen');
    await offer.waitFor({ state: 'detached' });
    assert.equal(await clock.evaluate((element) => (element as HTMLElement).inert), false, 'the other is given back');
    await page.keyboard.press('Control+ArrowLeft');
    await page.waitForTimeout(100);
    assert.equal(await offer.count(), 0, 'nothing is offered while the other half is taken');
  }),
  story('notice: it covers no part of the taskbar, on whichever side that is', {}, async ({ page }) => {
    for (const taskbarPosition of ['right', 'left', 'top', 'bottom'] as const) {
      await page.evaluate((side) => window.Shell.configure({ defaults: { taskbarPosition: side } }), taskbarPosition);
      await page.evaluate((side) => window.Shell.notify({ title: 'Bar', text: side }), taskbarPosition);
      const notice = page.locator('.shell-toast').filter({ hasText: taskbarPosition });
      await notice.waitFor();
      const [bar, toast] = [await box(page.locator('.shell-taskbar')), await box(notice)];
      const apart =
        toast.x >= bar.x + bar.width ||
        toast.x + toast.width <= bar.x ||
        toast.y >= bar.y + bar.height ||
        toast.y + toast.height <= bar.y;
      assert.ok(apart, `${taskbarPosition}: ${JSON.stringify({ bar, toast })}`);
    }
  }),
  story('offer: goes with Escape, with any press beside it and with the pilot view', {}, async ({ page }) => {
    const clock = await openApp(page, 'clock');
    const before = await box(clock);
    await openApp(page, 'sales');
    await page.keyboard.press('Control+ArrowLeft');
    await page.locator('.shell-assist').waitFor();
    await page.keyboard.press('Escape');
    await page.locator('.shell-assist').waitFor({ state: 'detached' });
    same(await box(clock), before, 'back where it was');
    await page.keyboard.press('Control+ArrowRight');
    await page.locator('.shell-assist').waitFor();
    await page.locator('.shell-window[data-app=sales] .shell-window-title').click();
    await page.locator('.shell-assist').waitFor({ state: 'detached' });
    await page.keyboard.press('Control+ArrowLeft');
    await page.locator('.shell-assist').waitFor();
    await page.keyboard.press('F9');
    await page.locator('.shell-assist').waitFor({ state: 'detached' });
    assert.equal(await page.locator('.shell-pilot-window').count(), 2, 'windows that were lent are in the view');
  }),
  story('arrange: a layout is chosen by its picture, with arrows in all directions', {}, async ({ page }) => {
    const win = await openApp(page, 'people');
    await page.keyboard.press('Alt+Shift+M');
    await page.getByRole('menu').getByText('Arrange').click();
    const pictures = page.locator('.shell-layout');
    assert.equal(await pictures.count(), 9);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Enter');
    assert.equal(await placement(win), 'bottomRight');
    await page.keyboard.press('Alt+Shift+M');
    await page.getByRole('menu').getByText('Arrange').click();
    await page.getByRole('menuitemradio', { name: 'Left half' }).click();
    assert.equal(await placement(win), 'left');
  }),
  story('switcher: a short press goes back, holding shows pictures, the most recent first', {}, async ({ page }) => {
    for (const id of ['clock', 'sales', 'people']) await openApp(page, id);
    const active = () => page.locator('.shell-window[data-active]').getAttribute('data-app');
    await page.keyboard.press('Control+Backquote');
    assert.equal(await active(), 'sales');
    await page.keyboard.press('Control+Backquote');
    assert.equal(await active(), 'people');
    await page.keyboard.down('Control');
    await page.keyboard.press('Backquote');
    await page.locator('.shell-switcher').waitFor();
    assert.deepEqual(await page.locator('.shell-switcher .shell-preview-title').allInnerTexts(), [
      'Amara Okafor',
      'Sales',
      'Clock',
    ]);
    const card = await box(page.locator('.shell-switcher .shell-preview-open').nth(1));
    const live = await box(page.locator('.shell-window[data-app=sales]'));
    assert.ok(live.x >= card.x - 1 && live.width <= card.width + 1, 'the real window is the picture');
    await page.keyboard.press('Backquote');
    await page.keyboard.up('Control');
    await page.locator('.shell-switcher').waitFor({ state: 'detached' });
    assert.equal(await active(), 'clock');
    await page.keyboard.down('Control');
    await page.keyboard.press('Backquote');
    await page.keyboard.press('Escape');
    await page.keyboard.up('Control');
    assert.equal(await active(), 'clock', 'Escape stays');
    await page.keyboard.down('Control');
    await page.keyboard.press('Backquote');
    await page.locator('.shell-switcher').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.up('Control');
    assert.equal(await active(), 'clock', 'Escape stays, with pictures');
    const inside = await page
      .locator('.shell-window[data-app=clock]')
      .evaluate((win) => win.contains(document.activeElement));
    assert.equal(inside, true, 'and leaves the focus in the window that was a picture');
  }),
  story('pins: stay on the bar, in their order, and come first in the start menu', {}, async ({ page }) => {
    const tasks = () =>
      page.locator('.shell-task').evaluateAll((all) => all.map((one) => (one as HTMLElement).dataset.app));
    for (const id of ['clock', 'sales']) {
      await openApp(page, id);
      await page.locator(`.shell-task[data-app=${id}]`).click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Pin', exact: true }).click();
      await frames(page);
      assert.equal(await focusedApp(page), id, 'the focus stays on the task');
      await page.keyboard.press('Alt+Shift+W');
    }
    await openApp(page, 'people');
    assert.deepEqual(await tasks(), ['clock', 'sales', 'people']);
    await page.locator('.shell-task[data-app=clock]').focus();
    await page.keyboard.press('Control+ArrowRight');
    assert.deepEqual(await tasks(), ['sales', 'clock', 'people']);
    assert.equal(await focusedApp(page), 'clock');
    const first = await middle(page.locator('.shell-task[data-app=sales]'));
    await drag(page, await middle(page.locator('.shell-task[data-app=people]')), { x: first.x - 16, y: first.y });
    assert.deepEqual(await tasks(), ['people', 'sales', 'clock']);
    assert.equal(await page.locator('.shell-window').isVisible(), true, 'a pull is no press');
    await page.waitForTimeout(1_000);
    await page.reload();
    await page.locator('.shell-task[data-app=clock]').waitFor();
    assert.deepEqual(await tasks(), ['people', 'sales', 'clock']);
    assert.equal(await page.locator('.shell-task[data-app=clock]').getAttribute('title'), 'Clock', 'it says its name');
    await page.locator('.shell-task[data-app=clock]').click();
    await page.locator('.shell-window[data-app=clock]').waitFor();
    assert.equal(await page.locator('.shell-task[data-app=clock]').getAttribute('title'), null, 'a preview says it');
    await page.keyboard.press('Control+K');
    const heads = await page.locator('.shell-start-heading').allInnerTexts();
    assert.deepEqual(heads.slice(0, 1), ['Pinned']);
    assert.deepEqual(await page.locator('.shell-start-section').first().locator('.shell-start-app').allInnerTexts(), [
      'People',
      'Sales',
      'Clock',
    ]);
    await page.keyboard.press('Escape');
    await page.locator('.shell-task[data-app=sales]').click({ button: 'right' });
    await page.getByRole('menuitem', { name: 'Unpin', exact: true }).click();
    assert.deepEqual(await tasks(), ['people', 'clock']);
    await page.waitForFunction(() => document.activeElement?.closest('.shell-window[data-active]'));
  }),
  story('start menu: recent apps and groups', {}, async ({ page }) => {
    await page.evaluate(() => {
      for (const title of ['Invoices', 'Ledger'])
        window.Shell.registerApp({ id: title, title, icon: 'box.svg', group: 'Finance', render: () => '' });
    });
    for (const id of ['clock', 'Ledger']) await openApp(page, id);
    await page.locator('.shell-start-button').click();
    const section = (name: string) =>
      page
        .locator('.shell-start-section')
        .filter({ has: page.getByRole('heading', { name, exact: true }) })
        .locator('.shell-start-app');
    assert.deepEqual(await section('Recent').allInnerTexts(), ['Ledger', 'Clock']);
    assert.deepEqual(await section('Finance').allInnerTexts(), ['Invoices', 'Ledger']);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    assert.equal(await page.evaluate(() => (document.activeElement as HTMLElement).dataset.section), 'Apps');
  }),
  story(
    'start menu: on a phone no keyboard lies over the apps',
    { width: 390, height: 844, touch: true },
    async ({ page }) => {
      await page.locator('.shell-start-button').tap();
      await page.locator('.shell-start').waitFor();
      assert.equal(await page.evaluate(() => document.activeElement?.localName), 'div');
    },
  ),
  story(
    'notify: shown, kept under the bell, opens its app, and is nothing for the next person',
    {},
    async ({ page }) => {
      assert.equal(await page.locator('.shell-bell').isVisible(), false, 'nothing was told yet');
      await page.evaluate(() => {
        for (const number of [1, 2, 3, 4, 5, 6])
          window.Shell.notify({ title: `Order ${number}`, text: 'From Berger', appId: 'sales', intent: { number } });
      });
      await page.locator('.shell-toast').first().waitFor();
      const text = page.locator('.shell-toast-text').last();
      assert.match(await text.innerText(), /^Order \d+\nFrom Berger$/);
      assert.equal(await page.locator('.shell-toast').count(), 4, 'a bound to what is shown at a time');
      const bell = page.getByRole('button', { name: 'Notices, 6 new' });
      await bell.click();
      assert.equal(await page.locator('.shell-toast').count(), 0, 'all of them are in the list');
      assert.equal(await page.locator('.shell-notice').count(), 6);
      assert.match(await page.locator('.shell-notice').first().innerText(), /Order 6/);
      await page.getByRole('button', { name: 'Close Order 6' }).click();
      await page.locator('.shell-notice-open').first().click();
      await page.locator('.shell-window[data-app=sales]').waitFor();
      assert.equal(await page.locator('.shell-notice-panel').count(), 0);
      await page.locator('.shell-bell').click();
      assert.equal(await page.locator('.shell-notice').count(), 4);
      await page.keyboard.press('Escape');
      assert.equal(await page.evaluate(() => document.activeElement?.classList.contains('shell-bell')), true);
      await page.evaluate(() => window.Shell.setSession({ identity: { id: 'bert', displayName: 'Bert' } }));
      await page.locator('.shell-bell').waitFor({ state: 'hidden' });
      await assert.rejects(
        page.evaluate(() => void window.Shell.notify({} as never)),
        /the notice has no `title`; add one/,
      );
    },
  ),
  story(
    'bridge: a page in a frame hears theme, language and intent, and tells title, state and notices',
    {},
    async ({ page }) => {
      const win = await openApp(page, 'connected', { order: 3 });
      const inside = win.frameLocator('iframe');
      await inside.locator('#context', { hasText: 'light en {"order":3}' }).waitFor();
      await page.evaluate(() => window.Shell.setLocale('de'));
      await inside.locator('#context', { hasText: 'light de' }).waitFor();
      await page.evaluate(() => window.Shell.setLocale('en'));
      await openApp(page, 'connected', { order: 4 });
      await inside.locator('#context', { hasText: 'intent {"order":4}' }).waitFor();
      await inside.locator('#tell').press('Enter');
      await win.locator('.shell-window-title', { hasText: 'Order 17' }).waitFor();
      await page.locator('.shell-toast', { hasText: 'Order 17 was sent' }).waitFor();
      await page.waitForTimeout(1_000);
      const stored = await page.evaluate(() => localStorage.getItem('shell') ?? '');
      assert.match(stored, /"state":\{"order":17\}/);
    },
  ),
  story('bridge: only the app’s own page in its own frame is heard', {}, async ({ page }) => {
    const win = await openApp(page, 'connected');
    const other = await openApp(page, 'welcome');
    await page.evaluate(() => window.postMessage({ shell: 1, type: 'appearance', title: 'Forged' }, '*'));
    // A frame that an app puts into its own window speaks with that app, not with the desktop.
    await other.locator('.shell-host').evaluate((host) => {
      const frame = document.createElement('iframe');
      frame.src = '/pages/connected.html';
      host.append(frame);
    });
    await other.frameLocator('iframe').locator('#tell').press('Enter');
    await page.waitForTimeout(300);
    assert.equal(await other.frameLocator('iframe').locator('#context').innerText(), '');
    assert.equal(await page.locator('.shell-toast').count(), 0);
    for (const one of [win, other])
      assert.doesNotMatch(await one.locator('.shell-window-title').innerText(), /Forged|Order/);
  }),
];
