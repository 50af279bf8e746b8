/** What makes a desktop to stay at: windows that hide none, a way to the webtop and back, seams, one selection, undo. */
import assert from 'node:assert/strict';
import type { Locator, Page } from 'playwright-core';
import { area, becomes, box, drag, frames, middle, openApp, placement, same, story, titleOf } from './scenario.ts';

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
    await page.locator('.shell-tile', { hasText: 'Notes' }).dblclick();
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
    await field.click();
    await field.press('F6');
    assert.equal(await page.evaluate(() => document.activeElement?.closest('.shell-taskbar') !== null), true);
    await field.click();
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
    const half = await box(right);
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
];
