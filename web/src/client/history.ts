/** The history of records, where the application keeps one. */
import type { Entry, RestoreMode } from '../core/history.ts';
import { send } from './request.ts';

const ROOT = '/api/v1/history';
/** Entries that are asked for at once. */
const TAKE = 20;
/** A page may hold nothing though there is more behind it. */
const EMPTY_PAGES = 20;

/** What looking at the history asks for; nobody holds it where there is none. */
export const VIEW_HISTORY = 'History.View';

let kept: Promise<ReadonlyMap<string, boolean>> | undefined;

/** The sets whose history this person may read, and whether their records can be taken back. */
export function keptSets(): Promise<ReadonlyMap<string, boolean>> {
  kept ??= send<{ items: { set: string; restorable: boolean }[] }>(ROOT).then(
    ({ body }) => new Map(body.items.map(({ set, restorable }) => [set, restorable])),
    (error: unknown) => {
      // Asked again by the next one.
      kept = undefined;
      throw error;
    },
  );
  return kept;
}

function pathOf(set: string, key: string): string {
  return `${ROOT}/${encodeURIComponent(set)}/${encodeURIComponent(key)}`;
}

/** Entries, the newest first. */
export interface Entries {
  readonly items: readonly Entry[];
  readonly next: string | null;
}

/** What happened to a record, from a place on. */
export async function entriesOf(set: string, key: string, after: string | null, signal: AbortSignal): Promise<Entries> {
  let from = after;
  for (let page = 1; ; page += 1) {
    const query = new URLSearchParams({ take: String(TAKE), ...(from === null ? {} : { after: from }) });
    const { body } = await send<Entries>(`${pathOf(set, key)}?${query}`, { signal });
    if (body.items.length > 0 || body.next === null || page === EMPTY_PAGES) return body;
    from = body.next;
  }
}

/** What a field would become. */
export interface PreviewField {
  readonly name: string;
  readonly label: string;
  readonly now: unknown;
  readonly restored: unknown;
  /** Others have changed it since; an undo leaves it unless it is named. */
  readonly changedLater: boolean;
  /** Why it can't go back. */
  readonly problem: string | null;
  /** The same for programs. */
  readonly code: string | null;
}

/** What becomes of the record. */
export type RestoreAction = 'change' | 'delete' | 'restore' | 'create' | 'nothing';

/** What a restore would do. */
export interface Preview {
  readonly version: number;
  readonly action: RestoreAction;
  readonly fields: readonly PreviewField[];
  /** Why it would be refused as a whole. */
  readonly problem: string | null;
  /** The code of that refusal. */
  readonly code: string | null;
}

/** What would happen. */
export async function previewOf(set: string, key: string, entry: string, mode: RestoreMode): Promise<Preview> {
  return (await send<Preview>(`${pathOf(set, key)}/${entry}/preview?mode=${mode}`)).body;
}

/** Has it happen, if the record still is what the preview was made of. */
export async function restore(
  set: string,
  key: string,
  request: { entry: string; version: number; mode: RestoreMode; fields?: readonly string[] },
): Promise<RestoreAction> {
  const { body } = await send<{ action: RestoreAction }>(`${pathOf(set, key)}/restore`, {
    method: 'POST',
    body: request,
  });
  return body.action;
}
