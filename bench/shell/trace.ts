/** Reads what the main thread did from a trace. */
import type { Browser, Page } from 'playwright-core';

interface TraceEvent {
  name: string;
  ph: string;
  pid: number;
  tid: number;
  ts: number;
  /** Microseconds on the clock. */
  dur?: number;
  /** Microseconds of the thread's own time. */
  tdur?: number;
  args: { data?: { url?: string } };
}

/** One task of the main thread, in milliseconds: on the clock, and of the processor. */
export interface Task {
  wall: number;
  cpu: number;
}

/** Records what `act`, which goes to an address, makes the page's main thread do; the tasks of the new document. */
export async function tasksOf(browser: Browser, page: Page, act: () => Promise<void>): Promise<Task[]> {
  await browser.startTracing(page, {
    categories: ['devtools.timeline', 'disabled-by-default-devtools.timeline', 'toplevel', 'v8'],
  });
  await act();
  const trace = JSON.parse((await browser.stopTracing()).toString()) as { traceEvents: TraceEvent[] };
  // The browser's own pages have renderers too; the page's is the one that ran the shell.
  const ours = trace.traceEvents.find((event) => event.args.data?.url?.includes('/shell/shell.js'));
  const own = trace.traceEvents.filter((event) => event.pid === ours?.pid && event.tid === ours?.tid);
  // What the browser does to take up a new document comes before it, and is the same whatever the page holds.
  const begun = own.find((event) => event.name === 'CommitLoad' && event.args.data?.url === page.url())?.ts;
  if (begun === undefined) throw new Error('the trace lacks the start of the document');
  return own
    .filter((event) => event.name === 'RunTask' && event.ts > begun)
    .map((task) => ({ wall: (task.dur ?? 0) / 1000, cpu: (task.tdur ?? 0) / 1000 }));
}
