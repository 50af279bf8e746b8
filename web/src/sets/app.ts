/**
 * The app of an entity set, from metadata alone: a list, and beside it the record that is open or being made.
 *
 * All that decides what is shown is one state, which the window keeps: a shortcut, a duplicate, a reload and a link lead back
 * to it. Parts tell what they want by events; this element changes the state and asks the server anew where that matters.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type { Condition } from '../core/filter.ts';
import { apply } from '../client/sets.ts';
import { onRights } from '../client/rights.ts';
import { usualPageMode } from '../client/start.ts';
import {
  columnsOf,
  nextSort,
  readSort,
  readState,
  WIDTHS,
  writeState,
  type ListState,
  type Reading,
  type Sort,
} from '../core/list-state.ts';
import { propertyOf, type EntitySet, type Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { listOptions, shownOptions, type Options } from '../core/query.ts';
import { totalsOf } from '../core/summary.ts';
import { mayLeave } from '../parts/leaving.ts';
import { define, freshId, leadFocus, Part } from '../parts/part.ts';
import type { Entry, SvcPopover } from '../parts/popover.ts';
import { pager } from '../parts/pager.ts';
import { failure, failureBar } from '../parts/states.ts';
import '../parts/table.ts';
import type { SvcTable } from '../parts/table.ts';
import type { CellPress, Column, ColumnWidth, RowPress } from '../parts/table-parts.ts';
import { titleOf } from '../parts/value.ts';
import { memberName, onTexts, setName, text } from '../text.ts';
import './create.ts';
import './filters.ts';
import { follow } from './follow.ts';
import './groups.ts';
import { listHead, nothingHere } from './head.ts';
import { InPlace } from './in-place.ts';
import './notices.ts';
import './record.ts';
import { appIdOf, may, type SetHost } from './context.ts';
import type { SvcCreate } from './create.ts';
import type { SvcFilters } from './filters.ts';
import { noticesNear } from './notices.ts';
import type { SvcRecord } from './record.ts';
import { tableColumns } from './table-columns.ts';
import { rowActions } from './row-actions.ts';
import { SetRows } from './rows.ts';
import { savedViews, SHARE_VIEWS, type SavedView } from './saved-views.ts';
import './selection.ts';
import type { SelectionWork } from './selection.ts';

/** What stands for the record that is being made. */
const NEW = 'new';
/** Typing goes on; asking at each key would be for nothing. */
const PAUSE_MS = 60;
/** A list that comes sooner shows no sign of waiting. */
const PATIENCE_MS = 300;
const NO_TOTALS: Row = {};

