/**
 * How every part looks, as text that can be read and compared: `looks.txt`.
 *
 * A line for each element, in its place below the one that it stands in, with what is to be said of it (`at`, where it stands in
 * that one, and `color`, `border` and the like). A fact that isn't the same in both languages, at both widths, in the light and
 * in the dark is said once for each that it depends on: `color #1b1f27 | dark = #eceef2`. What isn't said of `de narrow` is as it
 * is for `narrow`, and what isn't said at all is as it usually is.
 */

/** What is said of an element. */
export type Facts = Record<string, string>;

/** Between the names of an element and of what stands in it. */
export const WITHIN = ' › ';

/** An element: in which part it is, and by which name, which begins with those of all that it stands in. */
export interface Seen {
  readonly part: string;
  readonly name: string;
  readonly facts: Facts;
}

/** Whom a page is shown to: of each of these one or the other. */
export const LABELS = ['de', 'narrow', 'dark'] as const;
export const WAYS = Array.from({ length: 2 ** LABELS.length }, (_none, way) => way);

/** Nothing out of the ordinary, and not there at all. */
const USUAL = 'none';
const ABSENT = '–';

/** A value for each way; nothing where it was not looked for. */
type Values = (string | undefined)[];

/** The labels of a way, of those that matter. */
function labelsOf(way: number, labels: readonly string[]): string[] {
  return LABELS.filter((label, bit) => labels.includes(label) && (way >> bit) & 1);
}

/** What holds for some labels: what is said of them, or of those that are left without the first. */
function holding(said: ReadonlyMap<string, string>, labels: readonly string[]): string | undefined {
  const value = said.get(labels.join(' '));
  return value !== undefined || labels.length === 0 ? value : holding(said, labels.slice(1));
}

/** Values said once for each that they depend on. */
export function fold(values: Values): string {
  const merged = [...values];
  const labels = LABELS.filter((_label, bit) => {
    const other = (way: number) => merged[way ^ (1 << bit)];
    const isNeeded = WAYS.some((way) => {
      const [one, two] = [merged[way], other(way)];
      return one !== undefined && two !== undefined && one !== two;
    });
    if (!isNeeded) for (const way of WAYS) merged[way] ??= other(way);
    return isNeeded;
  });
  const said = new Map<string, string>();
  for (const way of WAYS) {
    const value = merged[way];
    const of = labelsOf(way, labels);
    if (value !== undefined && value !== holding(said, of)) said.set(of.join(' '), value);
  }
  return [...said].map(([name, value]) => (name ? `${name} = ${value}` : value)).join(' | ');
}

/** The value for each way. */
export function unfold(text: string): Values {
  const entries = text.split(' | ').map((one): [string, string] => {
    const [, name = '', value = one] = /^((?:de|narrow|dark)(?: (?:narrow|dark))*) = (.*)$/.exec(one) ?? [];
    return [name, value];
  });
  const labels = LABELS.filter((label) => entries.some(([name]) => name.split(' ').includes(label)));
  const said = new Map(entries);
  return WAYS.map((way) => holding(said, labelsOf(way, labels)));
}

/** What is said of an element in every way. */
type Kept = Map<string, Values>;

/** By the part and the name. */
type Looks = Map<string, Map<string, Kept>>;

/** Puts together what was seen in each way. A part that wasn't looked at in one says nothing of it. */
function gather(seen: readonly (readonly Seen[])[]): Looks {
  const looks: Looks = new Map();
  for (const part of new Set(seen.flat().map((one) => one.part))) {
    const ways = seen.map((all) => all.filter((one) => one.part === part));
    const elements = new Map<string, Kept>();
    for (const name of inOrder(ways)) elements.set(name, new Map());
    for (const [way, all] of ways.entries()) {
      for (const { name, facts } of all) {
        for (const [fact, value] of Object.entries(facts)) {
          const values = elements.get(name)?.get(fact) ?? [];
          values[way] = value;
          elements.get(name)?.set(fact, values);
        }
      }
    }
    looks.set(part, elements);
  }
  for (const [way, all] of seen.entries()) complete(looks, way, all);
  return looks;
}

/** The names of elements, each before those of what it holds; what isn't there in every way stands behind what it follows. */
function inOrder(ways: readonly (readonly Seen[])[]): string[] {
  const within = new Map<string, string[]>();
  for (const all of ways) {
    const last = new Map<string, number>();
    for (const { name } of all) {
      const around = name.slice(0, Math.max(0, name.lastIndexOf(WITHIN)));
      const names = within.get(around) ?? [];
      within.set(around, names);
      const known = names.indexOf(name);
      const at = known < 0 ? (last.get(around) ?? -1) + 1 : known;
      if (known < 0) names.splice(at, 0, name);
      last.set(around, at);
    }
  }
  const walk = (around: string): string[] => (within.get(around) ?? []).flatMap((name) => [name, ...walk(name)]);
  return walk('');
}

