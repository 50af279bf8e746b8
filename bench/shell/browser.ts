/** The browser that all measurements share, and the small sums they have in common. */
import { createRequire } from 'node:module';
import type { Browser, CDPSession, Page } from 'playwright-core';

const require = createRequire(new URL('../../shell/package.json', import.meta.url));
const { chromium } = require('playwright-core') as typeof import('playwright-core');

const FLAGS = [
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--enable-precise-memory-info',
  '--js-flags=--expose-gc',
];

/** The size of every page. */
export const VIEWPORT = { width: 1440, height: 900 } as const;

/** Starts Debian's Chromium, or the one that `CHROMIUM` names. */
export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
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