export class SvcSetApp extends Part {
  static override properties = {
    host: { attribute: false },
    set: { attribute: false },
    view: { attribute: false },
    revision: { state: true },
    selected: { state: true },
    slow: { state: true },
    shown: { state: true },
    writing: { state: true },
    fresh: { state: true },
    totals: { state: true },
    views: { state: true },
  };
  declare host: SetHost;
  declare set: EntitySet;
  /** What is shown. */
  declare view: ListState;
  declare revision: number;
  declare selected: ReadonlySet<string>;
  declare slow: boolean;
  /** The rows on screen; those of the state before, while new ones come. */
  declare shown: SetRows | undefined;
  /** Values are written in the list itself. */
  declare writing: boolean;
  /** The keys of records that somebody else has just changed. */
  declare fresh: ReadonlySet<string>;
  /** What stands under the columns. */
  declare totals: Row;
  /** Views that the person keeps. */
  declare views: readonly SavedView[];
  readonly #id = freshId('list');
  readonly #inPlace = new InPlace(this);
  readonly #actionsOf = (row: Row) =>
    rowActions(this, this.host, this.set, row, { ran: () => this.#reload(), removed: () => this.#removed(row) });
  #coming: SetRows | undefined;
  #asked = '';
  #hasAskedViews = false;
  #columnsShown: Column[] = [];
  #columnsBy: readonly unknown[] = [];
  #typing: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.revision = 0;
    this.selected = new Set();
    this.slow = false;
    this.writing = false;
    this.fresh = new Set();
    this.totals = NO_TOTALS;
    this.views = [];
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    const again = () => this.#reload();
    const changed = (event: Event) => {
      if (event.target === this) this.#read((event as CustomEvent<Row>).detail);
    };
    this.addEventListener('records-changed', again);
    this.addEventListener('record-read', changed);
    this.atEnd(() => {
      this.removeEventListener('records-changed', again);
      this.removeEventListener('record-read', changed);
      this.#coming?.stop();
      this.shown?.stop();
      clearTimeout(this.#typing);
    });
    const otherwise = () => {
      this.#columnsBy = [];
    };
    this.atEnd(onTexts(otherwise));
    this.atEnd(onRights(otherwise));
    this.atEnd(
      follow(
        this.set.name,
        async (keys) => {
          await this.shown?.refresh();
          this.revision += 1;
          this.fresh = keys;
          await this.#askTotals();
        },
        () => {
          this.fresh = new Set();
        },
      ),
    );
  }

  override willUpdate(changes: PropertyValues): void {
    if (changes.has('view') || changes.has('set')) this.#ask();
  }

  /** Shows another state and tells the window. Other records begin on the first page. */
  go(change: Partial<ListState>): void {
    const isOther = 'search' in change || 'conditions' in change || 'sort' in change;
    const isAnother = 'record' in change && change.record !== this.view.record;
    this.view = { ...this.view, ...(isOther ? { page: 1 } : {}), ...(isAnother ? { past: undefined } : {}), ...change };
    this.tell('view', writeState(this.view));
  }

  /** Shows what an address or a shortcut says, unless that would lose something. */
  async follow(intent: unknown): Promise<void> {
    if (await mayLeave(this)) this.view = readState(this.set, intent);
    // Whoever stays has the address of where they are again.
    else this.tell('view', writeState(this.view));
  }

  get #columns(): Property[] {
    return columnsOf(this.set, this.view, this.host.look(this.set.name).columns);
  }

  get #usualSort(): Sort | undefined {
    return readSort(this.set, this.host.look(this.set.name).sort);
  }

