/**
 * What happened to a record: a timeline in words, the newest first. What an entry changed is listed under it; each leads back,
 * by way of a preview that says what will happen and what others have changed since.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { asProblem, isAborted } from '../client/request.ts';
import { entriesOf, type Entries } from '../client/history.ts';
import { hasMore, heldThrough, stepOf, waysBack, type Entry, type Held, type RestoreMode } from '../core/history.ts';
import { ALL_PAST, EMPTY, writeState } from '../core/list-state.ts';
import type { EntitySet } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import type { Problem } from '../core/problem.ts';
import { icon, type IconName } from '../parts/icons.ts';
import { define, Part } from '../parts/part.ts';
import { menuButton } from '../parts/popover.ts';
import { failure, failureBar, state } from '../parts/states.ts';
import { timeAgo } from '../parts/value.ts';
import { text } from '../text.ts';
import { appIdOf, may, type SetHost } from './context.ts';
import { changedValues, changesOf, howOf, ReferenceNames, sentenceOf, toldFields } from './history-values.ts';
import { restoreWith } from './history-restore.ts';

/** Entries that are read in search of one that an address points at. */
const MOST_SOUGHT = 200;

const SIGNS: Record<Entry['operation'], IconName> = {
  created: 'plus',
  updated: 'edit',
  deleted: 'trash',
  restored: 'undo',
  purged: 'trash',
  event: 'play',
};

export class SvcHistory extends Part {
  static override properties = {
    host: { attribute: false },
    set: { attribute: false },
    key: { attribute: false },
    row: { attribute: false },
    version: { attribute: false },
    pointed: { attribute: false },
    entries: { state: true },
    problem: { state: true },
    isLoading: { state: true },
  };
  declare host: SetHost;
  declare set: EntitySet;
  declare key: string;
  /** The record as it is now. */
  declare row: Row;
  /** Another one: there is something new to tell. */
  declare version: unknown;
  /** The entry that an address points at. */
  declare pointed: string | undefined;
  declare entries: Entries | undefined;
  declare problem: Problem | undefined;
  declare isLoading: boolean;
  #names: ReferenceNames | undefined;
  #loading: AbortController | undefined;
  /** What was pointed at, once it was gone to. */
  #reached: string | undefined;

  constructor() {
    super();
    this.isLoading = false;
  }

  override willUpdate(changes: PropertyValues): void {
    if (changes.has('key') || changes.has('set')) {
      this.entries = undefined;
      this.#names = new ReferenceNames(this.host.model, this.set);
    }
    if (changes.has('key') || changes.has('set') || changes.has('version')) void this.#load(null);
  }

  /** Goes to the entry that is pointed at, once; an old one is looked for page by page, up to a bound. */
  override updated(): void {
    const { pointed, entries } = this;
    // What can't be read isn't asked for again until somebody says so.
    if (!entries || this.isLoading || this.problem || pointed === this.#reached || pointed === ALL_PAST) return;
    const entry = this.querySelector<HTMLElement>(`[data-entry="${CSS.escape(pointed ?? '')}"]`);
    const isSought = !entry && entries.next !== null && entries.items.length < MOST_SOUGHT;
    if (isSought) {
      void this.#load(entries.next);
      return;
    }
    this.#reached = pointed;
    entry?.scrollIntoView({ block: 'center' });
    entry?.focus({ preventScroll: true });
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#loading?.abort();
  }

  /** The newest entries, or those behind the ones that are there. */
  async #load(after: string | null): Promise<void> {
    this.#loading?.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    this.isLoading = true;
    this.problem = undefined;
    try {
      const page = await entriesOf(this.set.name, this.key, after, signal);
      await this.#names?.learn(page.items.flatMap(({ fields }) => changedValues(fields)));
      if (signal.aborted) return;
      const before = after === null ? [] : (this.entries?.items ?? []);
      this.entries = { items: [...before, ...page.items], next: page.next };
    } catch (error) {
      if (!isAborted(error)) this.problem = asProblem(error);
    }
    if (!signal.aborted) this.isLoading = false;
  }

