/** Notices of apps: shown for a moment, and kept until they're cleared or somebody else signs in. */
import { signal } from './core/signal.ts';
import { checkNotice } from './core/validate.ts';
import type { Notice } from './types.ts';

/** The most that are kept: the oldest go first. */
const MOST = 50;

/** A notice with its time. */
export interface KeptNotice extends Notice {
  id: number;
  at: Date;
  seen: boolean;
}

/** Keeps notices. */
export class Notices {
  /** The latest first. */
  readonly list = signal<readonly KeptNotice[]>([]);
  #count = 0;

  /** Adds a notice; the result takes it back. */
  add(notice: Notice): () => void {
    checkNotice(notice);
    this.#count += 1;
    const id = this.#count;
    this.list.update((list) => [{ ...notice, id, at: new Date(), seen: false }, ...list].slice(0, MOST));
    return () => this.remove(id);
  }

  remove(id: number): void {
    this.list.update((list) => list.filter((one) => one.id !== id));
  }

  clear(): void {
    if (this.list.peek().length > 0) this.list.set([]);
  }

  /** Marks all of them as seen. */
  see(): void {
    if (this.list.peek().some((one) => !one.seen))
      this.list.update((list) => list.map((one) => (one.seen ? one : { ...one, seen: true })));
  }
}
