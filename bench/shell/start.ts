/** The start of a desktop with 100 apps and 60 shortcuts on four webtops. */
import type { Browser, Page } from 'playwright-core';
import { VIEWPORT } from './browser.ts';
import { tasksOf } from './trace.ts';

/** The clock and whatever else waits for a browser at rest has come by then. */
const SETTLED_AFTER_MS = 1200;

/** How one start went. */
export interface Start {
  /** Milliseconds until all webtops are drawn. */
  ready: number;
  /** The longest task of the main thread, by the processor's time and by the clock. */
  longestCpu: number;
  longestWall: number;
}

/** A page in a fresh browser profile, with a stored desktop that it hasn't opened yet. */
async function beforeStart(browser: Browser): Promise<Page> {
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
  return page;
}

/** Goes to the desktop; the milliseconds until all webtops are drawn. */
async function open(page: Page, url: string): Promise<number> {
  await page.goto(`${url}/start`);
  const ready = await page.evaluate(async () => {
    while (document.querySelectorAll('.shell-tile').length < 60)
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now();
  });
  await page.waitForTimeout(SETTLED_AFTER_MS);
  return ready;
}

/** Starts, and records a trace of it. */
export async function coldStart(browser: Browser, url: string): Promise<Start> {
  const page = await beforeStart(browser);
  let ready = 0;
  const tasks = await tasksOf(browser, page, async () => {
    ready = await open(page, url);
  });
  await page.context().close();
  if (tasks.length === 0) throw new Error('the trace has no tasks');
  return {
    ready,
    longestCpu: Math.max(...tasks.map((task) => task.cpu)),
    longestWall: Math.max(...tasks.map((task) => task.wall)),
  };
}

/** Starts as people do, without a trace; the milliseconds of each task that the browser calls long (over 50). */
export async function longTasks(browser: Browser, url: string): Promise<number[]> {
  const page = await beforeStart(browser);
  await page.addInitScript(() => {
    const long: number[] = [];
    new PerformanceObserver((list) => long.push(...list.getEntries().map((entry) => entry.duration))).observe({
      type: 'longtask',
    });
    Object.assign(window, { long });
  });
  await open(page, url);
  const long = await page.evaluate(() => (window as unknown as { long: number[] }).long);
  await page.context().close();
  return long;
}
