/**
 * Measures the shell beside WinBox and jsPanel: same page, same text, same number of windows, one after the other in one
 * run, so that the ratios hold although the machine is noisy. Every figure is the median of several rounds.
 */
import { createRequire } from 'node:module';
import { cpus } from 'node:os';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { serve } from './pages.ts';

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
const LIBRARIES = ['shell', 'winbox', 'jspanel'] as const;
type Library = (typeof LIBRARIES)[number];
const ROUNDS = Number(process.env.ROUNDS ?? 5);
const WINDOWS = 200;
const DRAG_WINDOWS = 50;
const MOVES = 60;

const TEXT = 'The quick brown fox jumps over the lazy dog. '.repeat(12);

function median(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function fresh(browser: Browser, url: string, library: Library): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.goto(`${url}/${library}`);
  if (library === 'shell') {
    await page.evaluate(async (text) => {
      window.Shell.registerApp({
        id: 'text',
        title: 'Text',
        icon: 'notes.svg',
        width: 400,
        height: 300,
        render: () => {
          const paragraph = document.createElement('p');
          paragraph.textContent = text;
          return paragraph;
        },
      });
      document.body.append(document.createElement('shell-desktop'));
      await new Promise((resolve) => setTimeout(resolve, 300));
    }, TEXT);
  }
  return page;
}

/** Opens windows and waits until they are drawn; script time and time until settled, in milliseconds. */
function openMany(page: Page, library: Library, count: number): Promise<{ script: number; settled: number }> {
  return page.evaluate(
    async ([kind, amount, text]) => {
      const content = () => {
        const paragraph = document.createElement('p');
        paragraph.textContent = text;
        return paragraph;
      };
      const globals = window as unknown as {
        WinBox: new (options: object) => unknown;
        jsPanel: { create(options: object): unknown };
      };
      const began = performance.now();
      for (let index = 0; index < amount; index += 1) {
        const [x, y] = [(index * 37) % 900, (index * 23) % 500];
        if (kind === 'shell') window.Shell.openApp('text');
        else if (kind === 'winbox')
          new globals.WinBox({ title: 'Text', x, y, width: 400, height: 300, mount: content() });
        else
          globals.jsPanel.create({
            headerTitle: 'Text',
            panelSize: '400 300',
            position: { my: 'left-top', at: 'left-top', offsetX: x, offsetY: y },
            content: content(),
            animateIn: false,
          });
      }
      const script = performance.now() - began;
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      return { script, settled: performance.now() - began };
    },
    [library, count, TEXT] as const,
  );
}

const TITLE_BAR: Record<Library, string> = {
  shell: '.shell-window[data-active] .shell-window-title',
  winbox: '.winbox.focus .wb-title, .winbox:last-of-type .wb-title',
  jspanel: '.jsPanel:last-of-type .jsPanel-title',
};

async function metrics(session: CDPSession): Promise<Record<string, number>> {
  const { metrics: list } = await session.send('Performance.getMetrics');
  return Object.fromEntries(list.map((metric) => [metric.name, metric.value]));
}

/** Main-thread time per pointer move, and layouts and style recalculations during the drag. */
async function dragOne(page: Page, library: Library): Promise<{ perMove: number; layouts: number }> {
  const bar = await page.locator(TITLE_BAR[library]).last().boundingBox();
  if (!bar) throw new Error(`no title bar of ${library}`);
  return moveAbout(page, bar.x + 40, bar.y + bar.height / 2);
}

/** Presses and moves, one move a frame. On an empty page it tells what the asking itself costs. */
async function moveAbout(page: Page, x: number, y: number): Promise<{ perMove: number; layouts: number }> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  await page.mouse.move(x, y);
  await page.mouse.down();
  await page.mouse.move(x + 30, y + 30, { steps: 4 });
  const nextFrame = () => page.evaluate(() => new Promise((resolve) => requestAnimationFrame(resolve)));
  await nextFrame();
  const before = await metrics(session);
  for (let move = 0; move < MOVES; move += 1) {
    await page.mouse.move(x + 30 + (move % 30) * 6, y + 30 + (move % 20) * 4);
    await nextFrame();
  }
  const after = await metrics(session);
  await page.mouse.up();
  const spent = (name: string) => (after[name] ?? 0) - (before[name] ?? 0);
  return { perMove: (spent('TaskDuration') * 1000) / MOVES, layouts: spent('LayoutCount') };
}

/** Starts a desktop with 100 apps and 60 shortcuts; long tasks over 50 ms. */
async function coldStart(browser: Browser, url: string): Promise<{ longest: number; ready: number }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    const holder = window as unknown as { long: number[] };
    holder.long = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) holder.long.push(entry.duration);
    }).observe({ type: 'longtask', buffered: true });
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
  await page.goto(`${url}/shell`);
  const ready = await page.evaluate(async () => {
    const began = performance.now();
    for (let index = 0; index < 100; index += 1) {
      window.Shell.registerApp({
        id: `app${index}`,
        title: `App ${index}`,
        icon: 'app.svg',
        accent: '#3b6fe0',
        render: () => '',
      });
    }
    document.body.append(document.createElement('shell-desktop'));
    while (document.querySelectorAll('.shell-tile').length < 60)
      await new Promise((resolve) => requestAnimationFrame(resolve));
    return performance.now() - began;
  });
  await page.waitForTimeout(800);
  const longest = await page.evaluate(() => Math.max(0, ...(window as unknown as { long: number[] }).long));
  await context.close();
  return { longest, ready };
}

