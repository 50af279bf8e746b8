/** What tasks are about: what says most about their records, asked for once for each version. A help; without it there is the name. */
import { knownModel, readFacts } from '@svc/web';
import { versionOf, type Task } from './api.ts';

export class About {
  readonly #known = new Map<string, string>();
  readonly #changed: () => void;
  #isAsking = false;

  constructor(changed: () => void) {
    this.#changed = changed;
  }

  /** What a task is about; nothing while that isn't known. */
  of(task: Task): string {
    return this.#known.get(versionOf(task)) ?? '';
  }

  /** Asks for what isn't known of the tasks that there are, set by set, and forgets the others. */
  async ask(tasks: () => readonly Task[]): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    const versions = new Set(tasks().map(versionOf));
    for (const version of this.#known.keys()) if (!versions.has(version)) this.#known.delete(version);
    for (;;) {
      const unknown = tasks().filter((task) => !this.#known.has(versionOf(task)));
      const set = unknown[0]?.entityType;
      if (set === undefined) break;
      await this.#askOf(
        set,
        unknown.filter(({ entityType }) => entityType === set),
      );
      this.#changed();
    }
    this.#isAsking = false;
  }

  async #askOf(set: string, tasks: readonly Task[]): Promise<void> {
    const model = knownModel();
    const known = model.get(set);
    const ids = tasks.map(({ id }) => id);
    const found = known ? await readFacts(model, known, ids).catch(() => undefined) : undefined;
    for (const task of tasks) this.#known.set(versionOf(task), found?.get(task.id) ?? '');
  }
}
