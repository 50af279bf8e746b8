/**
 * Opens and closes windows for as long as asked, and tells whether anything stays behind.
 *
 * `npm run leak -- --minutes 60` uses the playground's real apps: frames, modules, custom elements, canvases. A round opens
 * twenty windows, snaps one, drags one, shows notices, looks at previews, pilot view, start menu, search and a window menu,
 * adds and deletes a webtop, lets somebody sign in and out, and closes all. Every minute tells what is alive after a forced
 * garbage collection. After rounds that fill caches, the last minute must be as the first; the run fails otherwise.
 *
 * `--share 0.2` rests between rounds, so that the browser takes at most that share of one processor. `--browser firefox`
 * plays it there, by the figures of `about:memory`.
 */
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { engineNamed, launchIn, LIVELY, type Engine } from '../../e2e/shell/browser.ts';
import { alive, grown, meterOf, type Alive, type Meter } from '../../e2e/shell/meters.ts';
import { serve } from '../../shell/scripts/play.ts';
import { devTools, freshPage, launch } from './browser.ts';

const APPS = [
  'notes',
  'clock',
  'gallery',
  'paint',
  'calendar',
  'sales',
  'people',
  'tasks',
  'calculator',
  'contact',
  'weather',
  'handbook',
  'welcome',
  'shell.settings',
  'shell.weblink',
];
const WINDOWS_PER_ROUND = 20;
const WARM_UP_ROUNDS = 8;
async function closeAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const button of document.querySelectorAll<HTMLElement>('.shell-window [data-act=close]')) button.click();
  });
  await page.waitForFunction(() => document.querySelectorAll('.shell-window').length === 0);
}

/** One round of somebody's work. */
async function work(page: Page): Promise<void> {
  await page.evaluate(
    ([apps, count]) => {
      for (let index = 0; index < count; index += 1) window.Shell.openApp(apps[index % apps.length] ?? '');
    },
    [APPS, WINDOWS_PER_ROUND] as const,
  );
  await page.waitForTimeout(150);
  await page.keyboard.press('Alt+Shift+ArrowLeft');
  await page.keyboard.press('F9');
  await page.waitForTimeout(100);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Alt+Shift+M');
  await page.keyboard.press('Escape');
  await page.locator('.shell-task[aria-haspopup]').first().click();
  await page.locator('.shell-preview').waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.keyboard.type('re');
  await page.waitForTimeout(150);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await page.keyboard.press('F9');
  await page.locator('[data-pilot=add]').click();
  await page.locator('[data-pilot^=delete]').last().click();
  await page.keyboard.press('Escape');
  await drag(page);
  await closeAll(page);
  await page.evaluate(async () => {
    const takeBack = window.Shell.notify({ title: 'A notice', text: 'of this round' });
    await window.Shell.setSession({ identity: { id: 'anna', displayName: 'Anna' } });
    await window.Shell.setSession(undefined);
    takeBack();
  });
  await page.locator('.shell-tile').first().waitFor();
  await closeAll(page);
}

/** Carries the active window a little further by its title. */
async function drag(page: Page): Promise<void> {
  const title = await page.locator('.shell-window[data-active] .shell-window-title').boundingBox();
  if (!title) throw new Error('no window is active');
  const [x, y] = [title.x + title.width / 2, title.y + title.height / 2];
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 60, y + 40, { steps: 6 });
  await page.mouse.up();
}

/** A thousand plain windows, opened and closed by twenties after a hundred to warm up. */
export async function thousandWindows(page: Page): Promise<{ before: Alive; after: Alive }> {
  const session = await devTools(page);
  const cycle = (count: number) =>
    page.evaluate(async (amount) => {
      for (let index = 0; index < amount; index += 1) {
        window.Shell.openApp('text');
        if (index % 20 === 19) {
          await new Promise((resolve) => requestAnimationFrame(resolve));
          for (const button of document.querySelectorAll<HTMLElement>('[data-act=close]')) button.click();
          await new Promise((resolve) => setTimeout(resolve, 0));
        }
      }
    }, count);
  await cycle(100);
  const before = await alive(session);
  await cycle(1000);
  return { before, after: await alive(session) };
}

/** Rests until the browser's part since `began` is at most `share` of one processor. */
async function rest(meter: Meter, began: { at: number; seconds: number }, share: number): Promise<void> {
  const due = began.at + ((await meter.processorSeconds()) - began.seconds) * (1000 / share);
  await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - Date.now())));
}

/** How long, and how much of a processor meanwhile. */
interface Length {
  minutes: number;
  share: number;
}

/** Works for some minutes; tells every minute what is alive, and answers what grew beyond what is tolerated. */
async function longRun(page: Page, meter: Meter, { minutes, share }: Length): Promise<string[]> {
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await work(page);
  const began = { at: Date.now(), seconds: await meter.processorSeconds() };
  let rounds = 0;
  const sample = async () => {
    await page.locator('.shell-toast').last().waitFor({ state: 'detached' });
    const now = await meter.read();
    const passed = ((Date.now() - began.at) / 60_000).toFixed(0);
    const figures = Object.values(now).map((value) => (Number.isInteger(value) ? value : value.toFixed(2)));
    console.log(`| ${[passed, rounds * WINDOWS_PER_ROUND, ...figures].join(' | ')} |`);
    return now;
  };
  const columns = ['minute', 'windows so far', ...Object.keys(await meter.read())];
  console.log(`| ${columns.join(' | ')} |\n|${' ---: |'.repeat(columns.length)}`);
  const first = await sample();
  for (let minute = 1; minute <= minutes; minute += 1) {
    while (Date.now() < began.at + minute * 60_000) {
      await work(page);
      rounds += 1;
      await rest(meter, began, share);
    }
    if (minute < minutes) await sample();
  }
  const last = await sample();
  return grown(meter, first, last);
}

/** Plays on the playground in a browser of its own. */
async function play(engine: Engine, length: Length): Promise<string[]> {
  const { server, url } = await serve(0);
  const browser = engine === 'firefox' ? await launchIn(engine, LIVELY) : await launch();
  const page = await freshPage(browser, url);
  await page.locator('.shell-tile').first().waitFor();
  const more = await longRun(page, await meterOf(page), length);
  await browser.close();
  server.close();
  server.closeAllConnections();
  return more;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      browser: { type: 'string', default: 'chromium' },
      minutes: { type: 'string', default: '60' },
      share: { type: 'string', default: '1' },
    },
  });
  const [minutes, share] = [Number(values.minutes), Number(values.share)];
  if (!(Number.isInteger(minutes) && minutes > 0 && share > 0))
    throw new Error('say how long, and which share of a processor: `npm run leak -- --minutes 60 --share 0.2`');
  const more = await play(engineNamed(values.browser), { minutes, share });
  if (more.length > 0) throw new Error(`something stays behind: ${more.join('; ')}`);
}