  async #restore(entry: Entry, mode: RestoreMode): Promise<void> {
    const names = this.#names;
    if (!names) return;
    const action = await restoreWith({ near: this, set: this.set, key: this.key, now: this.row, names }, entry, mode);
    if (action) this.tell('record-restored', action);
  }

  #ways(entry: Entry, isNewest: boolean): TemplateResult | typeof nothing {
    const modes = may(this.host, this.set.update) ? waysBack(entry, isNewest) : [];
    if (modes.length === 0) return nothing;
    return menuButton(text('history-ways'), () =>
      modes.map((mode) => ({
        label: text(`history-mode-${mode}`, { operation: entry.operation }),
        icon: 'undo',
        run: () => void this.#restore(entry, mode),
      })),
    );
  }

  #entry(entry: Entry, held: Held | undefined, isNewest: boolean): TemplateResult {
    const names = this.#names as ReferenceNames;
    const how = howOf(entry.by);
    const comment = stepOf(entry)?.comment;
    const isPointed = entry.id === this.pointed;
    return html`<li class="svc-entry" tabindex="-1" data-entry=${entry.id} ?data-pointed=${isPointed} aria-current=${isPointed ? 'true' : nothing}>
      <span class="svc-entry-sign">${icon(SIGNS[entry.operation])}</span>
      <div class="svc-entry-body">
        <p>${sentenceOf(this.set, names, entry, held)}</p>
        ${comment ? html`<p>“${comment}”</p>` : nothing}
        <p class="svc-soft">${this.#link(entry)}${how ? html` · ${how}` : nothing}${entry.tookBack ? html` · ${text('history-took-back')}` : nothing}</p>
        ${hasMore(entry) ? this.#more(entry, held) : nothing}
      </div>
      ${this.#ways(entry, isNewest)}
    </li>`;
  }

  /** The time is the address of the entry: it's copied from there, and a press goes there. */
  #link(entry: Entry): TemplateResult {
    const state = JSON.stringify(writeState({ ...EMPTY, record: this.key, past: entry.id }));
    const address = `${location.pathname}?app=${appIdOf(this.set.name)}#${new URLSearchParams({ state })}`;
    const point = (event: MouseEvent) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
      event.preventDefault();
      this.tell('record-past', entry.id);
    };
    return html`<a class="svc-quiet" href=${address} @click=${point}>${timeAgo(entry.time)}</a>`;
  }

  /** A record that was made tells all its values; a change shows at once what it changed. */
  #more(entry: Entry, held: Held | undefined): TemplateResult {
    const fields = changesOf(this.set, this.#names as ReferenceNames, entry.fields, held);
    if (entry.operation === 'updated') return fields;
    return html`<details class="svc-more"><summary>${text('history-values', { count: toldFields(this.set, entry.fields).length })}</summary>${fields}</details>`;
  }

  override render(): TemplateResult {
    const { entries, problem } = this;
    if (!entries) {
      return problem
        ? failure(problem, () => void this.#load(null))
        : html`<div class="svc-skeleton" aria-busy="true"></div>`;
    }
    if (entries.items.length === 0) return state('history', text('history-none'), text('history-none-text'));
    const { next } = entries;
    const held = heldThrough(entries.items, this.row);
    return html`<ol class="svc-timeline" aria-label=${text('history')}>${entries.items.map((entry, index) => this.#entry(entry, held[index], index === 0))}</ol>
      ${problem ? failureBar(problem, () => void this.#load(next)) : nothing}
      ${next === null ? nothing : html`<button type="button" class="svc-button" ?disabled=${this.isLoading} @click=${() => void this.#load(next)}>${text('history-older')}</button>`}`;
  }
}
define('svc-history', SvcHistory);
