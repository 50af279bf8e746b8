/** The search over everything, as the server streams it: an object in each line, in the order in which things are found. */

/** A record that was found. */
export interface Found {
  /** None where what was found is no record of a set. */
  readonly set: string | undefined;
  readonly key: string;
  readonly title: string;
  /** The text around the first match outside of the title. */
  readonly excerpt: string | undefined;
  /** How well it fits, from 0 to 100. */
  readonly score: number;
}

/** How well a record fits by how a word was found in it. */
const SCORES: Record<string, number> = { equal: 95, words: 85, beginnings: 75, parts: 60, similar: 40 };

/** What a line tells. */
export type SearchLine =
  | { readonly type: 'hit'; readonly found: Found }
  /** A set is through; whether there is more of it than was asked for. */
  | { readonly type: 'done'; readonly set: string | undefined; readonly hasMore: boolean }
  | { readonly type: 'end' };

/** What the server takes. */
const LONGEST_QUERY = 200;
const MOST_WORDS = 10;
/** The most characters of one line; whatever is longer is no line of ours. */
const LONGEST_LINE = 100_000;

/** Whether the server would look for it: letters or digits, and not too much of them. */
export function canSearch(query: string): boolean {
  const words = query.match(/[\p{L}\p{N}]+/gu) ?? [];
  return words.length > 0 && words.length <= MOST_WORDS && query.length <= LONGEST_QUERY;
}

/** Cuts a stream into lines, wherever it comes apart. */
export class LineReader {
  #rest = '';

  /** Takes what came, and gives back the lines that are complete. */
  read(piece: string): string[] {
    const lines = (this.#rest + piece).split('\n');
    this.#rest = lines.pop() ?? '';
    if (this.#rest.length > LONGEST_LINE) throw new RangeError('a line of the search is too long');
    return lines.filter((line) => line.trim() !== '');
  }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Reads a line; nothing for what this page doesn't need. */
export function readLine(line: string): SearchLine | undefined {
  const told = JSON.parse(line) as Record<string, unknown>;
  if (told.type === 'end') return { type: 'end' };
  if (told.type === 'provider') return { type: 'done', set: textOf(told.set), hasMore: told.more === true };
  if (told.type !== 'hit') return undefined;
  const hit = told.hit as Record<string, unknown>;
  const key = textOf(hit.key) ?? String(hit.address);
  const excerpt = textOf((hit.excerpt as { text?: unknown } | null | undefined)?.text);
  return {
    type: 'hit',
    found: {
      set: textOf(hit.set),
      key,
      title: textOf(hit.title) ?? key,
      excerpt,
      score: SCORES[String(hit.match)] ?? 0,
    },
  };
}
