/** What those who draw workflows send and get. */
import { send } from '@svc/web/server';
import type { Definition, DesignProblem } from './definition.ts';

const DESIGNER = '/api/v1/workflows/designer';

export interface Change {
  readonly isState: boolean;
  readonly name: string;
  readonly kind: 'added' | 'removed' | 'changed';
  readonly words: readonly string[];
}

export interface Version {
  readonly version: number;
  readonly isDesigned: boolean;
  readonly publishedBy: string | null;
  readonly published: string;
  readonly note: string | null;
}

export interface Design {
  readonly entityType: string;
  readonly title: string;
  readonly version: number;
  readonly definition: Definition;
  readonly draft: {
    readonly revision: number;
    readonly definition: Definition;
    readonly changedBy: string;
    readonly problems: readonly DesignProblem[];
  } | null;
  readonly versions: readonly Version[];
  readonly palette: {
    readonly properties: readonly { readonly name: string; readonly kind: string }[];
    readonly permissions: readonly string[];
    /** None where nobody tells them. */
    readonly roles: readonly string[] | null;
    readonly actions: readonly string[];
    readonly events: readonly string[];
  };
}

export interface Move {
  readonly from: string;
  readonly to: string | null;
  readonly records: number;
}

export interface Summary {
  readonly entityType: string;
  readonly title: string;
}

/** Records that are in a state of a version. */
export interface Running {
  readonly version: number;
  readonly state: { readonly name: string; readonly title: string };
  readonly records: number;
}

function of(set: string, rest: string): string {
  return `${DESIGNER}/${encodeURIComponent(set)}${rest}`;
}

async function post<T>(set: string, rest: string, body: unknown): Promise<T> {
  return (await send<T>(of(set, rest), { method: 'POST', body })).body;
}

export async function listDesigns(): Promise<readonly Summary[]> {
  return (await send<{ items: Summary[] }>(DESIGNER)).body.items;
}

export async function readDesign(set: string): Promise<Design> {
  return (await send<Design>(of(set, ''))).body;
}

/** How many records are of which version and in which state. */
export async function running(set: string): Promise<readonly Running[]> {
  return (await send<{ items: Running[] }>(of(set, '/running'))).body.items;
}

export async function readVersion(set: string, version: number): Promise<Definition> {
  return (await send<Definition>(of(set, `/versions/${version}`))).body;
}

export async function saveDraft(
  set: string,
  revision: number,
  definition: unknown,
): Promise<{ revision: number; problems: readonly DesignProblem[] }> {
  const body = { revision, definition };
  const saved = await send<{ revision: number; problems: DesignProblem[] }>(of(set, '/draft'), { method: 'PUT', body });
  return saved.body;
}

export function dropDraft(set: string, revision: number): Promise<unknown> {
  return post(set, '/draft/drop', { revision });
}

export function check(
  set: string,
  definition: Definition,
  version?: number,
): Promise<{ problems: readonly DesignProblem[]; warnings: readonly DesignProblem[]; changes: readonly Change[] }> {
  return post(set, '/check', version === undefined ? { definition } : { definition, version });
}

export function publish(set: string, revision: number, note: string): Promise<{ version: number }> {
  return post(set, '/publish', note === '' ? { revision } : { revision, note });
}

export function migrate(
  set: string,
  request: { from: number; to: number; states: Record<string, string>; isPreview: boolean },
): Promise<{ states: readonly Move[]; jobId: string | null }> {
  return post(set, '/migrate', request);
}

/** What somebody could do with a record. */
export interface Tried {
  readonly state: string;
  readonly choices: readonly {
    readonly name: string;
    readonly to: string;
    readonly obstacle: { readonly code: string; readonly detail: string } | null;
  }[];
}

export function tryOut(set: string, definition: Definition, id: string, state: string): Promise<Tried> {
  return post(set, '/try', state === '' ? { definition, id } : { definition, id, state });
}
