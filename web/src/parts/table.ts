/**
 * A table of any length: only the rows in sight are in the page.
 *
 * Rows have one height, so the place of each is known without measuring, and a list of 100,000 is as light as one of 100. The
 * whole table is one stop of the Tab key; arrows walk its cells as in a spreadsheet, and the cell is told to assistive
 * technology by `aria-activedescendant`, because a cell that scrolls out of sight leaves the page and could not keep the focus.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { guard } from 'lit/directives/guard.js';
import { live } from 'lit/directives/live.js';
import { repeat } from 'lit/directives/repeat.js';
import type { Row } from '../core/pages.ts';
import { text } from '../text.ts';
import { onDensity } from './density.ts';
import { icon } from './icons.ts';
import { define, freshId, Part } from './part.ts';
import type { Entry } from './popover.ts';
import { RowSwipe, swipeButtons } from './row-swipe.ts';
import {
  asSpreadsheet,
  keyInActs,
  pullEdge,
  type CellPress,
  type Column,
  type ColumnWidth,
  type RowPress,
  type Rows,
} from './table-parts.ts';

/** Rows beyond the edges that are kept ready. */
const AHEAD = 8;
/** Below this width a row is two lines of text. */
const NARROW = 560;
const CHECK_WIDTH = 40;
/** The same where rows are two lines, for fingers. */
const CARD_CHECK_WIDTH = 44;
/** Beside the columns of a row. */
const AROUND = 20;
/** By how much a key makes a column wider. */
const WIDTH_STEP = 16;
/** What a row of two lines takes. */
const CARD = 64;
/** Around the buttons of a row. Beside a row's text they have less room around them. */
const AROUND_ACTS = 12;

export class SvcTable extends Part {
  static override properties = {
    columns: { attribute: false },
    rows: { attribute: false },
    revision: { attribute: false },
    label: { attribute: false },
    sort: { attribute: false },
    selectable: { attribute: false },
    selected: { attribute: false },
    opened: { attribute: false },
    keyOf: { attribute: false },
    titleOf: { attribute: false },
    waiting: { attribute: false },
    writing: { attribute: false },
    sizable: { attribute: false },
    fresh: { attribute: false },
    entriesOf: { attribute: false },
    swiped: { attribute: false },
    first: { state: true },
    last: { state: true },
    narrow: { state: true },
    at: { state: true },
  };
  declare columns: readonly Column[];
  declare rows: Rows;
  /** Counts up when rows came or changed. */
  declare revision: number;
  declare label: string;
  declare sort: { readonly property: string; readonly descending: boolean } | undefined;
  declare selectable: boolean;
  declare selected: ReadonlySet<string>;
  /** The key of the row that is open beside. */
  declare opened: string | undefined;
  declare keyOf: (row: Row) => string;
  declare titleOf: (row: Row) => string;
  /** What is shown is out of date; the new comes. */
  declare waiting: boolean;
  /** A press on a cell writes in it, in place of opening its row. */
  declare writing: boolean;
  /** Columns can be made wider and narrower. */
  declare sizable: boolean;
  /** The keys of rows that somebody else has just changed. */
  declare fresh: ReadonlySet<string>;
  /** What can be done with a row: where rows are two lines, a swipe lays it open. */
  declare entriesOf: ((row: Row) => readonly Entry[]) | undefined;
  /** The key of the row whose buttons are open. */
  declare swiped: string | undefined;
  declare first: number;
  declare last: number;
  declare narrow: boolean;
  /** The cell of the keyboard; column -1 is the box that selects. */
  declare at: { row: number; column: number };
  readonly #id = freshId('table');
  readonly #sizes = new ResizeObserver(() => this.#measure());
  readonly #swipe = new RowSwipe(this);
  #anchor: number | undefined;
  #line = 40;
  #control = 32;

