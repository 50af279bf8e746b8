/**
 * Conditions that a person puts on a list, and how they stand in `$filter`.
 *
 * A condition is plain data (property, operator, values), so it can be kept in an address, shown as a sentence and sent to the
 * server. What comes from an address is checked against the model before anything is made of it.
 */
import { propertyOf, type EntitySet, type Kind, type Property } from './model.ts';

/** What a condition may say. */
export type Operator =
  | 'contains'
  | 'starts'
  | 'ends'
  | 'is'
  | 'isNot'
  | 'less'
  | 'atMost'
  | 'more'
  | 'atLeast'
  | 'between'
  | 'lastDays'
  | 'empty'
  | 'notEmpty';

/** A condition. Values are texts as OData writes them, without quotes. */
export interface Condition {
  readonly property: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

const TEXT: readonly Operator[] = ['contains', 'is', 'isNot', 'starts', 'ends'];
const NUMBER: readonly Operator[] = ['is', 'isNot', 'less', 'atMost', 'more', 'atLeast', 'between'];
const TIME: readonly Operator[] = ['lastDays', 'more', 'less', 'between'];

const BY_KIND: Record<Kind, readonly Operator[]> = {
  text: TEXT,
  integer: NUMBER,
  decimal: NUMBER,
  boolean: ['is'],
  time: TIME,
  date: ['is', 'more', 'less', 'between', 'lastDays'],
  clock: ['is', 'less', 'more', 'between'],
  duration: ['is', 'less', 'more'],
  id: ['is', 'isNot'],
  enumeration: ['is', 'isNot'],
  json: [],
  binary: [],
};

/** The most values that one condition names. */
const MOST_VALUES = 50;
/** The longest value that is sent. */
const LONGEST_VALUE = 500;
/** The most conditions that are taken from an address. */
export const MOST_CONDITIONS = 20;

/** Whether the server finds and sorts by such values. */
export function isComparable({ kind }: Property): boolean {
  return kind !== 'json' && kind !== 'binary';
}

/** The operators that make sense for a property, the likeliest first. */
export function operatorsFor(property: Property): readonly Operator[] {
  if (!isComparable(property)) return [];
  const operators = property.isFacet && property.kind === 'text' ? moveFirst(TEXT, 'is') : BY_KIND[property.kind];
  return property.nullable ? [...operators, 'empty', 'notEmpty'] : operators;
}

function moveFirst(operators: readonly Operator[], first: Operator): Operator[] {
  return [first, ...operators.filter((operator) => operator !== first)];
}

/** How many values an operator takes; `many` is one or more. */
export function arity(operator: Operator): 0 | 1 | 2 | 'many' {
  if (operator === 'empty' || operator === 'notEmpty') return 0;
  if (operator === 'between') return 2;
  return operator === 'is' || operator === 'isNot' ? 'many' : 1;
}

/** Whether enough is said for the condition to mean something. */
export function isComplete(condition: Condition): boolean {
  const wanted = arity(condition.operator);
  const given = condition.values.filter((value) => value !== '').length;
  return wanted === 'many' ? given > 0 : given === wanted;
}

const SHAPES: Partial<Record<Kind, RegExp>> = {
  integer: /^-?\d{1,19}$/,
  decimal: /^-?\d{1,20}(\.\d{1,20})?$/,
  boolean: /^(true|false)$/,
  time: /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,6})?)?(Z|[+-]\d\d:\d\d)?)?$/,
  date: /^\d{4}-\d\d-\d\d$/,
  clock: /^\d\d:\d\d(:\d\d)?$/,
  id: /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i,
  duration: /^-?P[\dDTHMS.]+$/,
};

/** Whether a value can stand in a filter on such a property. */
export function isValue(property: Property, operator: Operator, value: string): boolean {
  if (value.length > LONGEST_VALUE) return false;
  if (operator === 'lastDays') return /^\d{1,4}$/.test(value);
  if (property.kind === 'enumeration') return property.members.includes(value);
  return SHAPES[property.kind]?.test(value) ?? true;
}

