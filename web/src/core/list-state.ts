/**
 * What a list shows: search, conditions, order, columns with their widths and totals, groups, the page, and the record that is
 * open. It is what an address, a shortcut or a saved view keeps of a list, in a form that is short and says nothing where it's
 * the default.
 */
import { isComparable, MOST_CONDITIONS, readCondition, type Condition } from './filter.ts';
import { navigationOf, propertyOf, type EntitySet, type Property } from './model.ts';

/** The order of a list. */
export interface Sort {
  readonly property: string;
  readonly descending: boolean;
}

/** What is counted out of all values of a column. */
export type Total = 'sum' | 'average' | 'min' | 'max';

const TOTALS: readonly Total[] = ['sum', 'average', 'min', 'max'];

/** How a list is read: on and on, or page by page. */
export type Reading = 'EndlessScroll' | 'Pager';

/** All that decides what a list shows. */
export interface ListState {
  readonly search: string;
  readonly conditions: readonly Condition[];
  readonly sort: Sort | undefined;
  /** The columns in their order; none stands for the usual ones. */
  readonly columns: readonly string[] | undefined;
  /** Widths of columns in pixels, where somebody has set them. */
  readonly widths: Readonly<Record<string, number>>;
  /** What stands under columns, by their names. */
  readonly totals: Readonly<Record<string, Total>>;
  /** The property whose values make groups, in place of single records. */
  readonly group: string | undefined;
  /** How this list is read; none stands for the usual way. */
  readonly reading: Reading | undefined;
  /** The page, from 1, where the list is read page by page. */
  readonly page: number;
  /** The key of the record that is open, or `new`. */
  readonly record: string | undefined;
  /** What happened to that record, in place of what it is: `ALL_PAST`, or the entry that is pointed at. */
  readonly past: string | undefined;
}

/** The whole history of a record, without an entry that is pointed at. */
export const ALL_PAST = 'all';

export const EMPTY: ListState = {
  search: '',
  conditions: [],
  sort: undefined,
  columns: undefined,
  widths: {},
  totals: {},
  group: undefined,
  reading: undefined,
  page: 1,
  record: undefined,
  past: undefined,
};

/** The least and the greatest width of a column. */
export const WIDTHS = { least: 56, greatest: 900 };
const MOST_PAGES = 1_000_000;
const LONGEST_SEARCH = 200;
const LONGEST_KEY = 200;

/** The state in short, as it's kept in addresses and shortcuts. */
export function writeState(state: ListState): Record<string, unknown> {
  const short: Record<string, unknown> = {};
  if (state.search) short.q = state.search;
  if (state.conditions.length > 0) {
    short.f = state.conditions.map(({ property, operator, values }) => [property, operator, ...values]);
  }
  if (state.sort) short.s = `${state.sort.descending ? '-' : ''}${state.sort.property}`;
  if (state.columns) short.c = state.columns;
  if (Object.keys(state.widths).length > 0) short.w = state.widths;
  if (Object.keys(state.totals).length > 0) short.t = state.totals;
  if (state.group) short.g = state.group;
  if (state.reading) short.m = state.reading;
  if (state.page > 1) short.p = state.page;
  if (state.record) short.r = state.record;
  if (state.record && state.past) short.h = state.past;
  return short;
}

/** What belongs to a view that is kept under a name: how the list looks, not where somebody stands in it. */
export function withoutPlace(state: ListState): ListState {
  return { ...state, page: 1, record: undefined, past: undefined };
}

/** Whether values of a property can be summed up. */
export function isSummable(property: Property): boolean {
  return property.kind === 'integer' || property.kind === 'decimal';
}

/** Whether values of a property make groups worth looking at. */
export function isGroupable(property: Property): boolean {
  const { kind } = property;
  return property.reference !== undefined || property.isFacet || kind === 'enumeration' || kind === 'boolean';
}

/** The parts of an object whose names are properties and whose values fit. */
function entriesOf<T>(set: EntitySet, value: unknown, fits: (one: unknown, property: Property) => one is T) {
  if (typeof value !== 'object' || value === null) return {};
  const kept = set.properties.flatMap((property): [string, T][] => {
    const one = Object.hasOwn(value, property.name) ? (value as Record<string, unknown>)[property.name] : undefined;
    return fits(one, property) ? [[property.name, one]] : [];
  });
  return Object.fromEntries(kept);
}

const isWidth = (one: unknown): one is number =>
  typeof one === 'number' && one >= WIDTHS.least && one <= WIDTHS.greatest;

