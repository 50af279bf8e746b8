/** The browser that all measurements share, and the small sums they have in common. */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { launchChromium } from '../../shell/scripts/chromium.ts';

/** The size of every page. */
export const VIEWPORT = { width: 1440, height: 900 } as const;

/** Starts the browser, with exact figures of its memory. */
export function launch(): Promise<Browser> {
  return launchChromium(['--enable-precise-memory-info', '--js-flags=--expose-gc']);
}

/** A page in a context of its own, which ends with `page.context().close()`. */
export async function freshPage(browser: Browser, address: string): Promise<Page> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  await page.goto(address);
  return page;
}

/** A DevTools session of the page. */
export function devTools(page: Page): Promise<CDPSession> {
  return page.context().newCDPSession(page);
}

/**
 * What the main thread spent while `act` ran, by the names of the DevTools protocol: seconds of its own time (what other
 * programs take from the machine isn't counted), and counts.
 */
export async function spentIn(page: Page, act: () => Promise<unknown>): Promise<(name: string) => number> {
  const session = await devTools(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const read = async () =>
    new Map((await session.send('Performance.getMetrics')).metrics.map(({ name, value }) => [name, value]));
  const before = await read();
  await act();
  const after = await read();
  return (name) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
}

/** The middle value. */
export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

/** The value below which `share` of the values lie. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
