/** What the server says that this page goes by. */
import type { Look } from '../sets/context.ts';
import { START } from './addresses.ts';
import { send } from './request.ts';

/** How long lists are read. */
export type PageMode = 'EndlessScroll' | 'Pager';

interface Start {
  readonly application: string;
  readonly pageMode: PageMode;
  readonly hasReference: boolean;
  readonly liveSets: readonly string[];
  readonly looks: Readonly<Record<string, Look>>;
}

let known: Start = { application: '', pageMode: 'EndlessScroll', hasReference: true, liveSets: [], looks: {} };

/** Asks for it, once. */
export async function loadStart(): Promise<void> {
  known = (await send<Start>(START)).body;
}

/** The application's name as people write it. */
export function applicationName(): string {
  return known.application.charAt(0).toLocaleUpperCase() + known.application.slice(1);
}

/** How lists are read where nobody has said otherwise. */
export function usualPageMode(): PageMode {
  return known.pageMode;
}

/** Whether the API’s reference is served. */
export function hasReference(): boolean {
  return known.hasReference;
}

/** Whether the changes of a set can be heard of. */
export function isLive(set: string): boolean {
  return known.liveSets.includes(set);
}

/** How the application wants a set to look. */
export function saidLook(set: string): Look {
  return known.looks[set] ?? {};
}