  get #reading(): Reading {
    return this.view.reading ?? usualPageMode();
  }

  /** Asks for what stands under the columns; an answer to an older question is left out. */
  async #askTotals(): Promise<void> {
    const { view } = this;
    const wanted = totalsOf(this.set, view, new Date());
    const [totals] = wanted ? await apply<Row>(this.set.name, wanted) : [];
    if (
      view.totals === this.view.totals &&
      view.conditions === this.view.conditions &&
      view.search === this.view.search
    ) {
      this.totals = totals ?? NO_TOTALS;
    }
  }

  get #options(): Options {
    return {
      ...listOptions(this.set, this.view, new Date(), this.#usualSort),
      ...shownOptions(this.host.model, this.set, this.#columns),
    };
  }

  /** What the rows of the list depend on. */
  #question(options: Options): string {
    return JSON.stringify([
      this.set.name,
      options.$select,
      this.view.conditions,
      this.view.search,
      this.view.sort,
      this.view.totals,
      this.#reading,
      this.view.page,
    ]);
  }

  /** Asks for the list where it has become another one. */
  #ask(force = false): void {
    const options = this.#options;
    const asked = this.#question(options);
    if (asked === this.#asked && !force) return;
    this.#asked = asked;
    this.#coming?.stop();
    const page = this.#reading === 'Pager' ? this.view.page : undefined;
    const rows = new SetRows(this.set, options, () => this.#came(rows), page);
    this.#askTotals().catch((error: unknown) => noticesNear(this)?.complain(error));
    this.#coming = rows;
    const patience = setTimeout(() => {
      this.slow = this.#coming === rows;
    }, PATIENCE_MS);
    void rows.begin().finally(() => {
      clearTimeout(patience);
      this.#askViews();
    });
  }

  /** Asks for views once, behind the first rows. They are a help; without them one sets the list up by hand. */
  #askViews(): void {
    if (this.#hasAskedViews) return;
    this.#hasAskedViews = true;
    savedViews(this.set).then(
      (views) => {
        this.views = views;
      },
      () => undefined,
    );
  }

  #came(rows: SetRows): void {
    if (rows === this.#coming) {
      // What was there stays when the new can't be had.
      if (rows.problem && this.shown?.isLoaded) {
        this.revision += 1;
        this.slow = false;
        return;
      }
      this.shown?.stop();
      this.shown = rows;
      this.#coming = undefined;
      this.slow = false;
    }
    this.revision += 1;
    // An address may name a page that isn't there, or is there no more; the rows are those of the last one then.
    const { page, pageCount } = rows;
    if (pageCount === undefined || this.view.page <= pageCount) return;
    this.go({ page: pageCount });
    if (page === pageCount && rows === this.shown && !this.#coming) this.#asked = this.#question(this.#options);
  }

  #reload(): void {
    this.#ask(true);
  }

  get #table(): SvcTable | null {
    return this.querySelector('svc-table');
  }

  /** Whether something would be lost. */
  get isDirty(): boolean {
    return this.querySelector<SvcRecord | SvcCreate>('svc-record, svc-create')?.isDirty ?? false;
  }

  async #open(press: RowPress): Promise<void> {
    const key = String(press.row[this.set.key]);
    if (press.apart) {
      this.host.open(appIdOf(this.set.name), { r: key });
      return;
    }
    if (key === this.view.record || !(await mayLeave(this))) return;
    this.go({ record: key });
    await this.updateComplete;
    this.querySelector<SvcRecord>('svc-record')?.focusHead();
  }

  async #close(): Promise<void> {
    if (!(await mayLeave(this))) return;
    this.go({ record: undefined });
    await this.updateComplete;
    leadFocus(this, this.#table);
  }

  #removed(row: Row): void {
    const key = String(row[this.set.key]);
    this.selected = new Set([...this.selected].filter((one) => one !== key));
    this.go({ record: undefined });
    this.#reload();
    void this.updateComplete.then(() => leadFocus(this, this.#table));
  }

  #created(row: Row): void {
    const key = String(row[this.set.key]);
    this.view = { ...this.view, record: key, past: undefined };
    this.tell('view', writeState(this.view));
    this.#reload();
    noticesNear(this)?.say({ text: text('create-done', { name: titleOf(this.host.model, this.set, row) }) });
    void this.updateComplete.then(() => this.querySelector<SvcRecord>('svc-record')?.focusHead());
  }

  #read(row: Row): void {
    if (this.shown?.replace(row)) this.revision += 1;
  }

  #sort(name: string): void {
    this.go({ sort: nextSort(name, this.view.sort, this.#usualSort) });
  }

  #search(event: Event): void {
    const search = (event.target as HTMLInputElement).value;
    clearTimeout(this.#typing);
    this.#typing = setTimeout(() => this.go({ search }), PAUSE_MS);
  }

  #keyed(event: KeyboardEvent): void {
    const isTyping = (event.target as Element).matches('input:not([type=checkbox]), textarea, select');
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping || event.defaultPrevented) return;
    if (event.key === '/' && this.set.searchable) {
      event.preventDefault();
      this.querySelector<HTMLElement>('[type=search]')?.focus();
    } else if (event.key === 'n' && this.#mayCreate) {
      event.preventDefault();
      void this.#new();
    } else if (event.key === '?') {
      event.preventDefault();
      void import('./key-help.ts').then(({ showKeys }) => showKeys(this));
    }
  }

  get #mayCreate(): boolean {
    const own = this.host.look(this.set.name).create;
    return own ? this.host.can(own.permission) : may(this.host, this.set.insert);
  }

  async #new(): Promise<void> {
    const own = this.host.look(this.set.name).create;
    if (own) return this.host.open(own.app, undefined);
    if (await mayLeave(this)) this.go({ record: NEW });
  }

  /** The columns; others only where they show something else, since a row is drawn anew with other columns. */
  #tableColumns(): Column[] {
    const { set, view, totals } = this;
    const { model } = this.host;
    const by = [model, set, view.columns, view.widths, view.totals, totals, this.#inPlace.shown];
    if (by.length !== this.#columnsBy.length || by.some((one, place) => one !== this.#columnsBy[place])) {
      const editor = (row: Row, property: Property) => this.#inPlace.editor(row, property);
      this.#columnsShown = tableColumns(model, set, view, this.#columns, totals, editor);
      this.#columnsBy = by;
    }
    return this.#columnsShown;
  }

  #width({ name, width }: ColumnWidth): void {
    const bounded = Math.max(WIDTHS.least, Math.min(WIDTHS.greatest, width));
    this.go({ widths: { ...this.view.widths, [name]: bounded } });
  }

  #filterEntries(): Entry[] {
    const filters = this.querySelector<SvcFilters>('svc-filters');
    return (filters?.properties ?? []).map((property) => ({
      label: memberName(this.set.name, property.name),
      run: () => void filters?.add(property),
    }));
  }

  #head(): TemplateResult {
    return listHead({
      near: this,
      set: this.set,
      view: this.view,
      total: this.shown?.total,
      views: this.views,
      mayShare: this.host.can(SHARE_VIEWS),
      usual: this.host.look(this.set.name).columns,
      reading: this.#reading,
      prefix: this.#id,
      isWriting: this.#mayWrite ? this.writing : undefined,
      filters: () => this.#filterEntries(),
      search: (event) => this.#search(event),
      // The record that is open stays, with what is being written there.
      show: (state) => this.go({ ...state, record: this.view.record, past: this.view.past }),
      change: (state) => void this.#change(state),
      keepViews: (views) => {
        this.views = views;
      },
      write: () => this.#toggleWriting(),
      print: () => void this.#print(),
      create: this.#mayCreate ? () => void this.#new() : undefined,
    });
  }

  get #mayWrite(): boolean {
    return may(this.host, this.set.update) && this.view.group === undefined;
  }

  async #print(): Promise<void> {
    const { printList } = await import('./print.ts');
    const options = listOptions(this.set, this.view, new Date(), this.#usualSort);
    await printList({ near: this, model: this.host.model, set: this.set, options, columns: this.#columns });
  }

  #toggleWriting(): void {
    this.writing = !this.writing;
    if (!this.writing) this.#inPlace.leave();
    this.#table?.focus();
  }

  #write({ row, name }: CellPress): void {
    const property = propertyOf(this.set, name);
    if (property?.updatable && may(this.host, this.set.update)) void this.#inPlace.begin(row, property);
  }

  /** Changes how the list looks from within the panel, which shows it. */
  async #change(state: Partial<ListState>): Promise<void> {
    this.go(state);
    await this.updateComplete;
    for (const popover of this.querySelectorAll<SvcPopover>('.svc-head svc-popover')) popover.requestUpdate();
  }

  #select(selected: ReadonlySet<string>): void {
    this.selected = selected;
    if (selected.size === 0) leadFocus(this, this.#table);
  }

  /** What was worked on is no longer selected; what was refused stays, so that one can look at it. */
  #worked({ done, isGone }: SelectionWork): void {
    if (done.length === 0) return;
    this.selected = new Set([...this.selected].filter((key) => !done.includes(key)));
    if (isGone && done.includes(this.view.record ?? '')) this.go({ record: undefined });
    this.#reload();
    if (!isGone) void this.querySelector<SvcRecord>('svc-record')?.load();
  }

  #list(): TemplateResult {
    const rows = this.shown;
    if (rows?.problem && !rows.isLoaded) return failure(rows.problem, () => this.#reload());
    if (!rows) return html`<div class="svc-skeleton" aria-busy="true" ?data-slow=${this.slow}></div>`;
    if (rows.total === 0) {
      const drop = () => this.go({ search: '', conditions: [] });
      return nothingHere(this.set, this.view, drop, this.#mayCreate ? () => void this.#new() : undefined);
    }
    if (this.view.group !== undefined) return this.#groups();
    const problem = this.#coming?.problem ?? rows.problem;
    return html`${problem ? failureBar(problem, () => (this.#coming ? this.#reload() : rows.retry())) : nothing}
      <svc-table
        .columns=${this.#tableColumns()}
        .rows=${rows}
        .revision=${this.revision}
        .label=${setName(this.set.name)}
        .sort=${this.view.sort ?? this.#usualSort}
        .selectable=${true}
        .selected=${this.selected}
        .opened=${this.view.record}
        .waiting=${this.slow}
        .sizable=${true}
        .writing=${this.writing}
        .fresh=${this.fresh}
        .entriesOf=${this.#actionsOf}
        .keyOf=${(row: Row) => String(row[this.set.key])}
        .titleOf=${(row: Row) => titleOf(this.host.model, this.set, row)}
        @row-open=${(event: CustomEvent<RowPress>) => void this.#open(event.detail)}
        @cell-write=${(event: CustomEvent<CellPress>) => this.#write(event.detail)}
        @column-width=${(event: CustomEvent<ColumnWidth>) => this.#width(event.detail)}
        @sort=${(event: CustomEvent<string>) => this.#sort(event.detail)}
        @selection=${(event: CustomEvent<ReadonlySet<string>>) => this.#select(event.detail)}
        @select-all=${() => this.#select(rows.loadedKeys())}
        @copied=${(event: CustomEvent<number>) => noticesNear(this)?.say({ text: text('copied', { count: event.detail }) })}
      ></svc-table>
      ${rows.pageCount ? pager(this.view.page, rows.pageCount, (page) => this.#turn(page)) : nothing}`;
  }

  async #turn(page: number): Promise<void> {
    this.go({ page });
    await this.updateComplete;
    this.#table?.focus();
  }

  #groups(): TemplateResult {
    const before = this.view.group;
    const open = (condition: Condition) => {
      const conditions = [...this.view.conditions.filter((one) => one.property !== condition.property), condition];
      const was = this.view.conditions;
      this.go({ conditions, group: undefined });
      noticesNear(this)?.say({
        text: text('group-opened'),
        undo: async () => this.go({ conditions: was, group: before }),
      });
    };
    return html`<svc-groups
      .host=${this.host}
      .set=${this.set}
      .view=${this.view}
      .revision=${this.revision}
      @group-open=${(event: CustomEvent<Condition>) => open(event.detail)}
      @board-open=${(event: CustomEvent<string>) => this.go({ record: event.detail })}
    ></svc-groups>`;
  }

  #pane(): TemplateResult | typeof nothing {
    const { record } = this.view;
    if (record === undefined) return nothing;
    if (record === NEW) {
      return html`<svc-create
        .host=${this.host}
        .set=${this.set}
        @record-close=${() => void this.#close()}
        @record-created=${(event: CustomEvent<Row>) => this.#created(event.detail)}
      ></svc-create>`;
    }
    return html`<svc-record
      .host=${this.host}
      .set=${this.set}
      .key=${record}
      .past=${this.view.past}
      @record-past=${(event: CustomEvent<string | null>) => this.go({ past: event.detail ?? undefined })}
      @record-close=${() => void this.#close()}
      @record-read=${(event: CustomEvent<Row>) => this.#read(event.detail)}
      @record-removed=${(event: CustomEvent<Row>) => this.#removed(event.detail)}
    ></svc-record>`;
  }

  override render(): TemplateResult {
    const hasPane = this.view.record !== undefined;
    return html`<div class="svc-split" ?data-pane=${hasPane} @keydown=${this.#keyed}>
        <section class="svc-list" aria-label=${setName(this.set.name)}>
          ${this.#head()}
          <svc-filters
            .model=${this.host.model}
            .set=${this.set}
            .conditions=${this.view.conditions}
            @conditions=${(event: CustomEvent<readonly Condition[]>) => this.go({ conditions: event.detail })}
          ></svc-filters>
          <div class="svc-list-body">${this.#list()}</div>
          <svc-selection
            .host=${this.host}
            .set=${this.set}
            .selected=${this.selected}
            .total=${this.shown?.total ?? this.selected.size}
            .all=${listOptions(this.set, this.view, new Date(), this.#usualSort)}
            @selection=${(event: CustomEvent<ReadonlySet<string>>) => this.#select(event.detail)}
            @selection-copy=${() => void this.#table?.copy()}
            @selection-worked=${(event: CustomEvent<SelectionWork>) => this.#worked(event.detail)}
          ></svc-selection>
        </section>
        ${this.#pane()}
      </div>
      <svc-notices></svc-notices>`;
  }
}
define('svc-set-app', SvcSetApp);
