/** What awaits the person, as the module's API tells it. */
import { send, type State } from '@svc/web/server';
import type { Order } from './view.ts';

const TASKS = '/api/v1/workflows/tasks';

/** A transition that the person can take now. */
export interface Choice {
  readonly name: string;
  readonly title: string;
  readonly to: State;
  readonly needsComment: boolean;
}

/** A record that awaits the person. */
export interface Task {
  readonly entityType: string;
  readonly entityTitle: string;
  readonly id: string;
  readonly title: string | null;
  /** What was seen, which a transition sends. */
  readonly version: string;
  readonly state: State;
  readonly since: string | null;
  readonly due: string | null;
  readonly choices: readonly Choice[];
}

/** How much of a set awaits the person. */
export interface Count {
  readonly entityType: string;
  readonly title: string;
  readonly count: number;
}

/** The address of the list, of one set or of all. */
export function tasksPath(order: Order, set: string | undefined): string {
  const query = new URLSearchParams({ order, ...(set === undefined ? {} : { entityType: set }) });
  return `${TASKS}?${query}`;
}

export async function readCounts(): Promise<readonly Count[]> {
  return (await send<{ items: Count[] }>(`${TASKS}/counts`)).body.items;
}

/** What a task is known by within the list. */
export function keyOf({ entityType, id }: Pick<Task, 'entityType' | 'id'>): string {
  return `${entityType}/${id}`;
}

/** What a task is known by as it is: anew after each step, and each change of its record. */
export function versionOf(task: Task): string {
  return `${keyOf(task)} ${task.version}`;
}

/** What people call it: its record's own name, or what it is one of. */
export function nameOf({ title, entityTitle }: Task): string {
  return title ?? entityTitle;
}
