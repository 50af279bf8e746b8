/**
 * Views of a list under names: those that a person keeps are a document of the person's own on the server, those that are shared
 * are the organisation's.
 */
import { send } from '../client/request.ts';
import { readState, withoutPlace, writeState, type ListState } from '../core/list-state.ts';
import type { EntitySet } from '../core/model.ts';
import { Problem } from '../core/problem.ts';

/** A view under its name. */
export interface SavedView {
  readonly name: string;
  readonly state: ListState;
  /** All who may see the list have it. */
  readonly isShared?: boolean;
}

/** The permission to share views. */
export const SHARE_VIEWS = 'Web.ShareViews';
/** Own views of one list, at most. */
export const MOST_VIEWS = 50;
const LONGEST_NAME = 80;

function address(set: EntitySet): string {
  return `/api/v1/profile?key=${encodeURIComponent(`web.views.${set.name}`)}`;
}

function sharedAddress(set: EntitySet, name?: string): string {
  const of = `/api/v1/web/views/${encodeURIComponent(set.name)}`;
  return name === undefined ? of : `${of}/${encodeURIComponent(name)}`;
}

interface Kept {
  readonly views: readonly SavedView[];
  readonly etag: string | undefined;
}

function readViews(set: EntitySet, body: unknown): SavedView[] {
  const views = typeof body === 'object' && body !== null ? (body as { views?: unknown }).views : undefined;
  if (!Array.isArray(views)) return [];
  return views.flatMap((one: unknown) => {
    const { name, state } = (one ?? {}) as { name?: unknown; state?: unknown };
    return typeof name === 'string' && name !== '' ? [{ name, state: readState(set, state) }] : [];
  });
}

async function ask(set: EntitySet): Promise<Kept> {
  const { body, etag } = await send(address(set));
  return { views: readViews(set, body), etag };
}

async function sharedViews(set: EntitySet): Promise<SavedView[]> {
  const { body } = await send(sharedAddress(set));
  return readViews(set, body).map((view) => ({ ...view, isShared: true }));
}

/** The views of a list: those that are shared, and one's own. */
export async function savedViews(set: EntitySet): Promise<readonly SavedView[]> {
  const [shared, own] = await Promise.all([sharedViews(set), ask(set)]);
  return [...shared, ...own.views];
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

/** Keeps a view; one of the same name is replaced. Gives back all views of the list. */
export async function keepView(
  set: EntitySet,
  views: readonly SavedView[],
  name: string,
  state: ListState,
): Promise<readonly SavedView[]> {
  const view = { name: name.slice(0, LONGEST_NAME), state: withoutPlace(state) };
  const own = await change(set, (kept) => [...kept.filter((one) => one.name !== view.name), view]);
  return [...views.filter(({ isShared }) => isShared), ...own];
}

/** Forgets a view. */
export async function forgetView(
  set: EntitySet,
  views: readonly SavedView[],
  name: string,
): Promise<readonly SavedView[]> {
  const own = await change(set, (kept) => kept.filter((one) => one.name !== name));
  return [...views.filter(({ isShared }) => isShared), ...own];
}

/** Shares a view with all who may see the list. */
export async function shareView(set: EntitySet, { name, state }: SavedView): Promise<readonly SavedView[]> {
  await send(sharedAddress(set, name), { method: 'PUT', body: writeState(withoutPlace(state)) });
  return savedViews(set);
}

/** Stops sharing a view; what somebody keeps stays. */
export async function stopSharing(set: EntitySet, { name }: SavedView): Promise<readonly SavedView[]> {
  await send(sharedAddress(set, name), { method: 'DELETE' });
  return savedViews(set);
}
