/**
 * What the web client costs, in headless Chromium with a cold cache: bytes and time until the desktop is usable, an app's first
 * list, from a key to painted rows, and scrolling a list of 100,000. `npm run bench` in `web/`.
 */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { enter, startApplication, type Application, type SignedIn } from '../../e2e/web/application.ts';
import { launchChromium } from '../../shell/scripts/chromium.ts';
import { coldPage } from './cold.ts';
import { atRest, fillCustomers, median } from './rows.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 7);
const FRAMES = 240;
const SLOW_FRAME_MS = 33;

async function start(
  browser: Browser,
  url: string,
  person: SignedIn,
): Promise<{ bytes: number; ms: number; listMs: number; listBytes: number }> {
  const { page, transferred } = await coldPage(browser, person);
  const began = performance.now();
  await page.goto(url, { waitUntil: 'commit' });
  await page.locator('.shell-tile').first().waitFor();
  const ms = performance.now() - began;
  const bytes = await transferred();
  const opened = performance.now();
  await page.evaluate(() =>
    (globalThis as unknown as { Shell: { openApp(id: string): boolean } }).Shell.openApp('sets.Customers'),
  );
  await page.locator('.svc-row[data-index="0"]').waitFor();
  const listMs = performance.now() - opened;
  const result = { bytes, ms, listMs, listBytes: (await transferred()) - bytes };
  await page.context().close();
  return result;
}

/** From a key in the search to painted rows, beside what the server took of it. */
async function typing(page: Page): Promise<{ ms: number; server: number }> {
  return page.evaluate(async () => {
    const input = document.querySelector<HTMLInputElement>('[type=search]');
    const status = document.querySelector('.svc-head [role=status]');
    if (!input || !status) throw new Error('there is no list');
    performance.clearResourceTimings();
    const began = performance.now();
    const painted = new Promise<number>((resolve) => {
      const watch = new MutationObserver(() => {
        watch.disconnect();
        requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
      });
      watch.observe(status, { subtree: true, characterData: true, childList: true });
    });
    input.value = input.value === 'brecon' ? '' : 'brecon';
    input.dispatchEvent(new Event('input', { bubbles: true }));
    const ms = await painted;
    const [request] = performance.getEntriesByType('resource') as PerformanceResourceTiming[];
    return { ms, server: request ? request.responseEnd - request.requestStart : 0 };
  });
}

/** What the main thread itself takes for a frame while a long list is scrolled; other programs aren't in it. */
async function scrolling(page: Page, session: CDPSession): Promise<{ own: number; slow: number }> {
  const own = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  };
  const before = await own();
  const slow = await page.evaluate(
    async ([frames, limit]) => {
      const grid = document.querySelector('.svc-grid');
      if (!grid) throw new Error('there is no table');
      let slow = 0;
      let last = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
      for (let frame = 0; frame < frames; frame += 1) {
        grid.scrollTop += 160;
        const now = await new Promise<number>((resolve) => requestAnimationFrame(resolve));
        if (now - last > limit) slow += 1;
        last = now;
      }
      return slow;
    },
    [FRAMES, SLOW_FRAME_MS] as const,
  );
  return { own: ((await own()) - before) / FRAMES, slow };
}

function tell(name: string, value: number, unit: string, limit?: number): void {
  const bound = limit === undefined ? '' : `   (at most ${limit})`;
  console.log(`${name.padEnd(46)} ${value.toFixed(value < 10 ? 1 : 0).padStart(8)} ${unit}${bound}`);
}

async function measure(application: Application, browser: Browser): Promise<void> {
  const person = await enter(browser, application);
  const starts = [];
  for (let round = 0; round < ROUNDS; round += 1) starts.push(await start(browser, application.url, person));
  tell('transferred until the desktop is usable', median(starts.map(({ bytes }) => bytes)) / 1024, 'KB', 250);
  tell('until the desktop is usable', median(starts.map(({ ms }) => ms)), 'ms', 1000);
  tell('transferred for the first list', median(starts.map(({ listBytes }) => listBytes)) / 1024, 'KB');
  tell('an app’s first list of 100,000', median(starts.map(({ listMs }) => listMs)), 'ms', 300);
  const { page, session } = await coldPage(browser, person);
  await page.goto(`${application.url}/?app=sets.Customers`);
  await page.locator('.svc-row[data-index="0"]').waitFor();
  const typed = [];
  for (let round = 0; round < ROUNDS * 2; round += 1) typed.push(await typing(page));
  tell('from a key to painted rows, beside the server', median(typed.map(({ ms, server }) => ms - server)), 'ms', 100);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const frames = [];
  for (let round = 0; round < ROUNDS; round += 1) frames.push(await scrolling(page, session));
  tell('main thread’s own time for a frame of scrolling', median(frames.map(({ own }) => own)), 'ms', SLOW_FRAME_MS);
  tell(`frames over 33 ms of ${FRAMES}`, median(frames.map(({ slow }) => slow)), '', 0);
}

const application = await startApplication('sqlite');
fillCustomers(application.file ?? '');
await atRest(application.pid);
const browser = await launchChromium();
await measure(application, browser).finally(async () => {
  await browser.close();
  await application.end();
});