  constructor() {
    super();
    this.columns = [];
    this.revision = 0;
    this.label = '';
    this.sort = undefined;
    this.selectable = false;
    this.selected = new Set();
    this.opened = undefined;
    this.waiting = false;
    this.writing = false;
    this.sizable = false;
    this.fresh = new Set();
    this.entriesOf = undefined;
    this.swiped = undefined;
    this.first = 0;
    this.last = 40;
    this.narrow = false;
    this.at = { row: 0, column: 0 };
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.#sizes.observe(this);
    this.atEnd(() => this.#sizes.disconnect());
    this.atEnd(onDensity(() => this.#closer()));
  }

  override focus(): void {
    this.grid?.focus();
  }

  /** Walks to a row and shows it. */
  walkTo(index: number): void {
    this.#walk(index, this.at.column);
  }

  get grid(): HTMLElement | null {
    return this.firstElementChild as HTMLElement | null;
  }

  /** Draws the buttons of a row, or of none any more. */
  show(key: string | undefined): Promise<unknown> {
    this.swiped = key;
    return this.updateComplete;
  }

  get #acts(): Column | undefined {
    return this.columns.find(({ isActs }) => isActs);
  }

  get #height(): number {
    const acts = this.#acts ? this.#control + AROUND_ACTS : 0;
    return this.narrow ? CARD + acts : Math.max(this.#line, acts);
  }

  /** Takes what the tokens say of rows and buttons. */
  #readTokens(): void {
    const style = getComputedStyle(this);
    const token = (name: string, usual: number) => Number.parseFloat(style.getPropertyValue(name)) || usual;
    this.#line = token('--svc-line', this.#line);
    this.#control = token('--svc-control', this.#control);
  }

  /** Rows have another height: the first in sight stays the first. */
  #closer(): void {
    const grid = this.grid;
    const first = grid ? grid.scrollTop / this.#height : 0;
    this.#readTokens();
    this.requestUpdate('columns');
    void this.updateComplete.then(() => grid?.scrollTo({ top: first * this.#height }));
  }

  /** What the columns take at least. */
  get #least(): number {
    return this.columns.reduce((sum, { width, fixed }) => sum + (fixed ?? width), this.selectable ? CHECK_WIDTH : 0);
  }

  #fit(): void {
    // Buttons are what a list with some is for: they stand below rather than beyond the edge.
    this.narrow = this.clientWidth < (this.#acts ? Math.max(NARROW, this.#least + AROUND) : NARROW);
  }

  #measure(): void {
    this.#fit();
    this.#look();
  }

  #scrolled(): void {
    void this.#swipe.close();
    this.#look();
  }

