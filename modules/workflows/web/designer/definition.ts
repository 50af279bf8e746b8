/** A definition, as it is sent and drawn. */

/** Who may do something, as a definition has it. */
export type By = 'creator' | { readonly permission: string } | { readonly role: string } | { readonly person: string };

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
  readonly dueIn?: Term | undefined;
  readonly remindsAfter?: Term | undefined;
  readonly escalatesTo?: readonly By[] | undefined;
  readonly automatic?: { readonly after: Term; readonly transition: string } | undefined;
  readonly kept?: boolean;
  readonly [word: string]: unknown;
}

/** People of whom a transition takes some, beside other such groups. */
export interface Group {
  readonly name: string;
  readonly title?: string;
  readonly by: readonly By[];
  readonly approvals?: number;
}

/** The value that a transition gives a property. */
export type Assigned = 'now' | 'me' | 'comment' | { readonly value: unknown };

export interface Transition {
  readonly name: string;
  readonly title?: string;
  readonly from: readonly string[];
  readonly to: string;
  readonly by: readonly By[];
  readonly approvals?: number;
  readonly groups?: readonly Group[] | undefined;
  readonly inSequence?: boolean | undefined;
  readonly notByCreator?: boolean;
  readonly notByLast?: boolean;
  readonly condition?: string;
  readonly optional?: boolean;
  readonly needsComment?: boolean;
  readonly sets?: Readonly<Record<string, Assigned>> | undefined;
  readonly calls?: readonly string[] | undefined;
  readonly publishes?: readonly string[] | undefined;
  readonly notifies?: readonly By[] | undefined;
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
