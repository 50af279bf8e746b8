/** What can be done to a definition; pure. Each answers with another one. */
import type { Definition, DesignProblem, Group, State, Transition } from './definition.ts';

/** What of a definition is chosen. */
export interface Chosen {
  readonly kind: 'state' | 'transition';
  readonly name: string;
}

/** A name that isn't taken. */
function fresh(stem: string, taken: readonly { readonly name: string }[]): string {
  for (let number = 1; ; number += 1) {
    const name = `${stem}${number}`;
    if (!taken.some((one) => one.name === name)) return name;
  }
}

export function addState(definition: Definition): { definition: Definition; chosen: Chosen } {
  const name = fresh('state', definition.states);
  const kind = definition.states.length === 0 ? 'initial' : 'intermediate';
  return {
    definition: { ...definition, states: [...definition.states, { name, kind }] },
    chosen: { kind: 'state', name },
  };
}

export function addTransition(
  definition: Definition,
  from: string,
  to: string,
): { definition: Definition; chosen: Chosen } {
  const name = fresh('step', definition.transitions);
  const transition: Transition = { name, from: [from], to, by: ['creator'] };
  return {
    definition: { ...definition, transitions: [...definition.transitions, transition] },
    chosen: { kind: 'transition', name },
  };
}

/** Changes a state; transitions go along with its name, and there is one to begin in. */
export function changeState(definition: Definition, name: string, change: Partial<State>): Definition {
  const renamed = (one: string) => (one === name ? (change.name ?? name) : one);
  const isInitial = change.kind === 'initial';
  const states = definition.states.map((state): State => {
    if (state.name === name) return pruned({ ...state, ...change });
    return isInitial && state.kind === 'initial' ? { ...state, kind: 'intermediate' } : state;
  });
  if (change.name === undefined) return { ...definition, states };
  const transitions = definition.transitions.map((way) => ({
    ...way,
    from: way.from.map(renamed),
    to: renamed(way.to),
  }));
  return { states, transitions };
}

/** Changes a transition; what is taken by itself goes along with its name. */
export function changeTransition(definition: Definition, name: string, change: Partial<Transition>): Definition {
  const transitions = definition.transitions.map((way) => (way.name === name ? pruned({ ...way, ...change }) : way));
  const taken = change.name;
  if (taken === undefined) return { ...definition, transitions };
  const states = definition.states.map((state) =>
    state.automatic?.transition === name ? { ...state, automatic: { ...state.automatic, transition: taken } } : state,
  );
  return { states, transitions };
}

/** Adds a group; the first takes over who could take the transition, and how many of them. */
export function addGroup(way: Transition): Partial<Transition> {
  const groups = way.groups ?? [];
  const taken = groups.length === 0 && (way.approvals ?? 1) > 1 ? { approvals: way.approvals } : {};
  const by = groups.length === 0 ? way.by : [];
  const group = { name: fresh('group', groups), by, ...taken } as Group;
  return { groups: [...groups, group], by: [], approvals: 1 };
}

export function changeGroup(way: Transition, place: number, change: Partial<Group>): Partial<Transition> {
  const groups = way.groups ?? [];
  return { groups: groups.map((group, at) => (at === place ? { ...group, ...change } : group)) };
}

/** Takes a group out; with the last one its people may take the transition as before. */
export function removeGroup(way: Transition, place: number): Partial<Transition> {
  const groups = way.groups ?? [];
  const left = groups.filter((_, at) => at !== place);
  const inSequence = left.length > 1 ? way.inSequence : undefined;
  if (left.length > 0) return { groups: left, inSequence };
  const [last] = groups;
  return { groups: undefined, inSequence, by: last?.by ?? [], approvals: last?.approvals ?? 1 };
}

/** What is left undefined isn't written. */
function pruned<T extends object>(one: T): T {
  return Object.fromEntries(Object.entries(one).filter(([, value]) => value !== undefined)) as T;
}

/** Takes something out; with a state go the ways to it, and those that lead nowhere else away from it. */
export function remove(definition: Definition, chosen: Chosen): Definition {
  if (chosen.kind === 'transition') {
    return { ...definition, transitions: definition.transitions.filter(({ name }) => name !== chosen.name) };
  }
  return {
    states: definition.states.filter(({ name }) => name !== chosen.name),
    transitions: definition.transitions.flatMap((way) => {
      const from = way.from.filter((state) => state !== chosen.name);
      return way.to === chosen.name || from.length === 0 ? [] : [{ ...way, from }];
    }),
  };
}

/** What a problem is about: the first that it names. */
export function aboutOf(definition: Definition, { message }: DesignProblem): Chosen | undefined {
  for (const [, name] of message.matchAll(/`([^`]+)`/g)) {
    if (definition.transitions.some((one) => one.name === name)) return { kind: 'transition', name: name ?? '' };
    if (definition.states.some((one) => one.name === name)) return { kind: 'state', name: name ?? '' };
  }
  return undefined;
}

/** Whether it is there. */
export function has(definition: Definition, chosen: Chosen | undefined): boolean {
  if (!chosen) return false;
  const list = chosen.kind === 'state' ? definition.states : definition.transitions;
  return list.some(({ name }) => name === chosen.name);
}