  /** Which rows are in sight; the page changes only when they do. */
  #look(): void {
    const grid = this.grid;
    if (!grid) return;
    const first = Math.max(0, Math.floor(grid.scrollTop / this.#height) - AHEAD);
    const last = Math.ceil((grid.scrollTop + grid.clientHeight) / this.#height) + AHEAD;
    if (Math.abs(first - this.first) >= AHEAD / 2 || Math.abs(last - this.last) >= AHEAD / 2 || first === 0) {
      this.first = first;
      this.last = last;
    }
    this.rows.want(first, last);
  }

  override willUpdate(changed: PropertyValues): void {
    if (changed.has('columns')) {
      this.#readTokens();
      this.#fit();
    }
    // No more rows are drawn at first than there is room for.
    if (!this.hasUpdated) this.last = Math.ceil(this.clientHeight / this.#height) + AHEAD;
    if (changed.has('rows') && changed.get('rows') !== undefined) {
      this.at = { row: 0, column: Math.min(this.at.column, 0) };
      this.#anchor = undefined;
      this.grid?.scrollTo({ top: 0 });
      void this.#swipe.close();
    }
    if (this.at.row >= this.rows.count) this.at = { ...this.at, row: Math.max(0, this.rows.count - 1) };
  }

  override updated(changed: PropertyValues): void {
    const grid = this.grid;
    if (grid && (changed.has('columns') || changed.has('narrow') || changed.has('selectable'))) {
      const shown = this.#shownColumns();
      const tracks = shown.map(({ width, share, fixed }) => (fixed ? `${fixed}px` : `minmax(${width}px, ${share}fr)`));
      if (this.selectable) tracks.unshift(`${CHECK_WIDTH}px`);
      grid.style.setProperty('--svc-columns', this.narrow ? this.#cardTracks() : tracks.join(' '));
      grid.style.setProperty('--svc-least', this.narrow ? '0px' : `${this.#least}px`);
      grid.style.setProperty('--svc-row', `${this.#height}px`);
    }
    this.#look();
  }

  #cardTracks(): string {
    return this.selectable ? `${CARD_CHECK_WIDTH}px minmax(0, 1fr)` : 'minmax(0, 1fr)';
  }

  #shownColumns(): readonly Column[] {
    if (!this.narrow) return this.columns;
    return [...this.columns.slice(0, 1), ...(this.#acts ? [this.#acts] : [])];
  }

  #walk(row: number, column: number): void {
    const next = {
      row: Math.max(0, Math.min(row, this.rows.count - 1)),
      column: Math.max(this.selectable ? -1 : 0, Math.min(column, this.#shownColumns().length - 1)),
    };
    this.at = next;
    const grid = this.grid;
    if (!grid) return;
    const head = this.narrow ? 0 : this.#line;
    const top = next.row * this.#height;
    if (top < grid.scrollTop) grid.scrollTop = top;
    else if (top + this.#height + head > grid.scrollTop + grid.clientHeight) {
      grid.scrollTop = top + this.#height + head - grid.clientHeight;
    }
    this.#look();
  }

  #keyed(event: KeyboardEvent): void {
    if (event.target !== this.grid) {
      keyInActs(event, () => this.focus());
      return;
    }
    const { row, column } = this.at;
    const page = Math.max(1, Math.floor(((this.grid?.clientHeight ?? 400) - this.#line) / this.#height) - 1);
    const far = event.ctrlKey || event.metaKey;
    const moves: Record<string, () => [number, number]> = {
      ArrowDown: () => [row + 1, column],
      ArrowUp: () => [row - 1, column],
      ArrowRight: () => [row, column + 1],
      ArrowLeft: () => [row, column - 1],
      PageDown: () => [row + page, column],
      PageUp: () => [row - page, column],
      Home: () => (far ? [0, column] : [row, 0]),
      End: () => (far ? [this.rows.count - 1, column] : [row, this.columns.length - 1]),
    };
    const move = moves[event.key];
    // Ctrl and arrows belong to the windows.
    if (move && !event.altKey && !(far && event.key.startsWith('Arrow'))) {
      event.preventDefault();
      if (event.shiftKey && event.key.startsWith('Arrow')) this.#anchor ??= row;
      this.#walk(...move());
      if (event.shiftKey && this.selectable) this.#selectRange(this.#anchor ?? row, this.at.row);
      else this.#anchor = undefined;
      return;
    }
    this.#act(event);
  }

  #act(event: KeyboardEvent): void {
    const row = this.rows.at(this.at.row);
    const far = event.ctrlKey || event.metaKey;
    const column = this.#shownColumns()[this.at.column];
    if (event.key === 'F2' && row && column) {
      event.preventDefault();
      this.tell<CellPress>('cell-write', { row, name: column.name });
    } else if ((event.key === '<' || event.key === '>') && column && this.sizable) {
      event.preventDefault();
      this.#widen(column, event.key === '>' ? WIDTH_STEP : -WIDTH_STEP);
    } else if (event.key === 'Enter' && row && column?.isActs) {
      event.preventDefault();
      if (!event.repeat) this.querySelector<HTMLElement>('.svc-acts[data-at] button')?.focus();
    } else if (event.key === 'Enter' && row) {
      event.preventDefault();
      this.tell<RowPress>('row-open', { index: this.at.row, row, apart: far });
    } else if (event.key === ' ' && row && this.selectable) {
      event.preventDefault();
      this.#toggle(this.at.row, event.shiftKey);
    } else if (far && event.key === 'a' && this.selectable) {
      event.preventDefault();
      this.tell('select-all', undefined);
    } else if (far && event.key === 'c' && row && getSelection()?.isCollapsed !== false) {
      event.preventDefault();
      void this.copy();
    } else if (event.key === 'Escape' && this.#swipe.isOpen) {
      event.preventDefault();
      event.stopPropagation();
      void this.#swipe.close();
    } else if (event.key === 'Escape' && this.selected.size > 0) {
      event.preventDefault();
      event.stopPropagation();
      this.tell('selection', new Set<string>());
    }
  }

  /** Puts the selected rows, or the one of the keyboard, on the clipboard as a spreadsheet takes them. */
  async copy(): Promise<void> {
    const rows: Row[] = [];
    for (let index = 0; index < this.rows.count; index += 1) {
      const row = this.rows.at(index);
      if (row && (this.selected.size > 0 ? this.selected.has(this.keyOf(row)) : index === this.at.row)) rows.push(row);
    }
    await navigator.clipboard.writeText(asSpreadsheet(this.columns, rows));
    this.tell('copied', rows.length);
  }

  /** How wide a column is on screen. */
  #widthOf(name: string): number {
    return this.querySelector(`[data-head="${CSS.escape(name)}"]`)?.getBoundingClientRect().width ?? 0;
  }

  #widen({ name }: Column, by: number): void {
    this.tell<ColumnWidth>('column-width', { name, width: Math.round(this.#widthOf(name) + by) });
  }

  #pull(event: PointerEvent, { name }: Column): void {
    pullEdge(event, this.#widthOf(name), (width) => this.tell<ColumnWidth>('column-width', { name, width }));
  }

  #toggle(index: number, range: boolean): void {
    const row = this.rows.at(index);
    if (!row) return;
    if (range && this.#anchor !== undefined) {
      this.#selectRange(this.#anchor, index);
      return;
    }
    this.#anchor = index;
    const next = new Set(this.selected);
    const key = this.keyOf(row);
    if (!next.delete(key)) next.add(key);
    this.tell('selection', next);
  }

  #selectRange(from: number, to: number): void {
    const next = new Set(this.selected);
    for (let index = Math.min(from, to); index <= Math.max(from, to); index += 1) {
      const row = this.rows.at(index);
      if (row) next.add(this.keyOf(row));
    }
    this.tell('selection', next);
  }

  #touched(event: PointerEvent): void {
    const target = event.target as Element;
    const row = this.rows.at(Number(target.closest<HTMLElement>('[data-index]')?.dataset.index ?? Number.NaN));
    const hasEntries = row !== undefined && this.narrow && (this.entriesOf?.(row).length ?? 0) > 0;
    if (!target.closest('.svc-swipe')) this.#swipe.press(event, hasEntries ? this.keyOf(row) : undefined);
  }

  #pressed(event: MouseEvent): void {
    const element = (event.target as Element).closest<HTMLElement>('[data-index]');
    if (!element || (event.target as Element).closest('.svc-cell-editor, .svc-acts, .svc-swipe')) return;
    if (this.#swipe.takesClick()) return;
    const index = Number(element.dataset.index);
    const row = this.rows.at(index);
    if (!row) return;
    const place = (event.target as Element).closest<HTMLElement>('[data-column]');
    this.at = { row: index, column: Number(place?.dataset.column ?? 0) };
    if (place?.dataset.column === '-1') {
      this.#toggle(index, event.shiftKey);
      return;
    }
    const column = this.#shownColumns()[this.at.column];
    if (this.writing && !this.narrow && column) {
      this.tell<CellPress>('cell-write', { row, name: column.name });
      return;
    }
    // Somebody marks text.
    if (getSelection()?.isCollapsed === false) return;
    this.tell<RowPress>('row-open', { index, row, apart: event.ctrlKey || event.metaKey });
  }

  #head(): TemplateResult {
    const arrow = this.sort?.descending ? 'down' : 'up';
    return html`<div class="svc-row svc-row-head" role="row" aria-rowindex="1">
      ${this.selectable ? html`<span role="columnheader" class="svc-check-cell"><span class="shell-sr">${text('table-selected')}</span></span>` : nothing}
      ${this.#shownColumns().map((column) => {
        const sorted = this.sort?.property === column.name;
        return html`<span
          role="columnheader"
          class="svc-cell"
          data-head=${column.name}
          ?data-numeric=${column.numeric}
          aria-sort=${sorted ? (this.sort?.descending ? 'descending' : 'ascending') : nothing}
        >
          ${
            column.sortable
              ? html`<button type="button" class="svc-sort" title=${column.description ?? nothing} @click=${() => this.tell('sort', column.name)}>
                <span>${column.title}</span>${sorted ? icon(arrow) : nothing}
              </button>`
              : html`<span title=${column.description ?? nothing}>${column.title}</span>`
          }
          ${
            this.narrow || !this.sizable
              ? nothing
              : html`<span class="svc-pull" aria-hidden="true" @pointerdown=${(event: PointerEvent) => this.#pull(event, column)}></span>`
          }
        </span>`;
      })}
    </div>`;
  }

  #check(row: Row, index: number): TemplateResult {
    const key = this.keyOf(row);
    return html`<span role="gridcell" id="${this.#id}-${index}--1" class="svc-check-cell" data-column="-1" ?data-at=${this.#isAt(index, -1)}>
      <input
        type="checkbox"
        tabindex="-1"
        .checked=${live(this.selected.has(key))}
        aria-label=${text('table-select', { name: this.titleOf(row) })}
      />
    </span>`;
  }

  #isAt(row: number, column: number): boolean {
    return this.at.row === row && this.at.column === column;
  }

  /** All that a row is drawn by. While others are scrolled into sight it stays as it is. */
  #shownBy(index: number): unknown[] {
    const row = this.rows.at(index);
    return [
      row,
      this.columns,
      this.#height,
      this.narrow,
      this.selectable,
      this.selected,
      this.fresh,
      row !== undefined && this.keyOf(row) === this.opened,
      row !== undefined && this.keyOf(row) === this.swiped,
      this.at.row === index ? this.at.column : undefined,
    ];
  }

