/** In which currency or unit the numbers of a property are, and what of records has to be asked for to know it. */
import { propertyOf, type EntitySet, type Property } from './model.ts';
import type { Row } from './pages.ts';

/** Units by the words that `Intl` has them under. Any other stands behind its number as it's written. */
const KNOWN: Readonly<Record<string, string>> = {
  '%': 'percent',
  '°C': 'celsius',
  '°F': 'fahrenheit',
  B: 'byte',
  kB: 'kilobyte',
  MB: 'megabyte',
  GB: 'gigabyte',
  TB: 'terabyte',
  mm: 'millimeter',
  cm: 'centimeter',
  m: 'meter',
  km: 'kilometer',
  g: 'gram',
  kg: 'kilogram',
  ml: 'milliliter',
  l: 'liter',
  L: 'liter',
  ha: 'hectare',
  ms: 'millisecond',
  s: 'second',
  min: 'minute',
  h: 'hour',
  d: 'day',
  day: 'day',
  week: 'week',
  month: 'month',
  year: 'year',
};

/** A unit as `Intl` knows it; nothing where it doesn't. */
export function knownUnit(unit: string): string | undefined {
  return Object.hasOwn(KNOWN, unit) ? KNOWN[unit] : undefined;
}

/** What stands at the end of a path that begins at a record; nothing where it leads nowhere. */
function along(row: unknown, path: string): unknown {
  const into = (found: unknown, name: string) =>
    typeof found === 'object' && found !== null ? (found as Row)[name] : undefined;
  return path.split('/').reduce(into, row);
}

/** The currency or unit of a property's number in a record; nothing where it has none there. */
export function measuredIn({ measure }: Pick<Property, 'measure'>, row: Row): string | undefined {
  if (!measure) return undefined;
  const said = measure.by === undefined ? measure.always : along(row, measure.by);
  return typeof said === 'string' && said !== '' ? said : undefined;
}

/** What is known of a line: its own values, and where its way back leads those of the record that it stands in, as they are written. */
export function lineWithin(line: Row, back: string | undefined, record: Row | undefined): Row {
  if (back === undefined || record === undefined) return line;
  return { ...line, [back]: { ...(line[back] as Row | null | undefined), ...record } };
}

/** The properties that hold currencies and units of others, each once. */
export function measuring(set: EntitySet, properties: readonly Property[]): Property[] {
  const found = properties.flatMap(({ measure }) =>
    measure?.by === undefined ? [] : (propertyOf(set, measure.by) ?? []),
  );
  return [...new Set(found)];
}

/** The paths to currencies and units that stand on what a record refers to, each once. */
export function measuringAlong(properties: readonly Property[]): string[] {
  return [...new Set(properties.flatMap(({ measure }) => (measure?.by?.includes('/') ? [measure.by] : [])))];
}

/** A property whose numbers stand by themselves, as a spreadsheet takes them. */
export function unmeasured(property: Property): Property {
  return { ...property, measure: undefined };
}

/** The names that the least and the greatest currency or unit of many records come under: no property may have them. */
export function rangeNames(by: string): readonly [string, string] {
  const name = by.replaceAll('/', '_');
  return [`least_${name}`, `greatest_${name}`];
}

/** What has to be asked for beside totals, to know whether all that is summed up is in one currency or unit; `''` where it's missing. */
export function rangesOf(set: EntitySet, properties: readonly Property[]): string[] {
  // What a record refers to may be gone, or hidden.
  const elsewhere = measuringAlong(properties).map((name) => ({ name, nullable: true }));
  return [...measuring(set, properties), ...elsewhere].flatMap(({ name, nullable }) => {
    const [least, greatest] = rangeNames(name);
    const said = nullable ? `case(${name} eq null:'',true:${name})` : name;
    return [`${said} with min as ${least}`, `${said} with max as ${greatest}`];
  });
}

/** What a total is in, or that it can't be told since what is summed up isn't in one currency or unit. */
export function totalIn(property: Property, totals: Row): { readonly row: Row } | 'mixed' {
  const by = property.measure?.by;
  if (by === undefined) return { row: {} };
  const [least, greatest] = rangeNames(by).map((name) => totals[name] ?? '');
  if (least !== greatest) return 'mixed';
  const row = by.split('/').reduceRight<unknown>((found, name) => ({ [name]: found }), least);
  return { row: row as Row };
}
