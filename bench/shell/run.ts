/**
 * Measures the shell beside WinBox and jsPanel: same page, same text, same number of windows, one after the other in one
 * run, so that the ratios hold although the machine is noisy. Every figure is the median of several rounds.
 */
import { cpus } from 'node:os';
import type { Browser } from 'playwright-core';
import { launch, median, quantile } from './browser.ts';
import { askingCost, dragCost, type Cost } from './drag.ts';
import { effectCosts } from './effects.ts';
import { thousandWindows } from './leak.ts';
import { LIBRARIES, closeMany, openMany, ready, type Library } from './open.ts';
import { serve } from './pages.ts';
import { coldStart, longTasks } from './start.ts';

const ROUNDS = Number(process.env.ROUNDS ?? 7);
const WINDOWS = 200;
const DRAG_WINDOWS = 50;
const REST_MS = 400;
const STARTS = 10;
const PLAIN_STARTS = 30;

function line(...cells: (string | number)[]): void {
  console.log(`| ${cells.map((cell) => (typeof cell === 'number' ? cell.toFixed(1) : cell)).join(' | ')} |`);
}

/** One figure per library and round, and how the shell's compares in each round. */
class Comparison {
  readonly #values: Record<Library, number[]> = { shell: [], winbox: [], jspanel: [] };

  add(library: Library, value: number): void {
    this.#values[library].push(value);
  }

  print(title: string): void {
    const { shell } = this.#values;
    const ratio = (other: Library) => {
      const ratios = shell.map((value, round) => value / (this.#values[other][round] ?? Number.NaN));
      return `${median(ratios).toFixed(2)} (${quantile(ratios, 0).toFixed(2)} to ${quantile(ratios, 1).toFixed(2)})`;
    };
    line(title, ...LIBRARIES.map((library) => median(this.#values[library])), ratio('winbox'), ratio('jspanel'));
  }
}

async function compare(browser: Browser, url: string): Promise<void> {
  const figures = new Map<string, Comparison>();
  const add = (title: string, library: Library, value: number) => {
    const comparison = figures.get(title) ?? new Comparison();
    comparison.add(library, value);
    figures.set(title, comparison);
  };
  const perMove = new Comparison();
  const parts = new Map<Library, Cost[]>(LIBRARIES.map((library) => [library, []]));
  const asking: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    const floor = await askingCost(browser, url);
    asking.push(floor);
    for (const library of LIBRARIES) {
      for (const pace of ['loop', 'turns'] as const) {
        const page = await ready(browser, url, library);
        const opened = await openMany(page, library, WINDOWS, pace);
        // What opening left to be drawn isn't closing's.
        await page.waitForTimeout(REST_MS);
        const closed = await closeMany(page, library, pace);
        await page.context().close();
        const how = pace === 'loop' ? 'in one loop' : 'with turns between';
        for (const [what, { settled, cpu }] of [
          ['opening', opened],
          ['closing', closed],
        ] as const) {
          add(`${what} ${WINDOWS} ${how}, settled ms`, library, settled);
          add(`of it the main thread’s own time (${what}, ${pace})`, library, cpu);
        }
      }
      const cost = await dragCost(browser, url, library, DRAG_WINDOWS);
      perMove.add(library, cost.perMove - floor);
      parts.get(library)?.push(cost);
    }
  }
  line('', ...LIBRARIES, 'shell : WinBox', 'shell : jsPanel');
  line('---', '---:', '---:', '---:', '---:', '---:');
  for (const [title, comparison] of figures) comparison.print(title);
  perMove.print(`main thread ms per move, ${DRAG_WINDOWS} open`);
  for (const part of ['script', 'style', 'layout', 'layouts'] as const) {
    const shares = LIBRARIES.map((library) => median((parts.get(library) ?? []).map((cost) => cost[part])));
    line(
      part === 'layouts' ? 'layouts in 120 moves' : `of it ${part}`,
      ...shares.map((figure) => figure.toFixed(2)),
      '',
      '',
    );
  }
  console.log(`\nThe moves were measured above the ${median(asking).toFixed(2)} ms that one costs on an empty page.\n`);
}

/** What a window costs, the more of them are open. */
async function growth(browser: Browser, url: string): Promise<void> {
  line('windows opened with turns', ...LIBRARIES.map((library) => `${library}, ms of the main thread a window`));
  line('---', '---:', '---:', '---:');
  for (const count of [50, 100, 200, 400]) {
    const costs = new Map<Library, number[]>(LIBRARIES.map((library) => [library, []]));
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const library of LIBRARIES) {
        const page = await ready(browser, url, library);
        costs.get(library)?.push((await openMany(page, library, count, 'turns')).cpu / count);
        await page.context().close();
      }
    }
    line(String(count), ...LIBRARIES.map((library) => median(costs.get(library) ?? []).toFixed(2)));
  }
  console.log();
}

async function starts(browser: Browser, url: string): Promise<void> {
  const all = [];
  for (let run = 0; run < STARTS; run += 1) all.push(await coldStart(browser, url));
  const readyAfter = median(all.map((start) => start.ready));
  const span = (values: number[]) => `${median(values).toFixed(0)} (at most ${quantile(values, 1).toFixed(0)})`;
  console.log(
    `Start with 100 apps and 60 shortcuts, ${STARTS} times: all drawn after ${readyAfter.toFixed(0)} ms; longest task ` +
      `${span(all.map((start) => start.longestCpu))} ms of the processor, ${span(all.map((start) => start.longestWall))} ms on the clock\n`,
  );
  const long = [];
  for (let run = 0; run < PLAIN_STARTS; run += 1) long.push(...(await longTasks(browser, url)));
  const found = long.length === 0 ? 'none' : long.map((duration) => `${duration.toFixed(0)} ms`).join(', ');
  console.log(`Long tasks in ${PLAIN_STARTS} starts without a trace: ${found}\n`);
}

async function effects(browser: Browser, url: string): Promise<void> {
  line('effect, ms per frame', 'script', 'slowest of 100', 'main thread, all', 'frames a second');
  line('---', '---:', '---:', '---:', '---:');
  for (const [effect, { script, slowest, whole, rate }] of await effectCosts(browser, url))
    line(effect, script.toFixed(2), slowest.toFixed(2), whole.toFixed(2), rate.toFixed(0));
}

async function leaks(browser: Browser, url: string): Promise<void> {
  const page = await ready(browser, url, 'shell');
  const { before, after } = await thousandWindows(page);
  await page.context().close();
  console.log(
    `\n1,000 windows opened and closed: heap ${before.heapMb.toFixed(2)} → ${after.heapMb.toFixed(2)} MB, nodes ${before.nodes} → ` +
      `${after.nodes}, listeners ${before.listeners} → ${after.listeners}`,
  );
}

const { server, url } = await serve();
const browser = await launch();
console.log(`${cpus()[0]?.model}, ${cpus().length} cores, Chromium ${browser.version()}, median of ${ROUNDS} rounds\n`);
const wanted = process.argv[2];
for (const [name, measure] of Object.entries({ compare, growth, starts, effects, leaks })) {
  if (!wanted || wanted === name) await measure(browser, url);
}
await browser.close();
server.close();
