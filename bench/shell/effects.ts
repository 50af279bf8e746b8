/** What a frame of each effect costs. */
import type { Browser } from 'playwright-core';
import { devTools, median, VIEWPORT } from './browser.ts';

/** All that can be chosen. */
export const EFFECTS = ['logos', 'snow', 'starfield', 'warp', 'network', 'aurora'] as const;

const WATCH_MS = 3000;

/** Milliseconds of the main thread for one drawn frame. */
export interface EffectCost {
  /** The effect's own code, the median and the slowest of a hundred. */
  script: number;
  slowest: number;
  /** Everything: code, recording the canvas, style, paint, commit, above what the desktop costs at rest. */
  whole: number;
  /** Frames drawn in a second. */
  rate: number;
}

interface Watched {
  frames: number;
  spent: number[];
  busy: number;
}

async function watch(browser: Browser, url: string, effect: string): Promise<Watched> {
  const context = await browser.newContext({ viewport: VIEWPORT });
  const page = await context.newPage();
  await page.addInitScript(() => {
    const holder = window as unknown as { spent: number[]; cleared: number };
    holder.spent = [];
    holder.cleared = 0;
    const clear = CanvasRenderingContext2D.prototype.clearRect;
    CanvasRenderingContext2D.prototype.clearRect = function (...box) {
      holder.cleared += 1;
      clear.apply(this, box);
    };
    const original = window.requestAnimationFrame.bind(window);
    window.requestAnimationFrame = (callback) =>
      original((now) => {
        const [began, before] = [performance.now(), holder.cleared];
        callback(now);
        if (holder.cleared > before) holder.spent.push(performance.now() - began);
      });
  });
  await page.goto(`${url}/shell`);
  await page.evaluate((name) => {
    window.Shell.configure({ defaults: { effect: name as 'snow' } });
    document.body.append(document.createElement('shell-desktop'));
  }, effect);
  await page.waitForTimeout(1000);
  const session = await devTools(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const busy = async () =>
    (await session.send('Performance.getMetrics')).metrics.find((metric) => metric.name === 'TaskDuration')?.value ?? 0;
  const frames = () => page.evaluate(() => (window as unknown as { cleared: number }).cleared);
  const [framesBefore, busyBefore] = [await frames(), await busy()];
  await page.waitForTimeout(WATCH_MS);
  const [framesAfter, busyAfter] = [await frames(), await busy()];
  const spent = await page.evaluate(() => (window as unknown as { spent: number[] }).spent.slice(5));
  await context.close();
  return { frames: framesAfter - framesBefore, spent, busy: (busyAfter - busyBefore) * 1000 };
}

/** The cost of every effect. */
export async function effectCosts(browser: Browser, url: string): Promise<Map<string, EffectCost>> {
  const rest = await watch(browser, url, 'none');
  const costs = new Map<string, EffectCost>();
  for (const effect of EFFECTS) {
    const { frames, spent, busy } = await watch(browser, url, effect);
    const sorted = spent.toSorted((a, b) => a - b);
    costs.set(effect, {
      script: median(spent),
      slowest: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN,
      whole: (busy - rest.busy) / frames,
      rate: frames / (WATCH_MS / 1000),
    });
  }
  return costs;
}
