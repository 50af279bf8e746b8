/**
 * What stays in memory after an hour's use: `npm run bench:memory` in `web/`. A round is what somebody does with a list in a minute
 * (search, scroll, open records, look at another app, go back), played without the pauses; 60 rounds are the hour. What is alive is
 * counted after a forced garbage collection, when the caches are warm and at the end.
 */
import type { CDPSession, Page } from 'playwright-core';
import { enter, startApplication } from '../../e2e/web/application.ts';
import { launchChromium } from '../../shell/scripts/chromium.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 60);
/** What may stay behind of an hour. */
const MOST_GROWTH = 0.01;
/** The engine compiles what runs often, and keeps that in the same heap: with these it interprets all of it, and what grows is the page's. */
const INTERPRETED = '--js-flags=--no-opt --no-maglev --no-sparkplug --no-lazy-feedback-allocation --no-flush-bytecode';
const APPS = ['sets.Orders', 'sets.Products', 'sets.Customers', 'webhooks', 'system.people', 'shop.dashboard'];
/** All apps several times: what was closed last stays alive for a while, so both counts come behind the same one. */
const WARM_UP_ROUNDS = 4 * APPS.length;

interface Alive {
  readonly heap: number;
  readonly nodes: number;
  readonly listeners: number;
}

async function alive(session: CDPSession): Promise<Alive> {
  // What only weak references hold goes with the second one.
  await session.send('HeapProfiler.collectGarbage');
  await session.send('HeapProfiler.collectGarbage');
  const { metrics } = await session.send('Performance.getMetrics');
  const of = (name: string) => metrics.find((one) => one.name === name)?.value ?? Number.NaN;
  return { heap: of('JSHeapUsedSize') / 1024 / 1024, nodes: of('Nodes'), listeners: of('JSEventListeners') };
}

async function closeAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const button of document.querySelectorAll<HTMLElement>('.shell-window [data-act=close]')) button.click();
  });
  await page.waitForFunction(() => document.querySelectorAll('.shell-window').length === 0);
}

async function open(page: Page, app: string): Promise<void> {
  await page.evaluate(
    (id) => (globalThis as unknown as { Shell: { openApp(id: string): boolean } }).Shell.openApp(id),
    app,
  );
  await page.locator(`.shell-window[data-app="${app}"]`).last().locator('.svc-app').waitFor();
}

/** What somebody does in a minute. */
async function work(page: Page, round: number): Promise<void> {
  await open(page, 'sets.Products');
  const products = page.locator('.shell-window[data-app="sets.Products"]');
  const first = products.locator('.svc-row[data-index="0"]');
  await first.waitFor();
  const search = products.getByRole('searchbox');
  await search.fill('a');
  await search.fill('');
  await first.waitFor();
  await products.locator('.svc-grid').evaluate(async (grid) => {
    for (let step = 0; step < 20; step += 1) {
      grid.scrollTop += 400;
      await new Promise((resolve) => requestAnimationFrame(resolve));
    }
    grid.scrollTop = 0;
  });
  await first.click();
  await products.locator('.svc-related').first().waitFor();
  await page.keyboard.press('Escape');
  await open(page, APPS[round % APPS.length] ?? 'sets.Orders');
  await closeAll(page);
}

const application = await startApplication('sqlite');
const browser = await launchChromium([INTERPRETED]);
try {
  const person = await enter(browser, application);
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    storageState: person,
    serviceWorkers: 'block',
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const session = await context.newCDPSession(page);
  await session.send('Performance.enable');
  await page.goto(application.url);
  await page.locator('.shell-tile').first().waitFor();
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await work(page, round);
  const before = await alive(session);
  for (let round = 0; round < ROUNDS; round += 1) await work(page, round);
  const after = await alive(session);
  for (const name of ['heap', 'nodes', 'listeners'] as const) {
    const grown = after[name] / before[name] - 1;
    const unit = name === 'heap' ? 'MB' : '';
    console.log(
      `${name.padEnd(10)} ${before[name].toFixed(1).padStart(9)} → ${after[name].toFixed(1).padStart(9)} ${unit.padEnd(3)} ${(100 * grown).toFixed(1).padStart(6)} %   (at most ${100 * MOST_GROWTH})`,
    );
    if (grown > MOST_GROWTH) process.exitCode = 1;
  }
} finally {
  await browser.close();
  await application.end();
}
