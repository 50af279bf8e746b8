/** Named events with typed arguments; a handler that throws doesn't keep the others from running. */

/** Map from event name to the handler's argument. */
export type EventMap = Record<string, unknown>;

/** Sends events to their subscribers. */
export class Emitter<Events extends EventMap> {
  readonly #handlers = new Map<keyof Events, Set<(argument: never) => void>>();
  readonly #report: (error: unknown) => void;

  constructor(report: (error: unknown) => void) {
    this.#report = report;
  }

  /** Subscribes; the result unsubscribes. */
  on<Name extends keyof Events>(name: Name, handler: (argument: Events[Name]) => void): () => void {
    const handlers = this.#handlers.get(name) ?? new Set();
    this.#handlers.set(name, handlers);
    handlers.add(handler as (argument: never) => void);
    return () => handlers.delete(handler as (argument: never) => void);
  }

  /** Calls every subscriber of `name`. */
  emit<Name extends keyof Events>(name: Name, argument: Events[Name]): void {
    for (const handler of [...(this.#handlers.get(name) ?? [])]) {
      try {
        (handler as (argument: Events[Name]) => void)(argument);
      } catch (error) {
        this.#report(error);
      }
    }
  }
}
