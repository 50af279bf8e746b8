/** What the tabs of one browser tell each other about sessions. */
import type { Session } from '../types.ts';

/** Somebody signed in or out in a tab, or their session was refreshed there. */
export interface TabMessage {
  kind: 'login' | 'logout' | 'session';
  provider: string;
  person: string | undefined;
  session?: Session;
}

/** A tab that doesn't hear itself for so long goes on without. */
const ECHO_MS = 5_000;
const NAME = 'svc-shell session';

/** The line between the tabs. */
export class Tabs {
  readonly #channel = new BroadcastChannel(NAME);
  /** A second end of the line in the same tab, since a channel doesn't hear itself. */
  readonly #echo = new BroadcastChannel(NAME);
  readonly #waiting = new Map<string, () => void>();

  constructor(hear: (message: TabMessage) => void) {
    this.#channel.onmessage = ({ data }) => {
      if (typeof data !== 'string') hear(data as TabMessage);
      else this.#waiting.get(data)?.();
    };
  }

  /** In a task of its own: Firefox writes to its storage what a task said only when that ends, and the others look there. */
  send(message: TabMessage): void {
    setTimeout(() => this.#channel.postMessage(message));
  }

  /** Waits for this tab's own call to come back: all that was said before it has been heard by then. */
  #heard(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const call = crypto.randomUUID();
    const late = setTimeout(resolve, ECHO_MS);
    this.#waiting.set(call, resolve);
    setTimeout(() => this.#echo.postMessage(call));
    return promise.finally(() => {
      clearTimeout(late);
      this.#waiting.delete(call);
    });
  }

  /** Runs `work` in one tab at a time, which has heard by then what the tab before it said. */
  async once<T>(provider: string, person: string | undefined, work: () => Promise<T>): Promise<T> {
    // Pages that aren't secure contexts have no locks; each tab then refreshes for itself.
    if (!navigator.locks) return work();
    return navigator.locks.request(`svc-shell refresh ${provider} ${person ?? ''}`, async () => {
      await this.#heard();
      try {
        return await work();
      } finally {
        await this.#heard();
      }
    }) as Promise<T>;
  }
}