/** A value as it stands in `$filter`. */
function literal(property: Property, value: string): string {
  if (property.kind === 'text' || property.kind === 'enumeration') return `'${value.replaceAll("'", "''")}'`;
  if (property.kind === 'duration') return `duration'${value}'`;
  if (property.kind === 'clock' && value.length === 5) return `${value}:00`;
  if (property.kind === 'time') return instant(value);
  return value;
}

/** A day begins where the person is. */
function instant(value: string): string {
  return new Date(value.includes('T') ? value : `${value}T00:00`).toISOString();
}

function nextDay(value: string): string {
  const day = new Date(`${value.slice(0, 10)}T00:00`);
  day.setDate(day.getDate() + 1);
  return day.toISOString();
}

function anyOf(property: Property, values: readonly string[]): string {
  const name = property.name;
  if (values.length === 1) return `${name} eq ${literal(property, values[0] ?? '')}`;
  return `${name} in (${values.map((value) => literal(property, value)).join(',')})`;
}

function days(property: Property, count: string, now: Date): string {
  const from = new Date(now);
  from.setDate(from.getDate() - Number(count));
  const iso = from.toISOString();
  return `${property.name} ge ${property.kind === 'date' ? iso.slice(0, 10) : iso}`;
}

function searched(name: string, call: string, property: Property, value: string): string {
  return `${call}(tolower(${name}),${literal(property, value.toLowerCase())})`;
}

/** One condition as OData writes it. */
function expression(property: Property, { operator, values }: Condition, now: Date): string {
  const name = property.name;
  const [first = '', second = ''] = values;
  const wholeDays = property.kind === 'time' && !first.includes('T');
  switch (operator) {
    case 'contains':
      return searched(name, 'contains', property, first);
    case 'starts':
      return searched(name, 'startswith', property, first);
    case 'ends':
      return searched(name, 'endswith', property, first);
    case 'is':
      return anyOf(property, values);
    case 'isNot':
      return `not (${anyOf(property, values)})`;
    case 'less':
      return `${name} lt ${literal(property, first)}`;
    case 'atMost':
      return `${name} le ${literal(property, first)}`;
    case 'more':
      return wholeDays ? `${name} ge ${nextDay(first)}` : `${name} gt ${literal(property, first)}`;
    case 'atLeast':
      return `${name} ge ${literal(property, first)}`;
    case 'between':
      return wholeDays
        ? `${name} ge ${literal(property, first)} and ${name} lt ${nextDay(second)}`
        : `${name} ge ${literal(property, first)} and ${name} le ${literal(property, second)}`;
    case 'lastDays':
      return days(property, first, now);
    case 'empty':
      return `${name} eq null`;
    case 'notEmpty':
      return `${name} ne null`;
  }
}

/** All conditions that are complete as one `$filter`; nothing when there are none. */
export function toFilter(set: EntitySet, conditions: readonly Condition[], now: Date): string | undefined {
  const parts = conditions.filter(isComplete).flatMap((condition) => {
    const property = propertyOf(set, condition.property);
    return property ? [expression(property, condition, now)] : [];
  });
  return parts.length > 0 ? parts.join(' and ') : undefined;
}

/** A condition of an address, if it means something for this set. */
export function readCondition(set: EntitySet, value: unknown): Condition | undefined {
  if (!Array.isArray(value)) return undefined;
  const [name, operator, ...values] = value as unknown[];
  const property = typeof name === 'string' ? propertyOf(set, name) : undefined;
  if (!property || values.length > MOST_VALUES) return undefined;
  const known = operatorsFor(property).find((one) => one === operator);
  if (!known) return undefined;
  if (!values.every((one): one is string => typeof one === 'string' && isValue(property, known, one))) return undefined;
  return { property: property.name, operator: known, values };
}
