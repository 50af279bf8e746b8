/** What states and transitions are called, as lists and records have it: in the person's language where somebody has said it there, else as they were drawn. */
import { find } from '@svc/web';
import type { Definition, State, Transition } from './definition.ts';

const WORDS = { state: 'workflowState', transition: 'transition' } as const;

/** What one of them is called that is in one of the definitions; its name where nobody has said anything else. */
export function titleOf(
  set: string,
  kind: keyof typeof WORDS,
  name: string,
  ...definitions: readonly Definition[]
): string {
  const drawn = definitions.flatMap(({ states, transitions }): readonly (State | Transition)[] =>
    kind === 'state' ? states : transitions,
  );
  return find(`${set}-${WORDS[kind]}-${name}`) ?? drawn.find((one) => one.name === name)?.title ?? name;
}

/** A definition to look at, in which all are called so; what is changed is changed in the one that was drawn. */
export function titled(set: string, definition: Definition): Definition {
  return {
    states: definition.states.map((one) => ({ ...one, title: titleOf(set, 'state', one.name, definition) })),
    transitions: definition.transitions.map((one) => ({
      ...one,
      title: titleOf(set, 'transition', one.name, definition),
    })),
  };
}
