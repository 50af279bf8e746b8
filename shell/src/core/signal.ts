/**
 * Values that tell who reads them: the smallest thing that keeps a live desktop true.
 *
 * An effect runs at once, remembers every signal it read, and runs again in a microtask after one of them changed.
 * Many changes in one turn cause one run. Whatever is made inside a scope ends with the scope.
 */

/** Ends what a call started. Calling it twice does no harm. */
export type Dispose = () => void;

/** A value with readers. */
export interface Signal<T> {
  /** Reads the value and, inside an effect, subscribes the effect to it. */
  (): T;
  /** Replaces the value; readers run when it differs. */
  set(value: T): void;
  /** Replaces the value by a function of the old one. */
  update(change: (old: T) => T): void;
  /** Reads without subscribing. */
  peek(): T;
}

interface Reaction {
  run(): void;
  sources: Set<Set<Reaction>>;
  dead: boolean;
}

let current: Reaction | undefined;
let owner: Dispose[] | undefined;
let queue: Set<Reaction> | undefined;

function schedule(reaction: Reaction): void {
  if (!queue) {
    queue = new Set();
    Promise.resolve().then(flush);
  }
  queue.add(reaction);
}

/** Runs every waiting effect now. */
export function flush(): void {
  const failures: unknown[] = [];
  // An effect may change what another reads, so a round can cause a further one; a cycle would never settle.
  for (let round = 0; queue && queue.size > 0; round += 1) {
    const batch = queue;
    queue = round > 100 ? undefined : new Set();
    if (!queue) throw new Error('effects run in circles');
    for (const reaction of batch) {
      try {
        if (!reaction.dead) reaction.run();
      } catch (error) {
        failures.push(error);
      }
    }
  }
  queue = undefined;
  // One that failed kept no other from running.
  if (failures.length > 0) throw failures[0];
}

/** Makes a signal. */
export function signal<T>(initial: T): Signal<T> {
  let value = initial;
  const readers = new Set<Reaction>();
  const read = (() => {
    if (current) {
      readers.add(current);
      current.sources.add(readers);
    }
    return value;
  }) as Signal<T>;
  read.peek = () => value;
  read.set = (next) => {
    if (Object.is(next, value)) return;
    value = next;
    for (const reader of readers) schedule(reader);
  };
  read.update = (change) => read.set(change(value));
  return read;
}

/** Runs `body` now and again after each change of a signal that it read. What it returns is called before each rerun and at the end. */
// biome-ignore lint/suspicious/noConfusingVoidType: an effect body may return nothing at all.
export function effect(body: () => Dispose | void): Dispose {
  let inner: Dispose[] = [];
  const clear = () => {
    for (const source of reaction.sources) source.delete(reaction);
    reaction.sources.clear();
    for (const end of inner) end();
    inner = [];
  };
  const reaction: Reaction = {
    sources: new Set(),
    dead: false,
    run() {
      clear();
      const [outerReaction, outerOwner] = [current, owner];
      current = reaction;
      owner = inner;
      try {
        const cleanup = body();
        if (cleanup) inner.push(cleanup);
      } finally {
        current = outerReaction;
        owner = outerOwner;
      }
    },
  };
  reaction.run();
  const dispose = () => {
    reaction.dead = true;
    clear();
  };
  owner?.push(dispose);
  return dispose;
}

/** Reads inside `body` without subscribing. */
export function untracked<T>(body: () => T): T {
  const outer = current;
  current = undefined;
  try {
    return body();
  } finally {
    current = outer;
  }
}

/** Collects what `body` starts and returns its result with one function that ends all of it. */
export function scope<T>(body: () => T): [T, Dispose] {
  const disposables: Dispose[] = [];
  const [outerReaction, outerOwner] = [current, owner];
  current = undefined;
  owner = disposables;
  try {
    const result = body();
    return [
      result,
      () => {
        for (const end of disposables.splice(0).reverse()) end();
      },
    ];
  } finally {
    current = outerReaction;
    owner = outerOwner;
  }
}

/** Hands `end` to the surrounding scope or effect. */
export function onDispose(end: Dispose): void {
  owner?.push(end);
}
