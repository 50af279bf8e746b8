/**
 * Opens and closes windows for as long as asked, and tells whether anything stays behind.
 *
 * `npm run leak -- --minutes 60` uses the playground's real apps: frames, modules, custom elements, canvases. A round opens
 * twenty windows, snaps one, looks at previews, pilot view, start menu, search and a window menu, and closes all.
 * After rounds that fill caches, heap, nodes and listeners of the last minute must be those of the first.
 */
import { fileURLToPath } from 'node:url';
import type { Browser, CDPSession, Page } from 'playwright-core';
import { serve } from '../../shell/scripts/play.ts';
import { devTools, freshPage, launch } from './browser.ts';

/** What is alive in a page after a garbage collection. */
export interface Alive {
  heapMb: number;
  nodes: number;
  listeners: number;
  documents: number;
}

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
const WARM_UP_ROUNDS = 6;

async function alive(session: CDPSession): Promise<Alive> {
  for (let round = 0; round < 3; round += 1) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners, documents } = await session.send('Memory.getDOMCounters');
  return { heapMb: usedSize / 1_048_576, nodes, listeners: jsEventListeners, documents };
}

async function closeAll(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const button of document.querySelectorAll<HTMLElement>('.shell-window [data-act=close]')) button.click();
  });
  await page.waitForFunction(() => document.querySelectorAll('.shell-window').length === 0);
}

/** One round of somebody's work. */
async function work(page: Page, round: number): Promise<void> {
  await page.evaluate(
    ([apps, from, count]) => {
      for (let index = 0; index < count; index += 1) window.Shell.openApp(apps[(from + index) % apps.length] ?? '');
    },
    [APPS, round * WINDOWS_PER_ROUND, WINDOWS_PER_ROUND] as const,
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
  await closeAll(page);
}

interface Snapshot {
  snapshot: { meta: { node_fields: string[]; node_types: [string[], ...unknown[]] } };
  nodes: number[];
}

/** What the heap holds, in megabytes: what a page can leak, what the engine compiled, and what the browser keeps itself. */
async function heapByKind(session: CDPSession): Promise<{ page: number; compiled: number; browser: number }> {
  let text = '';
  const collect = (part: { chunk: string }) => {
    text += part.chunk;
  };
  session.on('HeapProfiler.addHeapSnapshotChunk', collect);
  await session.send('HeapProfiler.takeHeapSnapshot', { reportProgress: false });
  session.off('HeapProfiler.addHeapSnapshotChunk', collect);
  const { snapshot, nodes } = JSON.parse(text) as Snapshot;
  const fields = snapshot.meta.node_fields;
  const [type, size] = [fields.indexOf('type'), fields.indexOf('self_size')];
  const sums = { page: 0, compiled: 0, browser: 0 };
  for (let at = 0; at < nodes.length; at += fields.length) {
    const kind = snapshot.meta.node_types[0][nodes[at + type] ?? 0] ?? '';
    const sum = kind === 'code' ? 'compiled' : ['native', 'hidden', 'synthetic'].includes(kind) ? 'browser' : 'page';
    sums[sum] += (nodes[at + size] ?? 0) / 1_048_576;
  }
  return sums;
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

/** Works for some minutes; tells what was alive before, after, and at each of the samples between. */
async function longRun(browser: Browser, minutes: number, tell: (line: string) => void): Promise<void> {
  const { server, url } = await serve(0);
  const page = await freshPage(browser, url);
  await page.locator('.shell-tile').first().waitFor();
  const session = await devTools(page);
  for (let round = 0; round < WARM_UP_ROUNDS; round += 1) await work(page, round);
  const kindsBefore = await heapByKind(session);
  const began = Date.now();
  let rounds = 0;
  let nextSample = 0;
  const sample = async () => {
    const now = await alive(session);
    const passed = ((Date.now() - began) / 60_000).toFixed(1);
    const cells = [now.heapMb.toFixed(2), now.nodes, now.listeners, now.documents];
    tell(`| ${passed} | ${rounds * WINDOWS_PER_ROUND} | ${cells.join(' | ')} |`);
  };
  tell(
    '| minute | windows so far | heap MB | nodes | listeners | documents |\n| ---: | ---: | ---: | ---: | ---: | ---: |',
  );
  while (Date.now() - began < minutes * 60_000) {
    if (Date.now() - began >= nextSample) {
      await sample();
      nextSample += Math.max(1, minutes / 12) * 60_000;
    }
    await work(page, rounds);
    rounds += 1;
  }
  await sample();
  const kinds = await heapByKind(session);
  for (const kind of ['page', 'compiled', 'browser'] as const)
    tell(`heap of the ${kind}: ${kindsBefore[kind].toFixed(2)} → ${kinds[kind].toFixed(2)} MB`);
  await page.context().close();
  server.close();
  server.closeAllConnections();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const at = process.argv.indexOf('--minutes');
  const minutes = at < 0 ? 60 : Number(process.argv[at + 1]);
  if (!(minutes > 0)) throw new Error('say how long: `npm run leak -- --minutes 60`');
  const browser = await launch();
  await longRun(browser, minutes, (line) => console.log(line));
  await browser.close();
}
