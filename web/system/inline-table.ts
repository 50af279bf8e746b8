/** Tables as the configuration writes them on one line: `{ partner = { ClientId = "shop", Audience = (none), Roles = {} } }`. */

export interface Table {
  /** What stands under a name: a text without its quotes, anything else as it's written, or a table again. */
  readonly [name: string]: string | Table;
}

const KEY = /\s*([\w-]+|"(?:[^"\\]|\\.)*")\s*=\s*/y;
const TEXT = /"(?:[^"\\]|\\.)*"/y;
const LIST = /\[(?:[^\]"]|"(?:[^"\\]|\\.)*")*\]/y;
const OTHER = /[^,{}[\]]+/y;
const BETWEEN = /\s*([,}])\s*/y;

/** Reads one; nothing where it's none. */
export function readTable(written: string): Table | undefined {
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(written);
    if (!found) return undefined;
    at = pattern.lastIndex;
    return found[1] ?? found[0];
  };
  const unquoted = (text: string): string => (text.startsWith('"') ? (JSON.parse(text) as string) : text);
  const table = (): Table => {
    const found: Record<string, string | Table> = {};
    at += 1;
    for (let key = take(KEY); key !== undefined; key = take(KEY)) {
      const value = written[at] === '{' ? table() : (take(TEXT) ?? take(LIST) ?? take(OTHER)?.trim() ?? '');
      found[unquoted(key)] = typeof value === 'string' ? unquoted(value) : value;
      if (take(BETWEEN) !== ',') return found;
    }
    take(BETWEEN);
    return found;
  };
  try {
    return written.startsWith('{') ? table() : undefined;
  } catch {
    // A text that isn't written as one.
    return undefined;
  }
}
