/** What happened to records, as the server tells it, and in which words it's said. */
import type { Row } from './pages.ts';

/** A value that was changed. */
export interface ChangedField {
  readonly name: string;
  /** What the server calls it, for a property that this person's `$metadata` doesn't have. */
  readonly label: string;
  readonly before: unknown;
  readonly after: unknown;
}

/** Who did something. */
export interface Author {
  readonly userId: string | null;
  readonly displayName: string;
  readonly apiKeyId: string | null;
  readonly jobId: string | null;
}

/** What can be done to a record. */
export type HistoryOperation = 'created' | 'updated' | 'deleted' | 'restored' | 'purged' | 'event';

/** What one unit of work did to a record. */
export interface Entry {
  readonly id: string;
  readonly operation: HistoryOperation;
  readonly time: string;
  readonly by: Author;
  readonly version: number;
  readonly unitOfWork: string;
  readonly requestId: string;
  readonly tookBack: string | null;
  readonly fields: readonly ChangedField[];
  /** The event, where it's no change of the record but something else that happened to it, with its data. */
  readonly event?: string | null;
  readonly data?: unknown;
}

/** Back to what came of an entry, to what was before it, or only what the entry itself changed. */
export type RestoreMode = 'After' | 'Before' | 'Undo';

/** Values up to this length stand within a sentence. */
const SHORT = 40;

/** The sentence that an entry is told by, and the field that it tells of; further ones are listed below it. */
export type Saying =
  | { readonly kind: 'changed' | 'filled' | 'emptied'; readonly field: ChangedField }
  | { readonly kind: 'rewritten'; readonly fields: readonly ChangedField[] }
  | { readonly kind: Exclude<HistoryOperation, 'updated'> | 'touched' };

function isNothing(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}

function isShort(value: unknown): boolean {
  return typeof value !== 'object' && String(value).length <= SHORT && !String(value).includes('\n');
}

/** Which words fit an entry. */
export function sayingOf({ operation, fields }: Pick<Entry, 'operation' | 'fields'>): Saying {
  if (operation !== 'updated') return { kind: operation };
  const [field, another] = fields;
  if (!field) return { kind: 'touched' };
  if (another) return { kind: 'rewritten', fields };
  const { before, after } = field;
  if (isNothing(before) && isShort(after)) return { kind: 'filled', field };
  if (isNothing(after) && isShort(before)) return { kind: 'emptied', field };
  if (!isNothing(before) && !isNothing(after) && isShort(before) && isShort(after)) return { kind: 'changed', field };
  return { kind: 'rewritten', fields };
}

/** Whether an entry has values that its sentence doesn't say. */
export function hasMore(entry: Pick<Entry, 'operation' | 'fields'>): boolean {
  return !('field' in sayingOf(entry)) && entry.fields.length > 0;
}

/** What a record held before and after something, as far as that is known. */
export interface Held {
  readonly before: Row;
  readonly after: Row;
}

/** What a record held around a change; what the change didn't touch is as it was then. */
export function heldAround(fields: readonly ChangedField[], then: Row = {}): Held {
  const side = (of: 'before' | 'after') => Object.fromEntries(fields.map((field) => [field.name, field[of]]));
  return { before: { ...then, ...side('before') }, after: { ...then, ...side('after') } };
}

/** The same of each entry of a record, the newest first, which left what there is now, and each what the one after it found. */
export function heldThrough(entries: readonly Pick<Entry, 'fields'>[], now: Row): Held[] {
  let then = now;
  return entries.map(({ fields }) => {
    const held = heldAround(fields, then);
    then = held.before;
    return held;
  });
}

/** A step in a workflow, as an entry tells it. */
export interface HistoryStep {
  readonly transition: string;
  readonly from: string;
  readonly to: string;
  readonly comment: string | null;
}

/** The step in its workflow that an entry of a record tells; nothing where it tells something else. */
export function stepOf({ event, data }: Pick<Entry, 'event' | 'data'>): HistoryStep | undefined {
  if (event !== 'WorkflowTransitioned' || typeof data !== 'object' || data === null) return undefined;
  const { transition, from, to, comment } = data as Readonly<Record<string, unknown>>;
  const said = typeof comment === 'string' ? comment : null;
  return { transition: String(transition), from: String(from), to: String(to), comment: said };
}

/** The ways back that an entry offers; `isNewest` is what the record is now. */
export function waysBack({ operation }: Pick<Entry, 'operation'>, isNewest: boolean): RestoreMode[] {
  switch (operation) {
    case 'updated':
      return isNewest ? ['Undo'] : ['Undo', 'Before', 'After'];
    case 'created':
      return isNewest ? ['Undo'] : ['After'];
    case 'deleted':
    case 'restored':
      return ['Undo'];
    default:
      return [];
  }
}

/** Where two texts differ: what they begin and end with is common. */
export interface Difference {
  readonly head: string;
  readonly removed: string;
  readonly added: string;
  readonly tail: string;
}

const WORDS = /\s+|\S+/g;

/** Compares two texts word by word, from both ends. */
export function difference(before: string, after: string): Difference {
  const old = before.match(WORDS) ?? [];
  const fresh = after.match(WORDS) ?? [];
  const most = Math.min(old.length, fresh.length);
  let head = 0;
  while (head < most && old[head] === fresh[head]) head += 1;
  let tail = 0;
  while (tail < most - head && old.at(-1 - tail) === fresh.at(-1 - tail)) tail += 1;
  return {
    head: old.slice(0, head).join(''),
    removed: old.slice(head, old.length - tail).join(''),
    added: fresh.slice(head, fresh.length - tail).join(''),
    tail: tail > 0 ? old.slice(-tail).join('') : '',
  };
}
