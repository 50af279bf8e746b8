/** How a list and a record are asked for: options of OData, made of what a person sees. */
import { toFilter } from './filter.ts';
import { referenceOf, type ListState, type Sort } from './list-state.ts';
import { measuring, measuringAlong } from './measure.ts';
import type { EntitySet, Model, Property } from './model.ts';

/** Options of a request, by their names. */
export type Options = Record<string, string>;

/** Address and options as they're sent. */
export function address(path: string, options: Options): string {
  const query = Object.entries(options).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
  return query.length > 0 ? `${path}?${query.join('&')}` : path;
}

/** The address of a record. */
export function recordPath(set: EntitySet, key: string): string {
  const property = set.properties.find(({ name }) => name === set.key);
  const literal = property?.kind === 'text' ? `'${key.replaceAll("'", "''")}'` : key;
  return `${set.name}(${encodeURIComponent(literal)})`;
}

/** The names of what is referred to come along, so that nobody has to read keys, and what of it says in what numbers are. */
export function expandReferences(model: Model, set: EntitySet, properties: readonly Property[]): string | undefined {
  const wanted = new Map<string, string[]>();
  const want = (navigation: string, ...names: string[]) =>
    wanted.set(navigation, [...(wanted.get(navigation) ?? []), ...names]);
  for (const property of properties) {
    const reference = referenceOf(set, property);
    const target = reference && model.get(reference.target);
    if (target) want(reference.navigation, target.key, target.title);
  }
  for (const path of measuringAlong(properties)) {
    const [navigation, name] = path.split('/');
    if (navigation !== undefined && name !== undefined) want(navigation, name);
  }
  const parts = [...wanted].map(([navigation, names]) => `${navigation}($select=${selection(names)})`);
  return parts.length > 0 ? parts.join(',') : undefined;
}

function selection(names: readonly string[]): string {
  return [...new Set(names)].join(',');
}

/** What decides which records a list has, and in which order: the state's, or else the usual one. */
export function listOptions(set: EntitySet, state: ListState, now: Date, usual?: Sort): Options {
  const options: Options = {};
  const filter = toFilter(set, state.conditions, now);
  if (filter) options.$filter = filter;
  const words = searchPhrase(state.search);
  if (words) options.$search = words;
  const sort = state.sort ?? usual;
  if (sort) options.$orderby = sort.descending ? `${sort.property} desc` : sort.property;
  return options;
}

/** Words as `$search` takes them: each in quotes, so that none is an operator. */
export function searchPhrase(search: string): string {
  return search
    .split(/\s+/)
    .filter((word) => word !== '')
    .map((word) => `"${word.replaceAll(/["\\]/g, '')}"`)
    .filter((word) => word !== '""')
    .join(' ');
}

/** What of each record is shown, with what says in what its numbers are. */
export function shownOptions(model: Model, set: EntitySet, properties: readonly Property[]): Options {
  const shown = [...properties, ...measuring(set, properties)].map(({ name }) => name);
  const options: Options = { $select: selection([set.key, set.title, ...shown]) };
  const expand = expandReferences(model, set, properties);
  if (expand) options.$expand = expand;
  return options;
}
