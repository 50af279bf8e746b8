/** Rows of a list that the API hands out page by page (`take`, `after`): each next page is asked for as the end comes into sight. */
import { asProblem, isAborted, send } from '../client/request.ts';
import type { Row } from '../core/pages.ts';
import type { Problem } from '../core/problem.ts';
import type { Rows } from './table-parts.ts';

interface Listing {
  items: Row[];
  next: string | null;
}

const TAKE = 50;
/** A page may hold little or nothing though there is more behind it: the server looks only so far for what a list is narrowed to. */
const EMPTY_PAGES = 20;
/** What a page holds at most, and how many such pages are asked for again at once. */
const MOST_TAKE = 200;
const MOST_RENEWED = 5;

export class CursorRows implements Rows {
  readonly #path: string;
  readonly #changed: () => void;
  readonly #end = new AbortController();
  #rows: Row[] = [];
  #next: string | null = null;
  #isLoading = false;
  #isStale = false;
  /** How many pages were read. */
  pages = 0;
  isLoaded = false;
  problem: Problem | undefined;

  /** `path` with what narrows the list, such as `/api/v1/jobs?state=dead`. */
  constructor(path: string, changed: () => void) {
    this.#path = path;
    this.#changed = changed;
  }

  /** What is there, and one more where more is to come. */
  get count(): number {
    return this.#rows.length + (this.#next === null ? 0 : 1);
  }

  /** How many are there. */
  get loaded(): number {
    return this.#rows.length;
  }

  /** Whether there are more than are there. */
  get hasMore(): boolean {
    return this.#next !== null;
  }

  at(index: number): Row | undefined {
    return this.#rows[index];
  }

  find(id: string): Row | undefined {
    return this.#rows.find((row) => row.id === id);
  }

  want(_from: number, to: number): void {
    if (this.isLoaded && this.#next !== null && to >= this.#rows.length) void this.#load(this.#next);
  }

  /** The first page. */
  async begin(): Promise<void> {
    await this.#load(undefined);
  }

  stop(): void {
    this.#end.abort();
  }

  /** Asks for the first page again: what is new comes in front, what is there is brought up to date. */
  async refresh(): Promise<void> {
    if (this.#isLoading || this.#end.signal.aborted) return;
    try {
      const { items, next } = await this.#ask(undefined);
      // One page is simply the new one. Behind it stays what was read before, whatever has moved there.
      const known = new Set(items.map((row) => row.id));
      const isOnePage = this.pages <= 1 || next === null;
      const fresh = isOnePage ? items : [...items, ...this.#rows.filter((row) => !known.has(row.id))];
      if (isOnePage) this.#next = next;
      if (JSON.stringify(fresh) === JSON.stringify(this.#rows) && !this.problem) return;
      this.#rows = fresh;
      this.problem = undefined;
      this.isLoaded = true;
    } catch (error) {
      if (isAborted(error)) return;
      this.problem = asProblem(error);
    }
    this.#changed();
  }

  /** Takes rows out that are known to be gone. */
  drop(isGone: (row: Row) => boolean): void {
    this.#rows = this.#rows.filter((row) => !isGone(row));
    this.#changed();
  }

  /**
   * Asks for as many rows as there are anew, from the first: what is gone leaves, wherever it stood. Of a very long list what is far
   * behind is asked for when it comes into sight again.
   */
  async renew(): Promise<void> {
    if (this.#end.signal.aborted) return;
    this.#isStale = this.#isLoading;
    if (this.#isLoading) return;
    this.#isLoading = true;
    try {
      const wanted = Math.max(TAKE, this.#rows.length);
      const rows: Row[] = [];
      let next: string | null | undefined;
      for (let page = 0; page < MOST_RENEWED && next !== null && rows.length < wanted; page += 1) {
        const found = await this.#ask(next, Math.min(MOST_TAKE, wanted - rows.length));
        rows.push(...found.items);
        next = found.next;
      }
      this.#rows = rows;
      this.#next = next ?? null;
      this.isLoaded = true;
      this.problem = undefined;
    } catch (error) {
      if (isAborted(error)) return;
      this.problem = asProblem(error);
    } finally {
      this.#isLoading = false;
    }
    this.#changed();
    if (this.#isStale) await this.renew();
  }

  async #ask(after: string | undefined, take = TAKE): Promise<Listing> {
    const url = new URL(this.#path, location.origin);
    url.searchParams.set('take', String(take));
    if (after !== undefined) url.searchParams.set('after', after);
    return (await send<Listing>(url.pathname + url.search, { signal: this.#end.signal })).body;
  }

  /** The page behind, and those behind that as long as they are empty. */
  async #append(after: string | undefined): Promise<void> {
    let from = after;
    for (let empty = 0; empty < EMPTY_PAGES; empty += 1) {
      const { items, next } = await this.#ask(from);
      this.#rows = [...this.#rows, ...items];
      this.#next = next;
      this.pages += 1;
      if (items.length > 0 || next === null) return;
      from = next;
    }
  }

  async #load(after: string | undefined): Promise<void> {
    if (this.#isLoading || this.problem) return;
    this.#isLoading = true;
    try {
      await this.#append(after);
      this.isLoaded = true;
    } catch (error) {
      if (isAborted(error)) return;
      this.problem = asProblem(error);
    } finally {
      this.#isLoading = false;
    }
    this.#changed();
    if (this.#isStale) await this.renew();
  }
}
