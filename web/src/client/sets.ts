/** Reads and changes records of entity sets. */
import { PAGE, type Row } from '../core/pages.ts';
import type { Change } from '../core/lines.ts';
import { readProblem, type Problem } from '../core/problem.ts';
import { readModel, type EntitySet, type Model, type Operation } from '../core/model.ts';
import { address, recordPath, type Options } from '../core/query.ts';
import { METADATA } from './addresses.ts';
import { send } from './request.ts';

/** Where entity sets lie. */
const ROOT = '/odata/v1/';

/** A page of a list. */
export interface Page {
  readonly rows: Row[];
  readonly total: number | undefined;
  /** Where the next page lies; nothing behind the last one. */
  readonly next: string | undefined;
}

interface Collection {
  value: Row[];
  '@odata.count'?: number;
  '@odata.nextLink'?: string;
}

let known: Model = new Map();

/** Reads what there is for this person. */
export async function loadModel(signal?: AbortSignal): Promise<Model> {
  const { body } = await send(METADATA, { signal });
  known = readModel(body);
  return known;
}

/** What there is, as the page read it when it began. */
export function knownModel(): Model {
  return known;
}

/** Rows of a set as transformations make them, such as sums by month. */
export async function apply<T>(set: string, transformations: string, signal?: AbortSignal): Promise<readonly T[]> {
  const { body } = await send<{ value: T[] }>(address(ROOT + set, { $apply: transformations }), { signal });
  return body.value;
}

/** The next page's address on this page's own server, whatever name the server knows itself by. */
function ownPath(link: string | undefined): string | undefined {
  if (link === undefined) return undefined;
  const url = new URL(link, location.origin);
  return url.pathname + url.search;
}

async function page(path: string, size: number, signal?: AbortSignal): Promise<Page> {
  const { body } = await send<Collection>(path, { signal, headers: { prefer: `odata.maxpagesize=${size}` } });
  return { rows: body.value, total: body['@odata.count'], next: ownPath(body['@odata.nextLink']) };
}

/** The records from a place on, and how many there are in all where that is asked for. */
export function listFrom(
  set: EntitySet,
  options: Options,
  from: number,
  isCounted: boolean,
  signal?: AbortSignal,
): Promise<Page> {
  const paged = {
    ...options,
    ...(isCounted ? { $count: 'true' } : {}),
    ...(from > 0 ? { $skip: String(from) } : {}),
  };
  return page(address(ROOT + set.name, paged), PAGE, signal);
}

/** Records that can be worked on at once. */
export const MOST_KEYS = 5_000;

/** The keys of a list's records, in its order, as many as can be worked on at once. */
export async function keysOf(set: EntitySet, options: Options, signal?: AbortSignal): Promise<string[]> {
  const keys: string[] = [];
  const size = 1_000;
  const first = address(ROOT + set.name, { ...options, $select: set.key, $top: String(MOST_KEYS) });
  let link: string | undefined = first;
  while (link !== undefined && keys.length < MOST_KEYS) {
    const found: Page = await page(link, size, signal);
    keys.push(...found.rows.map((row) => String(row[set.key])));
    link = found.next;
  }
  return keys;
}

/** The page that another one led to. */
export function listNext(link: string, signal?: AbortSignal): Promise<Page> {
  return page(link, PAGE, signal);
}

/** A few records at once. */
export async function few(path: string, options: Options, count: number, signal?: AbortSignal): Promise<Page> {
  return page(address(ROOT + path, { ...options, $top: String(count) }), count, signal);
}

/** One record, with its version under `@odata.etag`. */
export async function read(set: EntitySet, key: string, options: Options, signal?: AbortSignal): Promise<Row> {
  const { body, etag } = await send<Row>(address(ROOT + recordPath(set, key), options), { signal });
  return etag && body['@odata.etag'] === undefined ? { ...body, '@odata.etag': etag } : body;
}

/** Makes a record. */
export async function create(set: EntitySet, values: Row): Promise<Row> {
  return (await send<Row>(ROOT + set.name, { method: 'POST', body: values })).body;
}

function ifMatch(etag: unknown): Record<string, string> {
  return typeof etag === 'string' ? { 'if-match': etag } : {};
}

/** Changes a record, if it's still the version that the change was made on. */
export async function change(set: EntitySet, key: string, values: Row, etag: unknown): Promise<Row> {
  const answer = await send<Row>(ROOT + recordPath(set, key), {
    method: 'PATCH',
    body: values,
    headers: ifMatch(etag),
  });
  return answer.body;
}

/** Deletes a record, if it's still the version that was looked at. */
export async function remove(set: EntitySet, key: string, etag: unknown): Promise<void> {
  await send(ROOT + recordPath(set, key), { method: 'DELETE', headers: ifMatch(etag) });
}

/** One of several changes was refused, and so all were. */
export class RefusedChange extends Error {
  /** Its place among the changes. */
  readonly place: number;
  readonly problem: Problem;

  constructor(place: number, problem: Problem) {
    super(problem.message);
    this.place = place;
    this.problem = problem;
  }
}

interface BatchAnswer {
  readonly id: string;
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: Row;
}

/** What a group answers for those that were given up because another one was refused. */
const FAILED_DEPENDENCY = 424;

/** Stores changes as a whole or not at all; gives back what the server made of each. Rejects with a `RefusedChange` or a `Problem`. */
export async function together(changes: readonly Change[]): Promise<(Row | undefined)[]> {
  const requests = changes.map(({ method, path, body, etag }, place) => ({
    id: String(place),
    atomicityGroup: 'whole',
    method: method.toLowerCase(),
    url: path,
    headers: { 'content-type': 'application/json', ...ifMatch(etag) },
    ...(body === undefined ? {} : { body }),
  }));
  const { body } = await send<{ responses: BatchAnswer[] }>(`${ROOT}$batch`, { method: 'POST', body: { requests } });
  const refused = body.responses.find(({ status }) => status >= 400 && status !== FAILED_DEPENDENCY);
  if (refused) throw new RefusedChange(Number(refused.id), readProblem(refused.status, refused.body, undefined));
  const answers = new Map(body.responses.map((one) => [one.id, one]));
  return changes.map((_change, place) => {
    const answer = answers.get(String(place));
    const etag = answer?.headers?.etag;
    return answer?.body && etag !== undefined ? { '@odata.etag': etag, ...answer.body } : answer?.body;
  });
}

/** Runs an action of a record. */
export async function act(set: EntitySet, key: string, operation: Operation, values: Row): Promise<unknown> {
  const path = `${ROOT}${recordPath(set, key)}/${operation.qualifiedName}`;
  return (await send(path, { method: 'POST', body: values })).body;
}

/** Asks a function of a record that takes no parameters. */
export async function ask(set: EntitySet, key: string, operation: Operation, signal?: AbortSignal): Promise<unknown> {
  const { body } = await send<{ value?: unknown }>(`${ROOT}${recordPath(set, key)}/${operation.qualifiedName}()`, {
    signal,
  });
  return body?.value ?? null;
}

/** How often each value of a property occurs. */
export async function facet(
  set: EntitySet,
  name: string,
  options: Options,
  signal?: AbortSignal,
): Promise<{ value: unknown; count: number }[]> {
  const steps = [options.$filter && `filter(${options.$filter})`, `groupby((${name}),aggregate($count as count))`];
  const apply = steps.filter(Boolean).join('/');
  const { body } = await send<Collection>(address(ROOT + set.name, { $apply: apply }), { signal });
  return body.value
    .map((row) => ({ value: row[name], count: Number(row.count) }))
    .sort((one, other) => other.count - one.count);
}