const isTotal = (one: unknown, property: Property): one is Total =>
  isSummable(property) && TOTALS.includes(one as Total);

/** Reads what an address says. Whatever doesn't fit the set is left out: anyone can write an address. */
export function readState(set: EntitySet, value: unknown): ListState {
  if (typeof value !== 'object' || value === null) return EMPTY;
  const { q, f, s, c, w, t, g, m, p, r, h } = value as Record<string, unknown>;
  const group = typeof g === 'string' ? propertyOf(set, g) : undefined;
  const record = typeof r === 'string' && r.length <= LONGEST_KEY ? r : undefined;
  const columns = Array.isArray(c)
    ? c.filter((name): name is string => typeof name === 'string' && propertyOf(set, name) !== undefined)
    : [];
  return {
    search: typeof q === 'string' && set.searchable ? q.slice(0, LONGEST_SEARCH) : '',
    conditions: (Array.isArray(f) ? f.slice(0, MOST_CONDITIONS) : []).flatMap(
      (one: unknown) => readCondition(set, one) ?? [],
    ),
    sort: readSort(set, typeof s === 'string' ? s : undefined),
    columns: columns.length > 0 ? [...new Set(columns)] : undefined,
    widths: entriesOf(set, w, isWidth),
    totals: entriesOf(set, t, isTotal),
    group: group && isGroupable(group) ? group.name : undefined,
    reading: m === 'Pager' || m === 'EndlessScroll' ? m : undefined,
    page: Number.isInteger(p) && (p as number) > 0 && (p as number) <= MOST_PAGES ? (p as number) : 1,
    record,
    past: record && typeof h === 'string' && h !== '' && h.length <= LONGEST_KEY ? h : undefined,
  };
}

/** The order that is written as a property, with `-` in front for the greatest first. */
export function readSort(set: EntitySet, written: string | undefined): Sort | undefined {
  if (written === undefined) return undefined;
  const property = written.replace(/^-/, '');
  const found = propertyOf(set, property);
  return found && isComparable(found) ? { property, descending: written.startsWith('-') } : undefined;
}

/** The order that a press on a column's head leads to: up, then down, then as usual. */
export function nextSort(name: string, chosen: Sort | undefined, usual: Sort | undefined): Sort | undefined {
  const now = chosen ?? usual;
  if (now?.property !== name) return { property: name, descending: false };
  if (!now.descending) return { property: name, descending: true };
  return usual?.property === name ? { property: name, descending: false } : undefined;
}

/** Columns that a list begins with: what names the record, then what is short and says much. */
const USUAL_COLUMNS = 8;
const LONG_TEXT = 200;

/** Whether a property is worth a column before somebody asks for it. */
function isUsual(property: Property): boolean {
  if (!isComparable(property) || (property.kind === 'text' && (property.maxLength ?? LONG_TEXT) > LONG_TEXT)) {
    return false;
  }
  return property.kind !== 'id' || property.reference !== undefined;
}

/** Times that the server keeps of every record; they come last. */
function isHousekeeping(property: Property): boolean {
  return property.name === 'createdAt' || property.name === 'updatedAt';
}

/** The columns that a list begins with. */
export function usualColumns(set: EntitySet): string[] {
  const names = set.properties.filter((property) => isUsual(property) && !isHousekeeping(property));
  const title = names.filter(({ name }) => name === set.title);
  const rest = names.filter(({ name }) => name !== set.title);
  return [...title, ...rest].slice(0, USUAL_COLUMNS).map(({ name }) => name);
}

/** Whether records have a name of their own, beside the key that no person reads. */
export function isNamed(set: EntitySet): boolean {
  return set.title !== set.key || propertyOf(set, set.key)?.kind !== 'id';
}

/** The columns that are shown; what names the record is always first. */
export function columnsOf(set: EntitySet, state: ListState, usual?: readonly string[]): Property[] {
  const chosen = state.columns ?? usual ?? usualColumns(set);
  const wanted = chosen.length > 0 ? chosen : [set.key];
  const names = wanted.includes(set.title) || !isNamed(set) ? wanted : [set.title, ...wanted];
  return names.flatMap((name) => propertyOf(set, name) ?? []);
}

/** The set that a property refers to, and the navigation property that leads there. */
export function referenceOf(set: EntitySet, property: Property): { navigation: string; target: string } | undefined {
  const navigation = navigationOf(set, property.reference);
  return navigation ? { navigation: navigation.name, target: navigation.target } : undefined;
}
