/** What says most about a record beside its name, where records of several sets stand under each other: how much it is, and whom it's with. */
import { few } from '../client/sets.ts';
import { isNamed, referenceOf } from '../core/list-state.ts';
import type { EntitySet, Model, Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { shownOptions } from '../core/query.ts';
import { cellText, isChoice } from '../parts/value.ts';
import { memberName } from '../text.ts';

const MOST_FACTS = 2;
/** How many records are named in one address. */
const AT_ONCE = 50;
/** Kept of every record, and told apart by nobody. */
const KEPT = ['createdAt', 'updatedAt'];

/** The properties that do: amounts, what it refers to by a name, and then what else people write, in their order. */
export function factsOf(model: Model, set: EntitySet): Property[] {
  const isTold = (property: Property) =>
    property.name !== set.title && property.name !== set.key && !KEPT.includes(property.name) && !isChoice(property);
  const rank = (property: Property) => {
    const reference = referenceOf(set, property);
    const target = reference && model.get(reference.target);
    if (target) return isNamed(target) ? 1 : undefined;
    if (property.kind === 'decimal') return 0;
    return ['text', 'date', 'integer'].includes(property.kind) && property.updatable ? 2 : undefined;
  };
  return set.properties
    .filter(isTold)
    .flatMap((property) => {
      const found = rank(property);
      return found === undefined ? [] : [{ property, rank: found }];
    })
    .sort((one, other) => one.rank - other.rank)
    .slice(0, MOST_FACTS)
    .map(({ property }) => property);
}

/** What is told of a record that has been read with what says most about it; nothing where it has nothing to tell. */
export function saidOf(model: Model, set: EntitySet, row: Row): string {
  const said = factsOf(model, set).flatMap((property) => {
    const value = cellText(model, set, property, row);
    if (value === '') return [];
    return [referenceOf(set, property) ? value : `${memberName(set.name, property.name)} ${value}`];
  });
  return said.join(' · ');
}

/** What is told of records by their keys; of what is gone or has nothing to tell, nothing. */
export async function readFacts(model: Model, set: EntitySet, keys: readonly string[]): Promise<Map<string, string>> {
  const facts = factsOf(model, set);
  const found = new Map<string, string>();
  for (let at = 0; facts.length > 0 && at < keys.length; at += AT_ONCE) {
    const part = keys.slice(at, at + AT_ONCE);
    const options = { ...shownOptions(model, set, facts), $filter: `${set.key} in (${part.join(',')})` };
    const { rows } = await few(set.name, options, part.length);
    for (const row of rows) {
      const said = saidOf(model, set, row);
      if (said !== '') found.set(String(row[set.key]), said);
    }
  }
  return found;
}
