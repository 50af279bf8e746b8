/** A definition, as it is sent and drawn. */

/** Who may do something, as a definition has it. */
export type By = 'creator' | { readonly permission: string } | { readonly person: string };

export type Kind = 'initial' | 'intermediate' | 'final';
export type Colour = 'grey' | 'blue' | 'green' | 'yellow' | 'red';

/** A span of time, as a definition has it. */
export type Term = { readonly hours: number } | { readonly days: number } | { readonly workingDays: number };

export interface State {
  readonly name: string;
  readonly title?: string;
  readonly kind: Kind;
  readonly colour?: Colour;
  readonly lock?: { readonly properties?: readonly string[]; readonly unless?: string } | null;
  readonly dueIn?: Term;
  readonly kept?: boolean;
  readonly [word: string]: unknown;
}

export interface Transition {
  readonly name: string;
  readonly title?: string;
  readonly from: readonly string[];
  readonly to: string;
  readonly by: readonly By[];
  readonly approvals?: number;
  readonly groups?: readonly unknown[];
  readonly notByCreator?: boolean;
  readonly notByLast?: boolean;
  readonly condition?: string;
  readonly optional?: boolean;
  readonly needsComment?: boolean;
  readonly calls?: readonly string[];
  readonly kept?: boolean;
  readonly [word: string]: unknown;
}

export interface Definition {
  readonly states: readonly State[];
  readonly transitions: readonly Transition[];
}

export interface DesignProblem {
  readonly code: string;
  readonly message: string;
}
