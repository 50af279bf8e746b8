/** The start of a desktop with 100 apps and 60 shortcuts on four webtops. */
import type { Browser } from 'playwright-core';
import { VIEWPORT } from './browser.ts';
import { tasksOf } from './trace.ts';

/** How one start went. */
export interface Start {
  /** Milliseconds until all webtops are drawn. */
  ready: number;
  /** The longest task of the main thread, by the processor's time and by the clock. */
  longestCpu: number;
  longestWall: number;
}

/** Starts in a fresh browser profile, with a stored desktop. */
export async function coldStart(browser: Browser, url: string): Promise<Start> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  await page.addInitScript(() => {
    const items = (from: number) =>
      Array.from({ length: 15 }, (_unused, index) => ({
        kind: 'shortcut',
        id: `s${from + index}`,
        cell: index,
        appId: `app${from + index}`,
      }));
    localStorage.setItem(
      'shell',
      JSON.stringify({
        version: 1,
        webtops: [0, 15, 30, 45].map((from) => ({ id: `w${from}`, items: items(from) })),
        activeWebtop: 'w0',
        settings: {},
        windows: [],
      }),
    );
  });
  let ready = 0;
  const tasks = await tasksOf(browser, page, async () => {
    await page.goto(`${url}/start`);
    ready = await page.evaluate(async () => {
      while (document.querySelectorAll('.shell-tile').length < 60)
        await new Promise((resolve) => requestAnimationFrame(resolve));
      return performance.now();
    });
    await page.waitForTimeout(800);
  });
  await context.close();
  if (tasks.length === 0) throw new Error('the trace has no tasks');
  return {
    ready,
    longestCpu: Math.max(...tasks.map((task) => task.cpu)),
    longestWall: Math.max(...tasks.map((task) => task.wall)),
  };
}