/** Script time of an effect per frame. */
async function effectCost(browser: Browser, url: string, effect: string): Promise<number> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  await page.addInitScript(() => {
    const holder = window as unknown as { spent: number[] };
    holder.spent = [];
    const original = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (callback) =>
      original((now) => {
        const began = performance.now();
        callback(now);
        const spent = performance.now() - began;
        if (spent > 0.05) holder.spent.push(spent);
      });
  });
  await page.goto(`${url}/shell`);
  await page.evaluate((name) => {
    window.Shell.configure({ defaults: { effect: name as 'snow' } });
    document.body.append(document.createElement('shell-desktop'));
  }, effect);
  await page.waitForTimeout(2500);
  const spent = await page.evaluate(() => (window as unknown as { spent: number[] }).spent);
  await context.close();
  return median(spent.slice(5));
}

/** Heap before and after a thousand windows, in megabytes, and nodes left over. */
async function leaks(browser: Browser, url: string): Promise<{ before: number; after: number; nodes: number }> {
  const page = await fresh(browser, url, 'shell');
  const session = await page.context().newCDPSession(page);
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
  const measure = async () => {
    for (let round = 0; round < 3; round += 1) await session.send('HeapProfiler.collectGarbage');
    const { usedSize } = await session.send('Runtime.getHeapUsage');
    const counters = await session.send('Memory.getDOMCounters');
    return { heap: usedSize / 1048576, nodes: counters.nodes };
  };
  await cycle(100);
  const before = await measure();
  await cycle(1000);
  const after = await measure();
  await page.context().close();
  return { before: before.heap, after: after.heap, nodes: after.nodes - before.nodes };
}

const { server, url } = await serve();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium', args: FLAGS });
const results: Record<Library, { script: number[]; settled: number[]; perMove: number[]; layouts: number[] }> = {
  shell: { script: [], settled: [], perMove: [], layouts: [] },
  winbox: { script: [], settled: [], perMove: [], layouts: [] },
  jspanel: { script: [], settled: [], perMove: [], layouts: [] },
};
const asking: number[] = [];
for (let round = 0; round < ROUNDS; round += 1) {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const empty = await context.newPage();
  await empty.goto(`${url}/nothing`);
  asking.push((await moveAbout(empty, 400, 300)).perMove);
  await context.close();
  for (const library of LIBRARIES) {
    const opening = await fresh(browser, url, library);
    const { script, settled } = await openMany(opening, library, WINDOWS);
    await opening.context().close();
    const dragging = await fresh(browser, url, library);
    await openMany(dragging, library, DRAG_WINDOWS);
    const { perMove, layouts } = await dragOne(dragging, library);
    await dragging.context().close();
    results[library].script.push(script);
    results[library].settled.push(settled);
    results[library].perMove.push(perMove);
    results[library].layouts.push(layouts);
  }
}
const line = (...cells: (string | number)[]) =>
  console.log(`| ${cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(1) : cell)).join(' | ')} |`);
console.log(`${cpus()[0]?.model}, ${cpus().length} cores, Chromium ${browser.version()}, median of ${ROUNDS} rounds\n`);
line('', ...LIBRARIES, 'shell : winbox', 'shell : jspanel');
line('---', '---:', '---:', '---:', '---:', '---:');
const floor = median(asking);
for (const library of LIBRARIES) results[library].perMove = results[library].perMove.map((value) => value - floor);
for (const [key, title] of [
  ['script', `${WINDOWS} windows, script ms`],
  ['settled', `${WINDOWS} windows, settled ms`],
  ['perMove', `main thread ms per move, ${DRAG_WINDOWS} open`],
  ['layouts', `layouts in ${MOVES} moves`],
] as const) {
  const values = LIBRARIES.map((library) => median(results[library][key]));
  const [shell = 0, winbox = 0, jspanel = 0] = values;
  line(title, ...values, (shell / winbox).toFixed(2), (shell / jspanel).toFixed(2));
}
console.log(`\nThe moves were measured above the ${floor.toFixed(2)} ms that asking for them costs on an empty page.`);
const start = await coldStart(browser, url);
console.log(
  `\nStart with 100 apps and 60 shortcuts: ready after ${start.ready.toFixed(0)} ms, longest task over 50 ms: ${start.longest.toFixed(0)} ms`,
);
for (const effect of ['logos', 'snow', 'starfield', 'warp', 'network', 'aurora']) {
  console.log(`Effect ${effect}: ${(await effectCost(browser, url, effect)).toFixed(2)} ms a frame`);
}
const heap = await leaks(browser, url);
console.log(
  `1,000 windows opened and closed: heap ${heap.before.toFixed(2)} → ${heap.after.toFixed(2)} MB, ${heap.nodes} nodes more`,
);
await browser.close();
server.close();