  #row(index: number): TemplateResult {
    const row = this.rows.at(index);
    const position = `transform: translateY(${index * this.#height}px)`;
    if (!row) {
      return html`<div class="svc-row svc-row-ghost" role="row" aria-rowindex=${index + 2} .style=${position}>
        ${this.selectable ? html`<span role="gridcell"></span>` : nothing}
        ${this.#shownColumns().map(() => html`<span role="gridcell" class="svc-cell"><span class="svc-ghost"></span></span>`)}
      </div>`;
    }
    const key = this.keyOf(row);
    return html`<div
      class="svc-row"
      role="row"
      aria-rowindex=${index + 2}
      aria-selected=${this.selectable ? this.selected.has(key) : nothing}
      ?data-opened=${key === this.opened}
      ?data-fresh=${this.fresh.has(key)}
      ?data-swiped=${this.narrow && key === this.swiped}
      data-index=${index}
      .style=${position}
    >
      ${this.selectable ? this.#check(row, index) : nothing}
      ${
        this.narrow
          ? html`${this.#card(row, index)}${this.#acts ? this.#actsOf(this.#acts, row, [index, 1]) : nothing}${this.#swipeOf(row, key)}`
          : this.columns.map((column, place) =>
              column.isActs
                ? this.#actsOf(column, row, [index, place])
                : html`<span
                role="gridcell"
                id="${this.#id}-${index}-${place}"
                class="svc-cell"
                data-column=${place}
                ?data-numeric=${column.numeric}
                ?data-at=${this.#isAt(index, place)}
                >${column.cell(row)}</span
              >`,
            )
      }
    </div>`;
  }

  /** The buttons that a swipe lays open. */
  #swipeOf(row: Row, key: string): TemplateResult | typeof nothing {
    if (key !== this.swiped || !this.entriesOf) return nothing;
    return swipeButtons(this.entriesOf(row), () => void this.#swipe.close());
  }

  /** The buttons of a row. */
  #actsOf(column: Column, row: Row, [index, place]: readonly [number, number]): TemplateResult {
    return html`<span
      role="gridcell"
      id="${this.#id}-${index}-${place}"
      class="svc-acts"
      data-column=${place}
      ?data-at=${this.#isAt(index, place)}
      >${column.cell(row)}</span
    >`;
  }

  get #hasFoot(): boolean {
    return !this.narrow && this.columns.some(({ foot }) => foot !== undefined);
  }

  /** What stands under the columns, where something does. */
  #foot(count: number): TemplateResult | typeof nothing {
    if (!this.#hasFoot) return nothing;
    return html`<div class="svc-row svc-row-foot" role="row" aria-rowindex=${count + 2}>
      ${this.selectable ? html`<span role="gridcell"></span>` : nothing}
      ${this.columns.map(({ foot, numeric }) => html`<span role="gridcell" class="svc-cell" ?data-numeric=${numeric}>${foot ?? nothing}</span>`)}
    </div>`;
  }

  /** Two lines: what it's called, and what says most about it. */
  #card(row: Row, index: number): TemplateResult {
    const [first, ...others] = this.columns;
    const state = others.find(({ isState }) => isState);
    const parts = others
      .filter((column) => column !== state && !column.isActs && column.plain(row) !== '')
      .slice(0, 3)
      .map((column) => html`<span class="svc-card-part">${column.cell(row)}</span>`);
    return html`<span role="gridcell" id="${this.#id}-${index}-0" class="svc-card" data-column="0" ?data-at=${this.#isAt(index, 0)}>
      <span class="svc-card-head"><span class="svc-card-title">${first?.cell(row)}</span>${state?.cell(row) ?? nothing}</span>
      <span class="svc-card-line">${parts}</span>
    </span>`;
  }

  override render(): TemplateResult {
    const count = this.rows.count;
    const last = Math.min(this.last, count - 1);
    const indexes: number[] = [];
    for (let index = this.first; index <= last; index += 1) indexes.push(index);
    const isShown = this.at.row >= this.first && this.at.row <= last;
    return html`<div
      class="svc-grid"
      role="grid"
      tabindex="0"
      aria-label=${this.label}
      aria-rowcount=${count + (this.#hasFoot ? 2 : 1)}
      aria-colcount=${this.columns.length + (this.selectable ? 1 : 0)}
      aria-multiselectable=${this.selectable ? 'true' : nothing}
      aria-busy=${this.waiting ? 'true' : nothing}
      aria-activedescendant=${isShown && this.rows.at(this.at.row) ? `${this.#id}-${this.at.row}-${this.at.column}` : nothing}
      ?data-narrow=${this.narrow}
      ?data-waiting=${this.waiting}
      @scroll=${this.#scrolled}
      @keydown=${this.#keyed}
      @pointerdown=${this.#touched}
      @click=${this.#pressed}
    >
      ${this.#head()}
      <div class="svc-rows" role="rowgroup" .style=${`height: ${count * this.#height}px`}>
        ${repeat(
          indexes,
          (index) => index,
          (index) => guard(this.#shownBy(index), () => this.#row(index)),
        )}
      </div>
      ${this.#foot(count)}
    </div>`;
  }
}
define('svc-table', SvcTable);
