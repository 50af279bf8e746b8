/** How much awaits the person: one answer for the list and the badge, whoever of them asked. */
import { readCounts, type Count } from './api.ts';

/** What the server counts of a set at most; that many stands for more, too. */
export const MOST_COUNTED = 500;

const listeners = new Set<(counts: readonly Count[]) => void>();
let asking: Promise<void> | undefined;
let isStale = false;

async function ask(): Promise<void> {
  do {
    isStale = false;
    const counts = await readCounts();
    for (const listener of listeners) listener(counts);
  } while (isStale);
}

/** Asks anew, one request at a time. What can't be asked just now is asked the next time; until then what was told last holds. */
export function askCounts(): Promise<void> {
  isStale = true;
  asking ??= ask()
    .catch(() => undefined)
    .finally(() => {
      asking = undefined;
    });
  return asking;
}

/** Hears of each answer. Returns the undo. */
export function onCounts(listener: (counts: readonly Count[]) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** How many there are in all. */
export function totalOf(counts: readonly Count[]): number {
  return counts.reduce((sum, { count }) => sum + count, 0);
}
