/** What the window shows, as an address or a shortcut keeps it. */

/** What comes first. */
export type Order = 'due' | 'newest';

export interface View {
  /** The set that the list is narrowed to. */
  readonly set: string | undefined;
  readonly order: Order;
}

/** The longest name of a set. */
const LONGEST = 200;

/** Reads what an address says; what makes no sense is left out. */
export function readView(value: unknown): View {
  const { set, order } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const isSet = typeof set === 'string' && set !== '' && set.length <= LONGEST;
  return { set: isSet ? set : undefined, order: order === 'newest' ? 'newest' : 'due' };
}

/** The view in short. */
export function writeView({ set, order }: View): Record<string, unknown> {
  return { ...(set === undefined ? {} : { set }), ...(order === 'due' ? {} : { order }) };
}
