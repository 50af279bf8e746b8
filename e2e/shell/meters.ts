/** Tell what is alive in a page, in each engine's own terms. */
import type { Browser, CDPSession, Page } from 'playwright-core';
import { privileged } from '../../shell/scripts/firefox.ts';
import { engineOf } from './browser.ts';

/** What is alive in a page after a garbage collection. */
export interface Alive {
  heapMb: number;
  nodes: number;
  listeners: number;
  documents: number;
}

/** What is told of a page, by the name of its column. */
export type Reading = Readonly<Record<string, number>>;

/** Reads a page. */
export interface Meter {
  /** What may be more at the end than at the beginning, by column; what isn't named may grow. */
  readonly tolerated: Reading;
  /** Collects garbage, and tells what is left. */
  read(): Promise<Reading>;
  /** Seconds of a processor that all processes of the browser have taken so far. */
  processorSeconds(): Promise<number>;
}

/** A window that stayed would be some 10 KB and 40 nodes; its nodes, or those of its task, 4 KB in Firefox. */
const PAGE_MB = 0.1;
const MEGABYTE = 1_048_576;

/** What Chromium counts in a page after a garbage collection. */
export async function alive(session: CDPSession): Promise<Alive> {
  for (let round = 0; round < 3; round += 1) await session.send('HeapProfiler.collectGarbage');
  const { usedSize } = await session.send('Runtime.getHeapUsage');
  const { nodes, jsEventListeners, documents } = await session.send('Memory.getDOMCounters');
  return { heapMb: usedSize / MEGABYTE, nodes, listeners: jsEventListeners, documents };
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
    sums[sum] += (nodes[at + size] ?? 0) / MEGABYTE;
  }
  return sums;
}

/** Reads a page by the DevTools protocol. */
async function chromiumMeter(browser: Browser, page: Page): Promise<Meter> {
  const session = await page.context().newCDPSession(page);
  const processes = await browser.newBrowserCDPSession();
  return {
    tolerated: { 'of the page': PAGE_MB, nodes: 4, listeners: 2, documents: 0 },
    async read() {
      const { heapMb, nodes, listeners, documents } = await alive(session);
      const kinds = await heapByKind(session);
      const heaps = { 'heap MB': heapMb, 'of the page': kinds.page, compiled: kinds.compiled };
      return { ...heaps, 'the browser’s': kinds.browser, nodes, listeners, documents };
    },
    async processorSeconds() {
      const { processInfo } = await processes.send('SystemInfo.getProcessInfo');
      return processInfo.reduce((sum, { cpuTime }) => sum + cpuTime, 0);
    },
  };
}

/** What `about:memory` says of this server's pages, with the garbage out of the way in every process. */
const REPORTS = `(async () => {
  const manager = Cc['@mozilla.org/memory-reporter-manager;1'].getService(Ci.nsIMemoryReporterManager);
  for (let round = 0; round < 6; round += 1) {
    for (const topic of ['child-gc-request', 'child-cc-request', 'child-mmu-request'])
      Services.obs.notifyObservers(null, topic);
    await new Promise((resolve) => manager.minimizeMemoryUsage(resolve));
    await new Promise((resolve) => ChromeUtils.idleDispatch(resolve));
  }
  const reports = [];
  await new Promise((resolve) => {
    const report = (process, path, _kind, _units, amount) => {
      if (process.includes('http://127.0.0.1') && /window-objects|^ghost-windows$/.test(path)) reports.push([path, amount]);
    };
    manager.getReports(report, null, resolve, null, false);
  });
  return JSON.stringify(reports);
})()`;

const PROCESSORS = `ChromeUtils.requestProcInfo().then(({ cpuTime, children }) =>
  JSON.stringify(children.reduce((sum, child) => sum + child.cpuTime, cpuTime) / 1e9))`;

/** What the engine compiled, and what it keeps to lay out and find things faster; the rest a page can leak. */
const COMPILED = /jit|baseline|ion-data|cacheir|script|scopes|warp/;
const BROWSERS =
  /\/layout\/|unused-gc|arena-admin|shape|property-maps|propmap|getter-setters|performance|sundries|regexp/;

/**
 * Reads a page by what Firefox tells in `about:memory`; it must have been started with `SYSTEM_ACCESS`. Pages in frames aren't the
 * page's own: WebDriver's debugger in Firefox keeps those that closed while they loaded (it holds their window for a realm that it
 * doesn't end). A frame that the page keeps is among its nodes.
 */
function firefoxMeter(browser: Browser, page: Page): Meter {
  return {
    tolerated: { 'of the page MB': PAGE_MB, 'nodes KB': 3, listeners: 2, ghosts: 0 },
    async read() {
      const reports = JSON.parse(await privileged(browser, REPORTS)) as [path: string, amount: number][];
      const all = reports.filter(([path]) => path.startsWith('explicit/'));
      const own = `/active/window(${page.url().replaceAll('/', '\\')})/`;
      const memory = all.filter(([path]) => path.includes(own));
      const sum = (chosen: typeof reports) => chosen.reduce((total, [, amount]) => total + amount, 0);
      const compiled = memory.filter(([path]) => COMPILED.test(path));
      const browsers = memory.filter(([path]) => !COMPILED.test(path) && BROWSERS.test(path));
      const windows = all.map(([path]) => /top\([^/]*\/(?:active|cached|detached)\/window\([^/]*/.exec(path)?.[0]);
      return {
        'of the page MB': (sum(memory) - sum(compiled) - sum(browsers)) / MEGABYTE,
        compiled: sum(compiled) / MEGABYTE,
        'the browser’s': sum(browsers) / MEGABYTE,
        'nodes KB': sum(memory.filter(([path]) => /\/dom\/[a-z]+-nodes|orphan-nodes/.test(path))) / 1024,
        listeners: sum(reports.filter(([path]) => path.includes(own) && path.endsWith('event-listeners'))),
        documents: new Set(windows.filter(Boolean)).size,
        ghosts: sum(reports.filter(([path]) => path === 'ghost-windows')),
      };
    },
    async processorSeconds() {
      return JSON.parse(await privileged(browser, PROCESSORS)) as number;
    },
  };
}

/** Reads a page, whichever browser it is in. */
export async function meterOf(page: Page): Promise<Meter> {
  const browser = page.context().browser();
  if (!browser) throw new Error('the page has no browser any more');
  return engineOf(page) === 'firefox' ? firefoxMeter(browser, page) : chromiumMeter(browser, page);
}

/** What is more than tolerated. */
export function grown(meter: Meter, first: Reading, last: Reading): string[] {
  return Object.entries(meter.tolerated)
    .filter(([column, more]) => (last[column] ?? 0) > (first[column] ?? 0) + more)
    .map(([column]) => `${column}: ${first[column]} became ${last[column]}`);
}
