/** Looks when there may be something to see, and not too often. */

/**
 * Looks when it's told that something happened: at once where the last look is long enough ago, and else when it is. While nobody
 * sees the page it waits until somebody does, and looks then in any case, since not all that happens is told.
 */
export class Pace {
  readonly #leastMs: number;
  readonly #look: () => void;
  readonly #seen = () => this.soon();
  #last = Number.NEGATIVE_INFINITY;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Begins without a look. */
  constructor(leastMs: number, look: () => void) {
    this.#leastMs = leastMs;
    this.#look = look;
    document.addEventListener('visibilitychange', this.#seen);
  }

  /** Something may have happened. */
  soon(): void {
    if (document.hidden) return;
    this.#timer ??= setTimeout(() => this.now(), Math.max(0, this.#last + this.#leastMs - Date.now()));
  }

  /** Looks at once: the person did something. */
  now(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (document.hidden) return;
    this.#last = Date.now();
    this.#look();
  }

  end(): void {
    clearTimeout(this.#timer);
    document.removeEventListener('visibilitychange', this.#seen);
  }
}
