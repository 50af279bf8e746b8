/** Webtops, folders and shortcuts: dragging with mouse and touch. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { open, type World } from './browser.ts';
import { box, drag, finger, frames, middle, openApp, pen, story } from './scenario.ts';

function tile(page: Page, title: string) {
  return page.locator('.shell-main .shell-grid:not(.shell-away) .shell-tile').filter({ hasText: title }).first();
}

async function cell(page: Page, title: string): Promise<string> {
  return tile(page, title).evaluate(
    (element) => `${element.parentElement?.style.gridRowStart}/${element.parentElement?.style.gridColumnStart}`,
  );
}

async function cellCentre(page: Page, row: number, column: number): Promise<{ x: number; y: number }> {
  const grid = await box(page.locator('.shell-main .shell-grid:not(.shell-away)'));
  return { x: grid.x + ((column - 0.5) * grid.width) / 5, y: grid.y + ((row - 0.5) * grid.height) / 3 };
}

export const grid = [
  story(
    'labels: long ones end after two lines, and the signs of a row stand in line',
    {
      options: { initialShortcuts: ['long', 'short'], initialApps: [] },
      setup: (shell) => {
        const render = () => '';
        const title = 'Kundenstammdatenpflege Nord und Auftragsbestätigungen 2026';
        shell.registerApp({ id: 'long', title, icon: 'notes.svg', render });
        shell.registerApp({ id: 'short', title: 'Stock', icon: 'notes.svg', render });
      },
    },
    async ({ page }) => {
      const tiles = page.locator('.shell-main .shell-tile');
      const [long, short] = await Promise.all([0, 1].map((at) => box(tiles.nth(at).locator('.shell-plate'))));
      assert.equal(long?.y, short?.y);
      const beyond = await tiles.nth(0).evaluate((element) => {
        const label = element.querySelector('.shell-tile-label');
        if (!label) return undefined;
        const { paddingTop, lineHeight } = getComputedStyle(label);
        return label.clientHeight - Number.parseFloat(paddingTop) - 2 * Number.parseFloat(lineHeight);
      });
      assert.ok(beyond !== undefined && beyond < 4, `${beyond} px of a third line are in sight`);
    },
  ),
  story('drag: a shortcut moves to an empty cell, nothing is drawn anew meanwhile', {}, async ({ page }) => {
    await page.evaluate(() => {
      const observer = new MutationObserver((records) => {
        (window as unknown as { changes: number }).changes += records.filter(
          (record) => record.type === 'childList',
        ).length;
      });
      (window as unknown as { changes: number }).changes = 0;
      for (const element of document.querySelectorAll('.shell-grid, .shell-windows'))
        observer.observe(element, { childList: true, subtree: true });
    });
    await drag(page, await middle(tile(page, 'Notes')), await cellCentre(page, 3, 4), false);
    assert.equal(await page.locator('.shell-ghost').count(), 1, 'a ghost floats');
    assert.equal(await page.evaluate(() => (window as unknown as { changes: number }).changes), 0);
    await page.mouse.up();
    await frames(page);
    assert.equal(await cell(page, 'Notes'), '3/4');
    assert.equal(await page.locator('.shell-ghost').count(), 0);
    assert.equal(await page.locator('.shell-window').count(), 0, 'the click after a drag opens nothing');
  }),
  story('drag: from elsewhere onto the rim of an occupied cell makes room', {}, async ({ page }) => {
    const target = await cellCentre(page, 1, 2);
    const { width } = await box(page.locator('.shell-main .shell-grid:not(.shell-away)'));
    await page.keyboard.press('Control+K');
    const app = page.locator('.shell-start-app', { hasText: 'Handbook' });
    await drag(page, await middle(app), { x: target.x - width / 5 / 2 + 4, y: target.y });
    assert.equal(await cell(page, 'Handbook'), '1/2');
    assert.equal(await cell(page, 'Clock'), '1/3');
    assert.equal(await cell(page, 'Pictures'), '1/4');
  }),
  story('drag: Escape cancels', {}, async ({ page }) => {
    await drag(page, await middle(tile(page, 'Notes')), await cellCentre(page, 3, 4), false);
    await page.keyboard.press('Escape');
    await page.mouse.up();
    await frames(page);
    assert.equal(await cell(page, 'Notes'), '1/1');
    assert.equal(await page.locator('.shell-shield').isVisible(), false);
  }),
  story('drag: a cancelled one opens nothing when the pointer is lifted, the next click does', {}, async ({ page }) => {
    const home = await middle(tile(page, 'Notes'));
    await drag(page, home, { x: home.x + 60, y: home.y + 200 }, false);
    await page.mouse.move(home.x, home.y);
    await page.keyboard.press('Escape');
    await page.mouse.up();
    await frames(page);
    assert.equal(await page.locator('.shell-window').count(), 0);
    await page.mouse.click(home.x, home.y);
    await page.locator('.shell-window[data-app=notes]').waitFor();
  }),
  story('drag: windows slide aside and come back', {}, async ({ page }) => {
    const win = await openApp(page, 'calculator');
    const before = await box(win);
    await drag(page, await middle(tile(page, 'Notes')), await cellCentre(page, 3, 4), false);
    await page.waitForTimeout(300);
    const aside = await box(win);
    assert.ok(aside.x + aside.width <= 40 || aside.x >= 1400, `out of the way at ${aside.x}`);
    await page.mouse.up();
    await page.waitForTimeout(300);
    assert.deepEqual(await box(win), before);
  }),
  story(
    'drag: one shortcut rested on another makes a folder; more drop into it; and out again',
    {},
    async ({ page }) => {
      const notes = await middle(tile(page, 'Notes'));
      await drag(page, await middle(tile(page, 'Clock')), await cellCentre(page, 1, 1), false);
      await page.waitForFunction(() => (document.querySelector('.shell-drop') as HTMLElement).dataset.kind === 'fold');
      await page.mouse.up();
      await tile(page, 'Folder').waitFor();
      // Dropped at once: who rests on a folder opens it, and a busy machine makes a rest of any wait.
      await drag(page, await middle(tile(page, 'Paint')), { x: notes.x + 300, y: notes.y + 300 }, false);
      await page.mouse.move(notes.x, notes.y);
      await page.mouse.up();
      await tile(page, 'Folder').click();
      const inside = page.locator('.shell-folder .shell-tile');
      assert.deepEqual((await inside.allTextContents()).sort(), ['Clock', 'Notes', 'Paint']);
      await page.locator('.shell-folder-title').selectText();
      await page.keyboard.type('Office');
      await page.keyboard.press('Enter');
      const from = await middle(inside.filter({ hasText: 'Paint' }));
      await drag(page, from, { x: 60, y: 700 }, false);
      await page.locator('.shell-folder').waitFor({ state: 'detached' });
      await page.mouse.move(70, 700);
      await frames(page);
      await page.mouse.up();
      await tile(page, 'Paint').waitFor();
      await tile(page, 'Office').waitFor();
    },
  ),
  {
    name: 'folder: has pages of 4 × 3; dots, swipe keys and a drag at its edge turn them',
    async run(world: World) {
      const context = await world.browser.newContext({
        viewport: { width: 1440, height: 900 },
        reducedMotion: 'reduce',
      });
      await context.addInitScript(() => {
        // Firefox runs this in the blank page before the first one, too, which has no storage.
        if (origin === 'null') return;
        const items = Array.from({ length: 14 }, (_unused, index) => ({
          kind: 'shortcut',
          id: `s${index}`,
          cell: index,
          appId: 'notes',
          title: `Note ${index + 1}`,
        }));
        localStorage.shell ??= JSON.stringify({
          version: 1,
          webtops: [{ id: 'w', items: [{ kind: 'folder', id: 'f', title: 'Many', cell: 0, items }] }],
          activeWebtop: 'w',
          settings: {},
          windows: [],
        });
      });
      const { page, errors } = await open(world, { context });
      await page.locator('.shell-tile').click();
      const shown = page.locator('.shell-folder .shell-cell:not(.shell-other-page)');
      assert.equal(await shown.count(), 12);
      await page.getByRole('button', { name: 'Page 2' }).click();
      assert.equal(await shown.count(), 2);
      await shown.last().locator('.shell-tile').focus();
      await page.keyboard.press('Control+ArrowRight');
      await frames(page);
      assert.equal(await page.locator('.shell-sr[role=status]').last().textContent(), 'Note 14: row 1, column 3');
      await page.keyboard.press('Control+ArrowLeft');
      await page.getByRole('button', { name: 'Page 1' }).click();
      const folder = await box(page.locator('.shell-folder'));
      await drag(
        page,
        await middle(shown.filter({ hasText: 'Note 1' }).first()),
        { x: folder.x + folder.width - 4, y: folder.y + 200 },
        false,
      );
      // Resting on turns on, to the empty page that a drag adds.
      await page.waitForFunction(
        () => document.querySelector('.shell-folder [aria-current]')?.getAttribute('aria-label') !== 'Page 1',
      );
      const grid = await box(page.locator('.shell-folder .shell-grid'));
      const target = { x: grid.x + (grid.width * 3.5) / 4, y: grid.y + (grid.height * 2.5) / 3 };
      await page.mouse.move(target.x, target.y, { steps: 4 });
      await frames(page);
      await page.mouse.up();
      await frames(page);
      const there = await shown.allTextContents();
      assert.ok(there.includes('Note 1') && there.length <= 3, `dropped on a further page, beside ${there}`);
      await page.keyboard.press('Escape');
      await page.locator('.shell-folder').waitFor({ state: 'detached' });
      assert.deepEqual(errors, []);
    },
  },
  story('drag: a pen carries a shortcut', {}, async ({ page }) => {
    const tip = await pen(page);
    const from = await middle(tile(page, 'Notes'));
    const to = await cellCentre(page, 3, 3);
    await tip.press(from);
    await tip.glide(from, to);
    assert.equal(await page.locator('.shell-ghost').count(), 1);
    await tip.lift(to);
    await frames(page);
    assert.equal(await cell(page, 'Notes'), '3/3');
    assert.equal(await page.locator('.shell-window').count(), 0);
  }),
  story('webtop: has 5 × 3 cells; a full one says so and loses nothing', {}, async ({ page }) => {
    const places = await page.locator('.shell-main .shell-grid').evaluate((element) => {
      const style = getComputedStyle(element);
      return [style.gridTemplateColumns.split(' ').length, style.gridTemplateRows.split(' ').length];
    });
    assert.deepEqual(places, [5, 3]);
    const add = async () => {
      await page.locator('.shell-start-button').click();
      await page.locator('.shell-start [data-app=contact]').click({ button: 'right' });
      await page.getByRole('menuitem', { name: 'Add to webtop' }).click();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
    };
    for (let count = 0; count < 6; count += 1) await add();
    await page.getByText('no room left').waitFor();
    assert.equal(await page.locator('.shell-main .shell-tile').count(), 15);
  }),
  story('drag: resting at the edge turns to the next webtop', {}, async ({ page }) => {
    await page.keyboard.press('F9');
    await page.getByRole('button', { name: 'Add webtop' }).click();
    await page.keyboard.press('Escape');
    await drag(page, await middle(tile(page, 'Notes')), { x: 1436, y: 300 }, false);
    await page.waitForFunction(
      () => document.querySelector('.shell-pager [aria-current]')?.getAttribute('aria-label') === 'Webtop 2',
    );
    const target = await cellCentre(page, 2, 3);
    await page.mouse.move(target.x, target.y, { steps: 4 });
    await frames(page);
    await page.mouse.up();
    await frames(page);
    assert.equal(await cell(page, 'Notes'), '2/3');
  }),
  story('drag: from the start menu onto the webtop', {}, async ({ page }) => {
    await page.locator('.shell-start-button').click();
    await drag(page, await middle(page.locator('.shell-start [data-app=contact]')), await cellCentre(page, 3, 5));
    assert.equal(await cell(page, 'Contact'), '3/5');
  }),
  story('menu: a shortcut moves to a folder and to a webtop, and is renamed', {}, async ({ page }) => {
    const choose = async (title: string, ...entries: string[]) => {
      await tile(page, title).click({ button: 'right' });
      for (const entry of entries) await page.getByRole('menu').last().getByText(entry, { exact: true }).click();
    };
    await choose('Notes', 'Move to folder', 'New folder');
    await tile(page, 'Folder').waitFor();
    await choose('Clock', 'Move to folder', 'Folder');
    await choose('Folder', 'Dissolve folder');
    await tile(page, 'Notes').waitFor();
    await choose('Notes', 'Rename');
    await page.getByRole('dialog').getByRole('textbox').fill('My notes');
    await page.keyboard.press('Enter');
    await tile(page, 'My notes').waitFor();
  }),
  story(
    'touch: a long press lifts, a short one opens, a still long one shows the menu',
    { touch: true },
    async ({ page }) => {
      const touch = await finger(page);
      const from = await middle(tile(page, 'Notes'));
      const to = await cellCentre(page, 3, 2);
      await touch.press(from);
      await page.locator('.shell-ghost').waitFor();
      await touch.glide(from, to);
      await touch.lift(to);
      await frames(page);
      assert.equal(await cell(page, 'Notes'), '3/2');
      const clock = await middle(tile(page, 'Clock'));
      await touch.press(clock);
      await page.locator('.shell-ghost').waitFor();
      await touch.lift(clock);
      await page.getByRole('menu').waitFor();
      await page.touchscreen.tap(to.x, to.y);
      await page.getByRole('menu').waitFor({ state: 'detached' });
      await page.waitForTimeout(300);
      assert.equal(await page.locator('.shell-window').count(), 0, 'the tap beside the menu only closed it');
      await page.touchscreen.tap(clock.x, clock.y);
      await page.locator('.shell-window[data-app=clock]').waitFor();
    },
  ),
  story(
    'touch: an app is carried out of the start menu; a still long press shows its menu, a swipe scrolls',
    { touch: true, height: 620 },
    async ({ page }) => {
      const touch = await finger(page);
      const app = page.locator('.shell-start-app[data-app=contact]').last();
      const tiles = await page.locator('.shell-tile').count();
      await page.locator('.shell-start-button').tap();
      await app.scrollIntoViewIfNeeded();
      const from = await middle(app);
      await touch.press(from);
      await page.locator('.shell-ghost').waitFor();
      const to = await cellCentre(page, 3, 2);
      await touch.glide(from, to);
      await touch.lift(to);
      await page.locator('.shell-tile').nth(tiles).waitFor();
      await page.locator('.shell-start-button').tap();
      await app.scrollIntoViewIfNeeded();
      const still = await middle(app);
      await touch.press(still);
      await page.locator('.shell-ghost').waitFor();
      await touch.lift(still);
      await page.getByRole('menuitem', { name: 'Add to webtop' }).waitFor();
      await page.keyboard.press('Escape');
      await page.locator('.shell-start-button').tap();
      const body = page.locator('.shell-start-body').first();
      const start = await middle(body);
      await touch.press(start);
      await touch.glide(start, { x: start.x, y: start.y - 120 });
      await touch.lift();
      assert.equal(await page.locator('.shell-ghost').count(), 0);
      assert.equal(await body.isVisible(), true, 'the menu stays open');
    },
  ),
];
