/** What mustn't grow with the number of windows: the work of a move, and what is left behind. */
import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import { privilegedInPage } from '../../shell/scripts/firefox.ts';
import { engineOf } from './browser.ts';
import { grown, meterOf } from './meters.ts';
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

/** Plays moves, and holds that Chromium lays nothing out, restyles little and sorts no layers meanwhile. */
async function traced(page: Page, browser: Browser, act: () => Promise<void>): Promise<void> {
  await browser.startTracing(page, { categories: ['devtools.timeline', 'blink', 'cc'] });
  await page.evaluate((mark) => console.timeStamp(mark), MARK);
  await act();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  const moved = (event: TraceEvent) => event.name === 'EventDispatch' && event.args.data?.type === 'pointermove';
  // Other scenarios play at the same time, in processes of their own.
  const own = trace.traceEvents.find((event) => event.name === 'TimeStamp' && event.args.data?.message === MARK)?.pid;
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
}

/** Plays moves, and holds that Firefox, which tells no more, lays nothing out meanwhile. */
async function counted(page: Page, act: () => Promise<void>): Promise<void> {
  const laidOut = async () => Number(await privilegedInPage(page, 'return content.windowUtils.framesReflowed;'));
  const before = await laidOut();
  await act();
  // As above, the clock; a window has more frames than there are moves.
  const frames = (await laidOut()) - before;
  assert.ok(frames < MOVES, `frames laid out: ${frames}`);
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
      const moves = async () => {
        for (let move = 1; move <= MOVES; move += 1) {
          await page.mouse.move(from.x + 20 + move * 3, from.y + 20 + move * 2);
          await frames(page);
        }
      };
      await (engineOf(page) === 'firefox' ? counted(page, moves) : traced(page, browser, moves));
      const after = await box(win);
      await page.mouse.up();
      assert.ok(Math.abs(after.x - before.x - 20 - MOVES * 3) < 2, 'the window followed the pointer');
    },
  ),
  story('leak: a thousand windows leave nothing behind', {}, async ({ page }) => {
    await registerText(page);
    const meter = await meterOf(page);
    await cycle(page, 100);
    const before = await meter.read();
    await cycle(page, 1000);
    assert.equal(await page.locator('.shell-window').count(), 0);
    assert.deepEqual(grown(meter, before, await meter.read()), []);
  }),
  story(
    'leak: the desktop’s own apps, panels and menus leave nothing behind',
    { reducedMotion: false },
    async ({ page }) => {
      const meter = await meterOf(page);
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
      for (let index = 0; index < 2; index += 1) await round();
      const before = await meter.read();
      for (let index = 0; index < 3; index += 1) await round();
      assert.deepEqual(grown(meter, before, await meter.read()), []);
    },
  ),
];