/** Says of what is absent that it is, and of what is as usual in this way alone, too. */
function complete(looks: Looks, way: number, all: readonly Seen[]): void {
  const parts = new Set(all.map(({ part }) => part));
  const there = new Set(all.map(({ part, name }) => `${part} ${name}`));
  for (const [part, elements] of looks) {
    if (!parts.has(part)) continue;
    for (const [name, facts] of elements) {
      const isThere = there.has(`${part} ${name}`);
      for (const [fact, values] of facts) {
        if (isThere) values[way] ??= USUAL;
        else if (fact === 'at') values[way] = ABSENT;
      }
    }
  }
}

/** The text of what was seen in each way. */
export function write(seen: readonly (readonly Seen[])[]): string {
  const parts = [...gather(seen)].map(([part, elements]) => {
    const lines = [...elements].map(([name, facts]) => {
      const path = name.split(WITHIN);
      const said = [...facts].map(([fact, values]) => `${fact} ${fold(values)}`);
      return `${'  '.repeat(path.length - 1)}${[path.at(-1), ...said].join('; ')}`;
    });
    return `## ${part}\n${lines.join('\n')}\n`;
  });
  return parts.join('\n');
}

/** What the text says. */
function readLooks(written: string): Looks {
  const looks: Looks = new Map();
  let elements = new Map<string, Kept>();
  let path: string[] = [];
  for (const line of written.split('\n')) {
    const [name, ...facts] = line.trim().split('; ');
    if (!name || line.startsWith('# ')) continue;
    if (line.startsWith('## ')) {
      elements = new Map();
      looks.set(line.slice(3), elements);
      continue;
    }
    const depth = (line.length - line.trimStart().length) / 2;
    const said = facts.map((fact): [string, Values] => {
      const space = fact.indexOf(' ');
      return [fact.slice(0, space), unfold(fact.slice(space + 1))];
    });
    path = [...path.slice(0, depth), name];
    elements.set(path.join(WITHIN), new Map(said));
  }
  return looks;
}

const TOKEN = /#[0-9a-f]{6}|-?\d+(?:\.\d+)?|[^#\d-]+|./g;

/** Whether two values are the same but for rounding: measures by `slack`, colours by one step of their light. */
export function isSame(one: string, other: string, slack: number): boolean {
  const [left, right] = [one.match(TOKEN) ?? [], other.match(TOKEN) ?? []];
  const isNear = (a: string, b: string | undefined): boolean => {
    if (a === b || b === undefined) return a === b;
    if (a.length === 7 && a.startsWith('#') && b.startsWith('#')) {
      return [1, 3, 5].every(
        (at) => Math.abs(Number.parseInt(a.slice(at, at + 2), 16) - Number.parseInt(b.slice(at, at + 2), 16)) <= 1,
      );
    }
    // Of tenths nothing is exact.
    return Math.abs(Number(a) - Number(b)) < slack + 0.01;
  };
  return left.length === right.length && left.every((token, place) => isNear(token, right[place]));
}

/** What is other than it was kept, a line each, as far as it was looked at. */
export function differences(kept: string, seen: readonly (readonly Seen[])[], slack: number): string[] {
  const [before, after] = [readLooks(kept), gather(seen)];
  return [...new Set([...before.keys(), ...after.keys()])].flatMap((part) => {
    const ways = WAYS.filter((way) => seen[way]?.some((one) => one.part === part));
    if (ways.length === 0) return seen.every((all) => all.length > 0) ? [`${part} is gone`] : [];
    const [was, is] = [before.get(part), after.get(part)];
    return [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])].flatMap((name) =>
      changes(was?.get(name), is?.get(name), ways, slack).map((change) => `${short(part, name)}: ${change}`),
    );
  });
}

/** Of a long way to an element its end is enough. */
function short(part: string, name: string): string {
  return [part, ...name.split(WITHIN).slice(-3)].join(WITHIN);
}

/** What is other of an element; of one that came or went that alone. */
function changes(was: Kept | undefined, is: Kept | undefined, ways: readonly number[], slack: number): string[] {
  const value = (kept: Kept | undefined, fact: string, way: number) => {
    if (kept) return kept.get(fact)?.[way] ?? USUAL;
    return fact === 'at' ? ABSENT : USUAL;
  };
  if ((!was || !is) && !(was ?? is)?.has('at')) return [is ? 'is new' : 'is gone'];
  const isThere = (way: number) => [was, is].every((kept) => kept && value(kept, 'at', way) !== ABSENT);
  return [...new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])].flatMap((fact) => {
    const isPlace = fact === 'at';
    const other = ways.filter(
      (way) => (isPlace || isThere(way)) && !isSame(value(was, fact, way), value(is, fact, way), slack),
    );
    const [first] = other;
    if (first === undefined) return [];
    const where = labelsOf(first, LABELS).join(' ') || 'en, wide, light';
    const more = other.length > 1 ? ` and ${other.length - 1} more` : '';
    return [`${fact} ${value(is, fact, first)}, was ${value(was, fact, first)} (${where}${more})`];
  });
}
