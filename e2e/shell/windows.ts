/** Moving, snapping, resizing, stacking and closing windows with the mouse. */
import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import {
  area,
  becomes,
  box,
  closeAll,
  drag,
  finger,
  frames,
  middle,
  openApp,
  pen,
  pick,
  placement,
  story,
  titleOf,
  type Box,
  type Point,
} from './scenario.ts';

const HALVES_AND_QUARTERS = [
  ['the top edge maximizes', 'maximized', 0.5, 0, { x: 0, y: 0, w: 1, h: 1 }],
  ['the left edge gives the left half', 'left', 0, 0.5, { x: 0, y: 0, w: 0.5, h: 1 }],
  ['the right edge gives the right half', 'right', 1, 0.5, { x: 0.5, y: 0, w: 0.5, h: 1 }],
  ['the bottom edge gives the bottom half', 'bottom', 0.5, 1, { x: 0, y: 0.5, w: 1, h: 0.5 }],
  ['the top left corner gives that quarter', 'topLeft', 0, 0, { x: 0, y: 0, w: 0.5, h: 0.5 }],
  ['the top right corner gives that quarter', 'topRight', 1, 0, { x: 0.5, y: 0, w: 0.5, h: 0.5 }],
  ['the bottom left corner gives that quarter', 'bottomLeft', 0, 1, { x: 0, y: 0.5, w: 0.5, h: 0.5 }],
  ['the bottom right corner gives that quarter', 'bottomRight', 1, 1, { x: 0.5, y: 0.5, w: 0.5, h: 0.5 }],
] as const;

/** Where the pointer goes to mean a snap position. */
function edgeOf(usable: Box, atX: number, atY: number): { x: number; y: number } {
  return {
    x: Math.min(usable.x + usable.width - 4, Math.max(usable.x + 4, usable.x + usable.width * atX)),
    y: Math.min(usable.y + usable.height - 4, Math.max(usable.y + 4, usable.y + usable.height * atY)),
  };
}

/** Plays every row of the snapping table with one kind of pointer. */
async function snapEverywhere(
  page: Page,
  carry: (from: Point, to: Point) => Promise<() => Promise<unknown>>,
): Promise<void> {
  const usable = await area(page);
  for (const [name, expected, atX, atY, part] of HALVES_AND_QUARTERS) {
    const win = await openApp(page, 'clock');
    const release = await carry(await titleOf(win), edgeOf(usable, atX, atY));
    assert.equal(await page.locator('.shell-guide[data-shown]').count(), 1, `${name}: the guide shows while dragging`);
    await release();
    await frames(page);
    assert.equal(await placement(win), expected, name);
    const target = {
      x: usable.x + usable.width * part.x,
      y: usable.y + usable.height * part.y,
      width: usable.width * part.w,
      height: usable.height * part.h,
    };
    await becomes(win, target, name);
    await closeAll(page);
  }
}

