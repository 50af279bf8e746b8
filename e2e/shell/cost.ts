/** What mustn't grow with the number of windows: the work of a move, and what is left behind. */
import assert from 'node:assert/strict';
import type { CDPSession, Page } from 'playwright-core';
import { box, closeAll, frames, openApp, story, titleOf } from './scenario.ts';

const OPEN = 50;
const MOVES = 30;
const MARK = 'the drag begins';

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  args: { data?: { type?: string; message?: string }; beginData?: { dirtyObjects?: number }; elementCount?: number };
}

async function registerText(page: Page): Promise<void> {
  await page.evaluate(() => {
    window.Shell.registerApp({
      id: 'plain',
      title: 'Plain',
      icon: 'notes.svg',
      width: 400,
      height: 300,
      render: () => {
        const text = document.createElement('p');
        text.textContent = 'The quick brown fox jumps over the lazy dog. '.repeat(12);
        return text;
      },
    });
  });
}

async function alive(session: CDPSession): Promise<{ heapMb: number; nodes: number; listeners: number }> {
  for (let round = 0; round < 3; round += 1) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners } = await session.send('Memory.getDOMCounters');
  return { heapMb: usedSize / 1_048_576, nodes, listeners: jsEventListeners };
}

/** Opens and closes windows, twenty at a time. */
function cycle(page: Page, count: number): Promise<void> {
  return page.evaluate(async (amount) => {
    for (let index = 1; index <= amount; index += 1) {
      window.Shell.openApp('plain');
      if (index % 20 !== 0) continue;
      await new Promise((resolve) => requestAnimationFrame(resolve));
      for (const button of document.querySelectorAll<HTMLElement>('[data-act=close]')) button.click();
      await new Promise((resolve) => setTimeout(resolve, 0));
    }
  }, count);
}

export const cost = [
  story(
    `drag: with ${OPEN} windows open a move lays nothing out, restyles one window and sorts no layers`,
    {},
    async ({ page }, { browser }) => {
      await registerText(page);
      await page.evaluate((count) => {
        for (let index = 0; index < count; index += 1) window.Shell.openApp('plain');
      }, OPEN);
      await frames(page);
      const win = page.locator('.shell-window[data-active]');
      const before = await box(win);
      const from = await titleOf(win);
      await page.mouse.move(from.x, from.y);
      await page.mouse.down();
      await page.mouse.move(from.x + 20, from.y + 20, { steps: 4 });
      await page.waitForTimeout(300);
      await browser.startTracing(page, { categories: ['devtools.timeline', 'blink', 'cc'] });
      await page.evaluate((mark) => console.timeStamp(mark), MARK);
      for (let move = 1; move <= MOVES; move += 1) {
        await page.mouse.move(from.x + 20 + move * 3, from.y + 20 + move * 2);
        await frames(page);
      }
      const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
      const after = await box(win);
      await page.mouse.up();
      assert.ok(Math.abs(after.x - before.x - 20 - MOVES * 3) < 2, 'the window followed the pointer');
      const moved = (event: TraceEvent) => event.name === 'EventDispatch' && event.args.data?.type === 'pointermove';
      // Other scenarios play at the same time, in processes of their own.
      const own = trace.traceEvents.find(
        (event) => event.name === 'TimeStamp' && event.args.data?.message === MARK,
      )?.pid;
      const events = trace.traceEvents.filter((event) => event.pid === own && event.ph === 'X');
      const named = (name: string) => events.filter((event) => event.name === name);
      assert.ok(named('EventDispatch').filter(moved).length >= MOVES, 'the trace saw the moves');
      // The clock of the taskbar may turn to the next minute meanwhile; a window has more objects than it.
      const laidOut = named('Layout').map((event) => event.args.beginData?.dirtyObjects ?? 0);
      assert.ok(laidOut.length <= 1 && laidOut.every((objects) => objects < 10), `layouts: ${laidOut}`);
      const restyled = named('UpdateLayoutTree').map((event) => event.args.elementCount ?? 0);
      assert.ok(restyled.length > 0, 'the trace saw the styles');
      // The window, and the shadow that is an element of its style.
      assert.ok(restyled.filter((count) => count > 2).length <= 1, `elements restyled per frame: ${restyled}`);
      assert.ok(named('PaintArtifactCompositor::Update').length <= 2, 'layers are sorted anew only at the start');
    },
  ),
  story('leak: a thousand windows leave nothing behind', {}, async ({ page, context }) => {
    await registerText(page);
    const session = await context.newCDPSession(page);
    await cycle(page, 100);
    const before = await alive(session);
    await cycle(page, 1000);
    const after = await alive(session);
    assert.equal(await page.locator('.shell-window').count(), 0);
    assert.ok(after.nodes <= before.nodes + 2, `nodes: ${before.nodes} became ${after.nodes}`);
    assert.ok(after.listeners <= before.listeners + 2, `listeners: ${before.listeners} became ${after.listeners}`);
    // A window that stayed would be 10 KB and more; caches of the browser itself are a part of this.
    assert.ok(after.heapMb - before.heapMb < 0.5, `heap: ${before.heapMb} MB became ${after.heapMb}`);
  }),
  story('leak: the desktop’s own apps, panels and menus leave nothing behind', {}, async ({ page, context }) => {
    const session = await context.newCDPSession(page);
    const round = async () => {
      for (const id of ['shell.settings', 'shell.weblink', 'shell.docs']) {
        await openApp(page, id);
        await page.keyboard.press('Alt+Shift+M');
        await page.getByRole('menu').waitFor();
        await page.keyboard.press('Escape');
        await closeAll(page);
      }
      for (const key of ['Control+k', 'F9']) {
        await page.keyboard.press(key);
        await frames(page);
        await page.keyboard.press('Escape');
      }
    };
    for (let index = 0; index < 3; index += 1) await round();
    const before = await alive(session);
    for (let index = 0; index < 6; index += 1) await round();
    const after = await alive(session);
    assert.ok(after.nodes <= before.nodes + 2, `nodes: ${before.nodes} became ${after.nodes}`);
    assert.ok(after.listeners <= before.listeners + 2, `listeners: ${before.listeners} became ${after.listeners}`);
  }),
];
