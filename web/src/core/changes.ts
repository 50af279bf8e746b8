/**
 * Two people change one record: what each changed, and what they disagree on.
 *
 * A change is sent with the version it was made on. When the server has a newer one, the fields that only one of them changed
 * need no decision; those that both changed to different values do.
 */

/** Values by the names of their properties. */
export type Values = Record<string, unknown>;

/** A field that both changed. */
export interface Disagreement {
  readonly property: string;
  readonly mine: unknown;
  readonly theirs: unknown;
}

/** What has to be decided, and what hasn't. */
export interface Merge {
  /** What is sent whatever is decided: changed by me, left alone by them. */
  readonly mine: Values;
  readonly disagreements: readonly Disagreement[];
  /** What they changed and I didn't. */
  readonly theirs: readonly string[];
}

/** Whether two values of JSON are the same. */
export function same(one: unknown, other: unknown): boolean {
  if (one === other) return true;
  return JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
}

/** What differs from how it was. */
export function changed(before: Values, after: Values): Values {
  return Object.fromEntries(Object.entries(after).filter(([name, value]) => !same(before[name], value)));
}

/** Compares my changes with what the record has become. */
export function merge(before: Values, mine: Values, now: Values, names: readonly string[]): Merge {
  const theirs = names.filter((name) => !same(before[name], now[name]));
  const disagreements: Disagreement[] = [];
  const kept: Values = {};
  for (const [property, value] of Object.entries(mine)) {
    if (same(value, now[property])) continue;
    if (theirs.includes(property)) disagreements.push({ property, mine: value, theirs: now[property] });
    else kept[property] = value;
  }
  return { mine: kept, disagreements, theirs: theirs.filter((name) => !(name in mine)) };
}
