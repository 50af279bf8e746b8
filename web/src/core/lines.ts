/**
 * Lines that are written together with the record they belong to: what is sent when they are saved, and what takes that back.
 *
 * All of it goes to the server as one group, which is stored as a whole or not at all.
 */
import type { EntitySet } from './model.ts';
import type { Row } from './pages.ts';
import { recordPath } from './query.ts';

/** A change of one record, as a request. */
export interface Change {
  readonly method: 'POST' | 'PATCH' | 'DELETE';
  /** Below the address of all sets. */
  readonly path: string;
  readonly body?: Row;
  /** The version that it is made on. */
  readonly etag?: unknown;
}

/** A line as it was, and what is written of it. */
export interface LineState {
  /** As the server has it; none for a new one. */
  readonly before: Row | undefined;
  /** What differs from that. */
  readonly changes: Row;
  readonly isRemoved: boolean;
}

/** The request that stores a line; none for one that is as it was, or that nothing was written in. */
export function changeOf(target: EntitySet, home: string, line: LineState): Change | undefined {
  const { before, changes, isRemoved } = line;
  const isWritten = Object.keys(changes).length > 0;
  if (!before) return isRemoved || !isWritten ? undefined : { method: 'POST', path: home, body: changes };
  const path = recordPath(target, String(before[target.key]));
  if (isRemoved) return { method: 'DELETE', path, etag: before['@odata.etag'] };
  return isWritten ? { method: 'PATCH', path, body: changes, etag: before['@odata.etag'] } : undefined;
}

/** What takes a change back that the server answered so. */
export function takeBack(
  target: EntitySet,
  home: string,
  { before, changes, isRemoved }: LineState,
  answer: Row | undefined,
): Change | undefined {
  const etag = answer?.['@odata.etag'];
  if (!before) {
    const key = answer?.[target.key];
    return key === undefined ? undefined : { method: 'DELETE', path: recordPath(target, String(key)), etag };
  }
  if (isRemoved) return { method: 'POST', path: home, body: insertable(target, before) };
  const was = Object.fromEntries(Object.keys(changes).map((name) => [name, before[name] ?? null]));
  return { method: 'PATCH', path: recordPath(target, String(before[target.key])), body: was, etag };
}

/** What of a record may be said when it is made again. */
function insertable(target: EntitySet, row: Row): Row {
  return Object.fromEntries(
    target.properties
      .filter(({ name, insertable }) => insertable && row[name] !== undefined)
      .map(({ name }) => [name, row[name]]),
  );
}

/** The place of the line that a refusal speaks of, and what it says of which field: `lines/2/quantity`, `lines[2].quantity`. */
export function lineOf(navigation: string, field: string): { place: number; field: string } | undefined {
  const found = /^([^/[]+)(?:\/(\d+)|\[(\d+)\])(?:[/.](.*))?$/.exec(field);
  if (!found || found[1] !== navigation) return undefined;
  return { place: Number(found[2] ?? found[3]), field: found[4] ?? '' };
}