export const windows = [
  story('drag: edges and corners snap, with the mouse', {}, async ({ page }) => {
    await snapEverywhere(page, async (from, to) => {
      await drag(page, from, to, false);
      return () => page.mouse.up();
    });
  }),
  story('drag: edges and corners snap, with a finger', { touch: true }, async ({ page }) => {
    const touch = await finger(page);
    await snapEverywhere(page, async (from, to) => {
      await touch.press(from);
      await touch.glide(from, to);
      return () => touch.lift();
    });
  }),
  story('drag: edges and corners snap, with a pen', {}, async ({ page }) => {
    const tip = await pen(page);
    await snapEverywhere(page, async (from, to) => {
      await tip.press(from);
      await tip.glide(from, to);
      return () => tip.lift(to);
    });
  }),
  story('drag: away from a snap position gives the old size back', {}, async ({ page }) => {
    const win = await openApp(page, 'clock');
    const before = await box(win);
    await drag(page, await titleOf(win), { x: 700, y: 3 });
    assert.equal(await placement(win), 'maximized');
    await drag(page, await titleOf(win), { x: 700, y: 300 });
    const after = await box(win);
    assert.equal(await placement(win), 'normal');
    assert.deepEqual([after.width, after.height], [before.width, before.height]);
  }),
  story('drag: Escape takes it back', {}, async ({ page }) => {
    const win = await openApp(page, 'clock');
    const before = await box(win);
    await drag(page, await titleOf(win), { x: 300, y: 500 }, false);
    assert.notDeepEqual(await box(win), before);
    await page.keyboard.press('Escape');
    await page.mouse.up();
    await becomes(win, before, 'after Escape');
  }),
  story('resize: by every edge and corner, the opposite side stays', {}, async ({ page }) => {
    for (const edge of ['n', 's', 'e', 'w', 'ne', 'nw', 'se', 'sw']) {
      const win = await openApp(page, 'notes');
      const before = await box(win);
      await page.mouse.move(before.x + before.width / 2, before.y + before.height / 2);
      const from = await middle(win.locator(`.shell-handle[data-edge=${edge}]`));
      const [dx, dy] = [
        edge.includes('e') ? 60 : edge.includes('w') ? -60 : 0,
        edge.includes('s') ? 50 : edge.includes('n') ? -50 : 0,
      ];
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(from.x + dx, from.y + dy, { steps: 6 });
      await frames(page);
      await page.mouse.up();
      const after = {
        x: before.x + Math.min(0, dx),
        y: before.y + Math.min(0, dy),
        width: before.width + Math.abs(dx),
        height: before.height + Math.abs(dy),
      };
      await becomes(win, after, edge);
      await closeAll(page);
    }
  }),
  story('resize: from outside, too, where the corners are round', {}, async ({ page }) => {
    const win = await openApp(page, 'notes');
    const { x, y, width, height } = await box(win);
    await page.mouse.move(x + width + 200, y + height + 100);
    // In the rim of four pixels, and on the pixel that the round corner leaves out.
    for (const [dx, dy, step] of [
      [4, 4, 60],
      [-1, -1, -40],
    ] as const) {
      const before = await box(win);
      const from = { x: before.x + before.width + dx, y: before.y + before.height + dy };
      await page.mouse.move(from.x + 100, from.y + 50);
      await drag(page, from, { x: from.x + step, y: from.y + step });
      await becomes(win, { ...before, width: before.width + step, height: before.height + step }, 'by its corner');
    }
  }),
  story('buttons: minimize, bring back, maximize, restore, close', {}, async ({ page }) => {
    const win = await openApp(page, 'clock');
    const before = await box(win);
    await win.getByRole('button', { name: 'Minimize' }).click();
    await win.waitFor({ state: 'hidden' });
    await page.locator('.shell-task[data-app=clock]').click();
    await win.waitFor({ state: 'visible' });
    await win.getByRole('button', { name: 'Maximize' }).click();
    assert.equal(await placement(win), 'maximized');
    await win.getByRole('button', { name: 'Restore' }).click();
    await becomes(win, before, 'restored');
    const title = await titleOf(win);
    await page.mouse.dblclick(title.x, title.y);
    assert.equal(await placement(win), 'maximized', 'a double click on the title maximizes');
    await win.getByRole('button', { name: 'Close', exact: true }).click();
    await win.waitFor({ state: 'detached' });
    await frames(page);
    assert.equal(await page.locator('.shell-task').count(), 0);
  }),
  story('stacking: a press raises, closing focuses the one below, new ones cascade', {}, async ({ page }) => {
    const first = await openApp(page, 'notes');
    const second = await openApp(page, 'sales');
    const [one, two] = [await box(first), await box(second)];
    assert.ok(one.x !== two.x || one.y !== two.y, 'new windows are cascaded');
    await page.mouse.click(one.x + 60, one.y + 12);
    assert.ok(await first.evaluate((element) => element.hasAttribute('data-active')));
    const depths = await page.evaluate(() =>
      [...document.querySelectorAll<HTMLElement>('.shell-window')].map((element) => Number(element.style.zIndex)),
    );
    assert.ok((depths[0] ?? 0) > (depths[1] ?? 0));
    await first.getByRole('button', { name: 'Close', exact: true }).click();
    await first.waitFor({ state: 'detached' });
    await frames(page);
    assert.ok(
      await second.evaluate(
        (element) => element.hasAttribute('data-active') && element.contains(document.activeElement),
      ),
    );
  }),
  story('viewport: windows stay reachable when it shrinks and go back when it grows', {}, async ({ page }) => {
    const win = await openApp(page, 'clock');
    await drag(page, await titleOf(win), { x: 1300, y: 700 });
    const before = await box(win);
    await page.setViewportSize({ width: 800, height: 520 });
    await frames(page);
    const shrunk = await box(win);
    assert.ok(shrunk.x < 800 - 60 && shrunk.y < 520 - 90, `still reachable at ${JSON.stringify(shrunk)}`);
    await page.setViewportSize({ width: 1440, height: 900 });
    await frames(page);
    await becomes(win, before, 'grown again');
  }),
  story('area: windows follow it when the taskbar changes sides, and go back with it', {}, async ({ page }) => {
    const moveBar = async (side: string) => {
      await page.evaluate((taskbarPosition) => {
        window.Shell.configure({ defaults: { taskbarPosition: taskbarPosition as 'left' } });
      }, side);
      await page.waitForFunction((bar) => document.querySelector('shell-desktop')?.dataset.taskbar === bar, side);
      await frames(page);
    };
    const win = await openApp(page, 'clock');
    const grip = await titleOf(win);
    const start = await box(win);
    await drag(page, grip, { x: grip.x - start.x + 6, y: grip.y - start.y + 6 });
    const corner = { ...start, x: 6, y: 6 };
    await becomes(win, corner, 'in the corner');
    for (const side of ['left', 'top', 'right']) {
      await moveBar(side);
      const free = await area(page);
      const x = Math.max(corner.x, free.x);
      await becomes(win, { ...corner, x, y: Math.max(corner.y, free.y) }, `beside a taskbar on the ${side}`);
    }
    await moveBar('bottom');
    await becomes(win, corner, 'back in the corner');
    const free = await area(page);
    await drag(page, await titleOf(win), { x: 60, y: free.height - 90 });
    const over = await box(win);
    assert.ok(over.x < 0 && over.y + over.height > free.height, 'left over two edges');
    await moveBar('left');
    assert.equal((await box(win)).x, over.x, 'who left a window over an edge finds it there');
  }),
  story('frame: moving, snapping, minimizing and previewing never reload it', {}, async ({ page }) => {
    const win = await openApp(page, 'handbook');
    const frame = page.frameLocator('.shell-frame');
    await frame.locator('#field').fill('still here');
    await drag(page, await titleOf(win), { x: 400, y: 300 });
    await drag(page, await titleOf(win), { x: 3, y: 400 });
    await win.getByRole('button', { name: 'Minimize' }).click();
    await page.locator('.shell-task').click();
    await page.keyboard.press('F9');
    await page.keyboard.press('F9');
    assert.equal(await frame.locator('#field').inputValue(), 'still here');
    assert.equal(await frame.locator('#loads').textContent(), '1');
  }),
  story('frame: a press on a window in the background raises it', {}, async ({ page }) => {
    const framed = await openApp(page, 'handbook');
    await openApp(page, 'clock');
    const { x, y, width, height } = await box(framed);
    await page.mouse.click(x + width - 30, y + height - 30);
    assert.ok(await framed.evaluate((element) => element.hasAttribute('data-active')));
  }),
  story('frame: the pointer drags a window across it without loss', {}, async ({ page }) => {
    await openApp(page, 'handbook');
    const win = await openApp(page, 'clock');
    const from = await titleOf(win);
    const before = await box(win);
    await drag(page, from, { x: from.x - 180, y: from.y + 120 });
    await becomes(win, { ...before, x: before.x - 180, y: before.y + 120 }, 'dragged over the frame');
  }),
  story('body: a custom element is connected once, whatever happens to its window', {}, async ({ page }) => {
    const win = await openApp(page, 'clock');
    await drag(page, await titleOf(win), { x: 3, y: 400 });
    await pick(page, win, 'Move to webtop', 'Add webtop');
    await page.keyboard.press('F9');
    await page.keyboard.press('Escape');
    assert.equal(await page.locator('playground-clock').getAttribute('data-connections'), '1');
  }),
  story('menu: arranges, moves and resizes by keys, duplicates, closes', {}, async ({ page }) => {
    const win = await openApp(page, 'sales');
    await pick(page, win, 'Arrange', 'Right half');
    assert.equal(await placement(win), 'right');
    await pick(page, win, 'Restore');
    const before = await box(win);
    await pick(page, win, 'Move');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Shift+ArrowDown');
    await page.keyboard.press('Enter');
    await becomes(win, { ...before, x: before.x + 24, y: before.y + 4 }, 'moved by keys');
    await pick(page, win, 'Resize');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Escape');
    await becomes(win, { ...before, x: before.x + 24, y: before.y + 4 }, 'Escape takes the size back');
    await pick(page, win, 'Duplicate');
    assert.equal(await page.locator('.shell-window').count(), 2);
    await pick(page, page.locator('.shell-window[data-active]'), 'Close');
    await page.waitForFunction(() => document.querySelectorAll('.shell-window').length === 1);
  }),
];
