/**
 * What is said of a time goes on with the clock: one ticker for all that is in the page, which rests while nobody sees it.
 *
 * It says anew only the times themselves; what else stands beside them is drawn when something happens.
 */
import { AsyncDirective } from 'lit/async-directive.js';
import { directive } from 'lit/directive.js';

/** How often times are said anew: a second more or less is no news. */
const TICK_MS = 10_000;

const shown = new Set<Ticking>();
let timer: ReturnType<typeof setInterval> | undefined;

function tick(): void {
  for (const one of shown) one.say();
}

/** Goes while there is something to say to somebody. */
function goOrRest(): void {
  const isWanted = shown.size > 0 && !document.hidden;
  if (isWanted === (timer !== undefined)) return;
  clearInterval(timer);
  timer = isWanted ? setInterval(tick, TICK_MS) : undefined;
}

function follow(): void {
  goOrRest();
  // Whoever comes back sees how it is now.
  if (!document.hidden) tick();
}

class Ticking extends AsyncDirective {
  #words: (() => unknown) | undefined;

  render(words: () => unknown): unknown {
    this.#words = words;
    if (this.isConnected) this.#join();
    return words();
  }

  say(): void {
    if (this.#words) this.setValue(this.#words());
  }

  protected override disconnected(): void {
    shown.delete(this);
    goOrRest();
  }

  protected override reconnected(): void {
    this.#join();
    this.say();
  }

  #join(): void {
    if (shown.size === 0) document.addEventListener('visibilitychange', follow);
    shown.add(this);
    goOrRest();
  }
}

/** What `words` says, said anew as time goes by. */
export const ticking = directive(Ticking);
