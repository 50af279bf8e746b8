/**
 * Records of a list that may be long: which pages are there, which are wanted, which are let go.
 *
 * A list is seen through a window; only the pages around it are asked for, and pages that nobody looked at for long are
 * forgotten, so that a list of any length takes the memory of a few pages.
 */

/** A record as it came. */
export type Row = Record<string, unknown>;

/** Records to a page. */
export const PAGE = 100;
/** Pages that are kept at most. */
export const MOST_PAGES = 40;

/** The pages of a list. */
export class Pages {
  /** In the order in which they were last looked at. */
  readonly #pages = new Map<number, Row[]>();
  /** How many records there are in all, when that is known. */
  total: number | undefined;

  /** The record at a place, when it's there. */
  at(index: number): Row | undefined {
    return this.#pages.get(Math.floor(index / PAGE))?.[index % PAGE];
  }

  get isEmpty(): boolean {
    return this.#pages.size === 0;
  }

  /** Those of the pages from one place to another that aren't there. */
  missing(from: number, to: number): number[] {
    const last = this.total === undefined ? to : Math.min(to, this.total - 1);
    const numbers: number[] = [];
    for (let page = Math.floor(Math.max(from, 0) / PAGE); page * PAGE <= last; page += 1) {
      const rows = this.#pages.get(page);
      if (!rows) numbers.push(page);
      else {
        this.#pages.delete(page);
        this.#pages.set(page, rows);
      }
    }
    return numbers;
  }

  /** Forgets all pages; how many records there are stays known. */
  clear(): void {
    this.#pages.clear();
  }

  put(page: number, rows: Row[]): void {
    this.#pages.delete(page);
    this.#pages.set(page, rows);
    for (const oldest of this.#pages.keys()) {
      if (this.#pages.size <= MOST_PAGES) break;
      this.#pages.delete(oldest);
    }
  }

  /** Changes the record with a key in place; says whether it was there. */
  replace(key: string, value: unknown, row: Row): boolean {
    for (const rows of this.#pages.values()) {
      const index = rows.findIndex((one) => one[key] === value);
      if (index >= 0) {
        rows[index] = row;
        return true;
      }
    }
    return false;
  }

  /** The place of the record with a key, among those that are there. */
  indexOf(key: string, value: unknown): number | undefined {
    for (const [page, rows] of this.#pages) {
      const index = rows.findIndex((one) => one[key] === value);
      if (index >= 0) return page * PAGE + index;
    }
    return undefined;
  }
}
