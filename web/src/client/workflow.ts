/** The workflows of records, where the application has some. */
import { showTextsAgain } from '../text.ts';
import { send } from './request.ts';

const ROOT = '/api/v1/workflows';

/** What looking at workflows asks for; nobody holds it where there are none. */
export const VIEW_WORKFLOWS = 'Workflows.View';

/** What is told live when it's somebody else's turn with records; its keys are sets. */
export const MOVED_TOPIC = 'workflows.moved';

/** A state of a workflow. */
export interface State {
  readonly name: string;
  readonly title: string;
  readonly kind: 'initial' | 'intermediate' | 'final';
  readonly colour: 'grey' | 'blue' | 'green' | 'yellow' | 'red';
  /** Whether some or all of the record can't be changed in it. */
  readonly locks: boolean;
}

/** Who took a transition. */
export interface Person {
  readonly userId: string | null;
  readonly displayName: string;
}

/** One of several people who took, or would take, a transition. */
export interface Approval {
  readonly by: Person;
  readonly comment: string | null;
  readonly time: string;
}

/** What keeps a person from a transition. */
export interface Obstacle {
  readonly code: string;
  readonly detail: string;
  /** The roles of which each would allow it. */
  readonly roles: readonly string[];
}

/** A transition out of the state of a record. */
export interface Choice {
  readonly name: string;
  readonly title: string;
  readonly to: State;
  readonly needsComment: boolean;
  readonly approvalsNeeded: number;
  readonly approvals: readonly Approval[];
  /** What keeps this person from it. */
  readonly obstacle: Obstacle | null;
}

/** A transition that was taken. */
export interface Step {
  readonly number: number;
  readonly transition: string;
  readonly from: State;
  readonly to: State;
  readonly by: Person;
  readonly comment: string | null;
  readonly time: string;
  readonly approvals: readonly Approval[];
}

/** Where a record stands. */
export interface Standing {
  /** What was seen, which a transition sends. */
  readonly version: string;
  readonly state: State;
  /** None for a record that was there before its workflow. */
  readonly since: string | null;
  /** When it should have left the state; none where no time is set. */
  readonly due: string | null;
  /** Whether others may act too, because it's overdue. */
  readonly isEscalated: boolean;
  /** What the application is to do by itself, when, and what would keep it from that now. */
  readonly automatic: { readonly title: string; readonly time: string; readonly obstacle: Obstacle | null } | null;
  readonly choices: readonly Choice[];
  readonly past: readonly Step[];
}

/** What came of a transition. */
export interface Moved {
  readonly state: State;
  /** How many other people it still takes; 0 where the record has moved. */
  readonly approvalsMissing: number;
}

let kept: Promise<ReadonlySet<string>> | undefined;

/** The sets with a workflow that this person may read. */
export function workflowSets(): Promise<ReadonlySet<string>> {
  kept ??= send<{ items: { entityType: string }[] }>(ROOT).then(
    ({ body }) => new Set(body.items.map(({ entityType }) => entityType)),
    (error: unknown) => {
      // Asked again by the next one.
      kept = undefined;
      throw error;
    },
  );
  return kept;
}

/** What is shown of the workflow of a set. */
export interface Workflow {
  /** The states that new records come into, in their order. */
  readonly states: readonly State[];
  /** States of other versions, in which records may still be. */
  readonly otherStates: readonly State[];
  readonly transitions: readonly { readonly name: string; readonly title: string }[];
}

/** The workflow of a set, as new records begin with it. */
export async function workflowOf(set: string, signal?: AbortSignal): Promise<Workflow> {
  const { body } = await send<Workflow>(`${ROOT}/${encodeURIComponent(set)}`, signal ? { signal } : {});
  learnt.set(set, body);
  return body;
}

/** What is known of workflows, by set; nothing while it's asked for. */
const learnt = new Map<string, Workflow | undefined>();
/** Names that nobody told of, which are asked for once: somebody may have drawn them since. */
const sought = new Set<string>();
/** So long it's left alone where it can't be told. */
const ALONE_MS = 30_000;

function known(set: string, name: string): Workflow | undefined {
  const found = learnt.get(set);
  const isNew = found && !sought.has(`${set}/${name}`) && !nameIn(found, name);
  if (isNew) sought.add(`${set}/${name}`);
  if (!learnt.has(set) || isNew) {
    learnt.set(set, found);
    workflowOf(set).then(showTextsAgain, () => setTimeout(() => learnt.delete(set), ALONE_MS));
  }
  return found;
}

function nameIn({ states, otherStates, transitions }: Workflow, name: string): boolean {
  return [...states, ...otherStates, ...transitions].some((one) => one.name === name);
}

/** A state by its name, as lists show it: none until it's known, which has texts shown anew, and where nobody tells. */
export function stateNamed(set: string, name: string): State | undefined {
  const found = known(set, name);
  return found && [...found.states, ...found.otherStates].find((state) => state.name === name);
}

/** What a state is called, in the same way. */
export function stateTitle(set: string, name: string): string | undefined {
  return stateNamed(set, name)?.title;
}

/** What a transition is called, in the same way. */
export function transitionTitle(set: string, name: string): string | undefined {
  return known(set, name)?.transitions.find((transition) => transition.name === name)?.title;
}

function pathOf(set: string, key: string): string {
  return `${ROOT}/${encodeURIComponent(set)}/${encodeURIComponent(key)}`;
}

/** Where a record stands, what is possible, and what happened. */
export async function standingOf(set: string, key: string, signal: AbortSignal): Promise<Standing> {
  return (await send<Standing>(pathOf(set, key), { signal })).body;
}

/** What became of one of several records. */
export interface BulkAnswer {
  readonly id: string;
  readonly moved: Moved | null;
  readonly problem: Obstacle | null;
}

/** The most records of one request. */
export const MOST_AT_ONCE = 100;

/** Takes records on, each by itself, if it is still what was seen; up to `MOST_AT_ONCE`. */
export async function takeManyOn(
  set: string,
  transition: string,
  request: { records: readonly { id: string; version: string }[]; comment?: string },
): Promise<readonly BulkAnswer[]> {
  const path = `${ROOT}/${encodeURIComponent(set)}/transitions/${encodeURIComponent(transition)}`;
  return (await send<{ items: BulkAnswer[] }>(path, { method: 'POST', body: request })).body.items;
}

/** Takes a record on, if it is still what was seen. */
export async function takeOn(
  set: string,
  key: string,
  transition: string,
  request: { version: string; comment?: string },
): Promise<Moved> {
  const path = `${pathOf(set, key)}/transitions/${encodeURIComponent(transition)}`;
  return (await send<Moved>(path, { method: 'POST', body: request })).body;
}
