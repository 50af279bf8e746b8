/** Views of a list that a person keeps under names: a document of the person's own on the server. */
import { send } from '../client/request.ts';
import { readState, withoutPlace, writeState, type ListState } from '../core/list-state.ts';
import type { EntitySet } from '../core/model.ts';
import { Problem } from '../core/problem.ts';

/** A view under its name. */
export interface SavedView {
  readonly name: string;
  readonly state: ListState;
}

/** Views of one list, at most. */
export const MOST_VIEWS = 50;
const LONGEST_NAME = 80;

function address(set: EntitySet): string {
  return `/api/v1/profile?key=${encodeURIComponent(`web.views.${set.name}`)}`;
}

interface Kept {
  readonly views: readonly SavedView[];
  readonly etag: string | undefined;
}

function readViews(set: EntitySet, body: unknown): SavedView[] {
  const views = typeof body === 'object' && body !== null ? (body as { views?: unknown }).views : undefined;
  if (!Array.isArray(views)) return [];
  return views.slice(0, MOST_VIEWS).flatMap((one: unknown) => {
    const { name, state } = (one ?? {}) as { name?: unknown; state?: unknown };
    return typeof name === 'string' && name !== '' ? [{ name, state: readState(set, state) }] : [];
  });
}

async function ask(set: EntitySet): Promise<Kept> {
  const { body, etag } = await send(address(set));
  return { views: readViews(set, body), etag };
}

/** The views of a list. */
export async function savedViews(set: EntitySet): Promise<readonly SavedView[]> {
  return (await ask(set)).views;
}

/** Changes them: what another window has kept meanwhile stays. */
async function change(
  set: EntitySet,
  work: (views: readonly SavedView[]) => readonly SavedView[],
): Promise<readonly SavedView[]> {
  for (let attempt = 0; ; attempt += 1) {
    const { views, etag } = await ask(set);
    const next = work(views).slice(-MOST_VIEWS);
    const body = { views: next.map(({ name, state }) => ({ name, state: writeState(state) })) };
    try {
      const headers: Record<string, string> = etag ? { 'if-match': etag } : { 'if-none-match': '*' };
      await send(address(set), { method: 'PUT', body, headers });
      return next;
    } catch (error) {
      if (!(error instanceof Problem && error.isConflict) || attempt === 2) throw error;
    }
  }
}

/** Keeps a view; one of the same name is replaced. */
export function keepView(set: EntitySet, name: string, state: ListState): Promise<readonly SavedView[]> {
  const view = { name: name.slice(0, LONGEST_NAME), state: withoutPlace(state) };
  return change(set, (views) => [...views.filter((one) => one.name !== view.name), view]);
}

/** Forgets a view. */
export function forgetView(set: EntitySet, name: string): Promise<readonly SavedView[]> {
  return change(set, (views) => views.filter((one) => one.name !== name));
}
