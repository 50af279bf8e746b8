/** What can be done with several tasks at once. Pure. */

/** What is known of a task. */
export interface Offering {
  readonly entityType: string;
  readonly entityTitle: string;
  readonly choices: readonly { readonly name: string; readonly title: string; readonly needsComment: boolean }[];
}

/** A transition with those of the tasks that can take it, which are of one set. */
export interface Offer<T> {
  readonly set: string;
  readonly setTitle: string;
  readonly name: string;
  readonly title: string;
  readonly needsComment: boolean;
  readonly tasks: readonly T[];
}

/** The transitions that some of the tasks can take: what most can comes first, and else as the tasks have them. */
export function offersOf<T extends Offering>(tasks: readonly T[]): Offer<T>[] {
  const offers = new Map<string, Offer<T> & { tasks: T[] }>();
  for (const task of tasks) {
    for (const { name, title, needsComment } of task.choices) {
      const { entityType: set, entityTitle: setTitle } = task;
      const key = JSON.stringify([set, name]);
      const offer = offers.get(key) ?? { set, setTitle, name, title, needsComment, tasks: [] };
      offer.tasks.push(task);
      offers.set(key, offer);
    }
  }
  return [...offers.values()].sort((one, other) => other.tasks.length - one.tasks.length);
}

/** Parts of a list, none longer than `most`. */
export function partsOf<T>(list: readonly T[], most: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / most) }, (_none, at) => list.slice(at * most, (at + 1) * most));
}
