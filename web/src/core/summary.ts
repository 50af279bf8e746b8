/** Totals and groups of a list, as `$apply` asks for them. */
import { referenceOf, type ListState, type Total } from './list-state.ts';
import { rangesOf } from './measure.ts';
import { propertyOf, type EntitySet, type Model, type Property } from './model.ts';
import { listOptions } from './query.ts';

/** The name that the count of a group comes under. */
export const COUNT = 'count';

/** How OData calls what is counted. */
const METHODS: Record<Total, string> = { sum: 'sum', average: 'average', min: 'min', max: 'max' };

/** The name that a column's total comes under: no property may have it. */
export function totalName(property: string): string {
  return `total_${property}`;
}

function aggregates(set: EntitySet, totals: ListState['totals']): string[] {
  const wanted = Object.entries(totals).map(([name, total]) => `${name} with ${METHODS[total]} as ${totalName(name)}`);
  const summed = Object.keys(totals).flatMap((name) => propertyOf(set, name) ?? []);
  return [...wanted, ...rangesOf(set, summed)];
}

/** What narrows the list comes first. */
function narrowed(set: EntitySet, state: ListState, now: Date): string[] {
  const { $filter, $search } = listOptions(set, state, now);
  return [...($search ? [`search(${$search})`] : []), ...($filter ? [`filter(${$filter})`] : [])];
}

/** Asks for the totals of all records of the list; nothing where none is wanted. */
export function totalsOf(set: EntitySet, state: ListState, now: Date): string | undefined {
  const wanted = aggregates(set, state.totals);
  if (wanted.length === 0) return undefined;
  return [...narrowed(set, state, now), `aggregate(${wanted.join(',')})`].join('/');
}

/** Asks for the groups of the list, the largest first. */
export function groupsOf(
  model: Model,
  set: EntitySet,
  state: ListState,
  by: Property,
  most: number,
  now: Date,
): string {
  const reference = referenceOf(set, by);
  const target = reference && model.get(reference.target);
  const names = target ? `${by.name},${reference.navigation}/${target.title}` : by.name;
  const wanted = [`$count as ${COUNT}`, ...aggregates(set, state.totals)].join(',');
  return [
    ...narrowed(set, state, now),
    `groupby((${names}),aggregate(${wanted}))`,
    `orderby(${COUNT} desc)`,
    `top(${most})`,
  ].join('/');
}
