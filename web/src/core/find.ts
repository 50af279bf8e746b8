/** Finds records of a set by a few letters. */
import type { EntitySet } from './model.ts';
import { searchPhrase, type Options } from './query.ts';

/** The options that find records by what somebody types. */
export function findOptions(set: EntitySet, typed: string): Options {
  const extra = set.properties
    .filter(({ kind, name }) => kind === 'text' && name !== set.title)
    .slice(0, 1)
    .map(({ name }) => name);
  const options: Options = {
    $select: [...new Set([set.key, set.title, ...extra])].join(','),
    $orderby: set.title,
  };
  if (typed === '') return options;
  const phrase = searchPhrase(typed);
  if (set.searchable && phrase) return { ...options, $search: phrase };
  return { ...options, $filter: `contains(tolower(${set.title}),'${typed.toLowerCase().replaceAll("'", "''")}')` };
}
