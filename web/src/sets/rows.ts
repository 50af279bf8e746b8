/**
 * The rows of a list as the server has them: asked for as they come into sight, page by page.
 *
 * A page behind one that is there is asked for by the server's own link, which stays right while records come and go; a page
 * far away by its place. An answer to a question that nobody asks any more is given up.
 *
 * Where a list is read page by page, the rows are those of one page, or of the last one where there are fewer; nothing else
 * differs.
 */
import { asProblem, isAborted } from '../client/request.ts';
import { listFrom, listNext, type Page } from '../client/sets.ts';
import type { EntitySet } from '../core/model.ts';
import { PAGE, Pages, type Row } from '../core/pages.ts';
import type { Problem } from '../core/problem.ts';
import type { Options } from '../core/query.ts';
import type { Rows } from '../parts/table-parts.ts';

/** Pages asked for at the same time. */
const MOST_AT_ONCE = 2;

export class SetRows implements Rows {
  readonly #set: EntitySet;
  readonly #options: Options;
  readonly #changed: () => void;
  readonly #pages = new Pages();
  readonly #links = new Map<number, string>();
  readonly #loading = new Set<number>();
  readonly #end = new AbortController();
  /** The place of the first row; behind it come all others, or those of one page. */
  #from: number;
  readonly #isOnePage: boolean;
  #wanted: [number, number];
  #refreshing: Promise<void> | undefined;
  problem: Problem | undefined;

  /** `page` is the one page that is read, counted from 1; without it the list goes on as one scrolls. */
  constructor(set: EntitySet, options: Options, changed: () => void, page?: number) {
    this.#set = set;
    this.#options = options;
    this.#changed = changed;
    this.#isOnePage = page !== undefined;
    this.#from = ((page ?? 1) - 1) * PAGE;
    this.#wanted = [this.#from, this.#from + PAGE - 1];
  }

  get count(): number {
    const behind = Math.max(0, (this.#pages.total ?? 0) - this.#from);
    return this.#isOnePage ? Math.min(PAGE, behind) : behind;
  }

  /** The page that is read, from 1, where it's one. */
  get page(): number | undefined {
    return this.#isOnePage ? this.#from / PAGE + 1 : undefined;
  }

  /** How many pages there are, where one is read. */
  get pageCount(): number | undefined {
    return this.#isOnePage && this.total !== undefined ? Math.max(1, Math.ceil(this.total / PAGE)) : undefined;
  }

  /** How many there are in all, once that is known. */
  get total(): number | undefined {
    return this.#pages.total;
  }

  get isLoaded(): boolean {
    return !this.#pages.isEmpty;
  }

  at(index: number): Row | undefined {
    return this.#pages.at(this.#from + index);
  }

  /** The keys of all rows that are there. */
  loadedKeys(): Set<string> {
    const rows = Array.from({ length: this.count }, (_, index) => this.at(index));
    return new Set(rows.flatMap((row) => (row ? [String(row[this.#set.key])] : [])));
  }

  want(from: number, to: number): void {
    const last = this.#isOnePage ? Math.min(to, PAGE - 1) : to;
    this.#wanted = [this.#from + from, this.#from + last];
    this.#load();
  }

  /** Asks anew for what is in sight, because something has changed; what was there stays until it comes. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#readAgain().finally(() => {
      this.#refreshing = undefined;
    });
    return this.#refreshing;
  }

  async #readAgain(): Promise<void> {
    const first = Math.floor(Math.max(0, this.#wanted[0]) / PAGE);
    const last = Math.max(first, Math.floor(Math.min(this.#wanted[1], (this.total ?? PAGE) - 1) / PAGE));
    const numbers = Array.from({ length: Math.min(MOST_AT_ONCE, last - first + 1) }, (_, place) => first + place);
    const { signal } = this.#end;
    try {
      const found = await Promise.all(
        numbers.map((page) => listFrom(this.#set, this.#options, page * PAGE, page === first, signal)),
      );
      this.#pages.clear();
      this.#links.clear();
      for (const [place, page] of numbers.entries()) if (found[place]) this.#take(page, found[place]);
      if (this.#isTurnedBack()) return await this.#readAgain();
      this.problem = undefined;
      this.#changed();
    } catch (error) {
      // What is shown stays; the next change asks again.
      if (!isAborted(error) && asProblem(error).status === -1) throw error;
    }
  }

  /** Asks again for what failed. */
  retry(): void {
    this.problem = undefined;
    this.#load();
  }

  /** The first page; resolves when it's there or has failed. */
  async begin(): Promise<void> {
    await this.#fetch(this.#from / PAGE);
  }

  stop(): void {
    this.#end.abort();
  }

  replace(row: Row): boolean {
    return this.#pages.replace(this.#set.key, row[this.#set.key], row);
  }

  #load(): void {
    if (this.problem || this.#end.signal.aborted) return;
    for (const page of this.#pages.missing(...this.#wanted)) {
      if (this.#loading.size >= MOST_AT_ONCE) return;
      if (!this.#loading.has(page)) void this.#fetch(page);
    }
  }

  async #fetch(page: number): Promise<void> {
    this.#loading.add(page);
    const link = this.#links.get(page);
    const { signal } = this.#end;
    try {
      const found = await (link ? listNext(link, signal) : this.#first(page, signal));
      this.#take(page, found);
      // Nobody is told of a page that isn't there.
      if (this.#isTurnedBack()) return await this.#fetch(this.#from / PAGE);
    } catch (error) {
      if (isAborted(error)) return;
      this.problem = asProblem(error);
    } finally {
      this.#loading.delete(page);
    }
    this.#changed();
    this.#load();
  }

  #first(page: number, signal: AbortSignal): Promise<Page> {
    return listFrom(this.#set, this.#options, page * PAGE, this.total === undefined, signal);
  }

  /** Turns back to the last page where the one that is read is behind it, and says whether it was. */
  #isTurnedBack(): boolean {
    const last = ((this.pageCount ?? Number.POSITIVE_INFINITY) - 1) * PAGE;
    if (this.#from <= last) return false;
    this.#pages.clear();
    this.#from = last;
    this.#wanted = [last, last + PAGE - 1];
    return true;
  }

  #take(page: number, { rows, total, next }: Page): void {
    this.#pages.put(page, rows);
    if (next) this.#links.set(page + 1, next);
    if (total !== undefined) this.#pages.total = total;
    // The list ends earlier, or goes on longer, than was counted in the beginning.
    else if (rows.length < PAGE) this.#pages.total = page * PAGE + rows.length;
  }
}
