/**
 * Tasks: the records of all sets that await the person, taken on from here without opening them.
 *
 * What is shown is asked for anew when records move anywhere (`workflows.moved`), when the page comes into sight, and after each step of
 * the person's own; what is done leaves the list at once.
 */
import {
  asProblem,
  CursorRows,
  define,
  failure,
  failureBar,
  hear,
  html,
  icon,
  keepState,
  menuButton,
  MOVED_TOPIC,
  noticesNear,
  nothing,
  openApp,
  Part,
  state,
  type SvcTable,
  sentence,
  tabs,
  takeOn,
  text,
  whatCame,
  withComment,
  Problem,
  type PropertyValues,
  type RenderContext,
  type Row,
  type RowPress,
  type TemplateResult,
} from '@svc/web';
import { About } from './about.ts';
import { keyOf, nameOf, tasksPath, type Choice, type Count, type Task } from './api.ts';
import { taskColumns, taskOf } from './columns.ts';
import { askCounts, MOST_COUNTED, onCounts, totalOf } from './counts.ts';
import { handOn, standIn } from './hand-on.ts';
import { takeMany } from './many.ts';
import { offersOf, type Offer } from './offers.ts';
import { Pace } from './pace.ts';
import { readView, writeView, type Order, type View } from './view.ts';

/** Others may do much; the list is asked for no more often than this. */
const LEAST_MS = 2_000;
/** So many transitions of a selection are buttons, the rest are in a menu. */
const MOST_OFFERS = 3;
const PREFIX = 'tasks';
/** The tab of all sets; a set can't be called so. */
const ALL = '*';

export class WorkflowsTasks extends Part {
  static override properties = {
    view: { attribute: false },
    mayAct: { attribute: false },
    revision: { state: true },
    counts: { state: true },
    selected: { state: true },
    busy: { state: true },
    hasNews: { state: true },
  };
  declare view: View;
  declare mayAct: boolean;
  declare revision: number;
  /** None while that isn't known. */
  declare counts: readonly Count[] | undefined;
  declare selected: ReadonlySet<string>;
  /** The keys of those that are being taken on. */
  declare busy: ReadonlySet<string>;
  /** Others have changed what the list has, and nobody has looked yet. */
  declare hasNews: boolean;
  #rows: CursorRows | undefined;
  readonly #about = new About(() => {
    this.revision += 1;
  });
  #asked = '';
  readonly #pace: Pace;
  /** The pointer is over the rows. */
  #isPointing = false;
  /** Something happened while nobody saw the window. */
  #isStale = false;

  constructor() {
    super();
    this.view = readView(undefined);
    this.mayAct = false;
    this.revision = 0;
    this.counts = undefined;
    this.selected = new Set();
    this.busy = new Set();
    this.hasNews = false;
    this.#pace = new Pace(LEAST_MS, () => this.#look());
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    const soon = () => this.#pace.soon();
    this.atEnd(hear(MOVED_TOPIC, { heard: soon, missed: soon }));
    this.atEnd(
      onCounts((counts) => {
        this.counts = counts;
      }),
    );
    const sight = new IntersectionObserver(() => {
      if (this.#isStale && this.checkVisibility()) void this.#renew();
    });
    sight.observe(this);
    this.atEnd(() => {
      sight.disconnect();
      this.#pace.end();
      this.#rows?.stop();
    });
    void askCounts();
  }

  override willUpdate(changes: PropertyValues): void {
    if (!changes.has('view')) return;
    const path = tasksPath(this.view.order, this.view.set);
    if (path === this.#asked) return;
    this.#asked = path;
    this.#rows?.stop();
    this.selected = new Set();
    const rows = new CursorRows(path, () => this.#came(rows));
    this.#rows = rows;
    void rows.begin();
  }

  override updated(): void {
    // Rows that have gone tell of no pointer that leaves them.
    if (!this.querySelector('svc-table')) this.#isPointing = false;
  }

  /** What isn't there any more isn't selected. */
  #came(rows: CursorRows): void {
    if (rows !== this.#rows) return;
    const keys = new Set(this.#loaded.map(keyOf));
    if ([...this.selected].some((key) => !keys.has(key))) {
      this.selected = new Set([...this.selected].filter((key) => keys.has(key)));
    }
    this.revision += 1;
    void this.#about.ask(() => this.#loaded);
  }

  get #loaded(): Task[] {
    const rows = this.#rows;
    return Array.from({ length: rows?.loaded ?? 0 }, (_none, index) => rows?.at(index)).flatMap((row) =>
      row ? [taskOf(row)] : [],
    );
  }

  get #chosen(): Task[] {
    return this.#loaded.filter((task) => this.selected.has(keyOf(task)));
  }

  /** Whether somebody is about to press something: rows that moved away below would be taken for others. */
  get #isAtWork(): boolean {
    return this.selected.size > 0 || this.#isPointing || this.querySelector('.svc-acts :focus') !== null;
  }

  /** A window that is put away waits until somebody takes it out again, and a list that somebody works on until that's done. */
  #look(): void {
    this.#isStale = !this.checkVisibility();
    if (this.#isStale) return;
    this.hasNews = this.#isAtWork;
    if (this.hasNews) void askCounts();
    else void this.#renew();
  }

  #workDone(): void {
    if (this.hasNews && !this.#isAtWork) void this.#renew();
  }

  async #renew(): Promise<void> {
    this.hasNews = false;
    this.#isStale = false;
    await Promise.all([this.#rows?.renew(), askCounts()]);
  }

  follow(intent: unknown): void {
    this.view = readView(intent);
  }

  #go(change: Partial<View>): void {
    this.view = { ...this.view, ...change };
    this.tell('view', writeView(this.view));
  }

  /** Whatever came of it is seen, and the keyboard goes on with the next. */
  async #after(): Promise<void> {
    await this.#renew();
    this.busy = new Set();
    await this.updateComplete;
    const table = this.querySelector<SvcTable>('svc-table');
    if (table) table.focus();
    else this.querySelector<HTMLElement>('h1')?.focus();
  }

  async #take(task: Task, choice: Choice): Promise<void> {
    if (this.busy.size > 0) return;
    const { entityType, id, version } = task;
    const take = (request: { comment?: string } = {}) => takeOn(entityType, id, choice.name, { version, ...request });
    this.busy = new Set([keyOf(task)]);
    const moved = choice.needsComment
      ? await withComment(this, { title: choice.title, of: this.#named(task) }, (comment) => take({ comment }))
      : await take().catch(asProblem);
    if (moved instanceof Problem) {
      noticesNear(this)?.complain(moved, `${nameOf(task)}: ${sentence(moved)}`);
    } else if (moved) {
      noticesNear(this)?.say({ text: `${nameOf(task)}: ${whatCame(moved)}` });
      if (moved.approvalsMissing === 0) this.#rows?.drop((row) => keyOf(taskOf(row)) === keyOf(task));
    }
    await this.#after();
  }

  /** Its name, and what says most about it. */
  #named(task: Task): string {
    return [nameOf(task), this.#about.of(task)].filter((part) => part !== '').join(' · ');
  }

  async #takeMany(offer: Offer<Task>): Promise<void> {
    if (this.busy.size > 0) return;
    this.busy = new Set(offer.tasks.map(keyOf));
    await takeMany(this, offer);
    await this.#after();
  }

  #open({ row }: RowPress): void {
    const { entityType, id } = taskOf(row);
    openApp(`sets.${entityType}`, { r: id });
  }

  async #handOn(task: Task): Promise<void> {
    if (this.busy.size > 0) return;
    this.busy = new Set([keyOf(task)]);
    await handOn(this, task);
    await this.#after();
  }

  #counted(count: number, isMore: boolean): string {
    return isMore ? text('tasks-or-more', { count }) : text('tasks-count', { count });
  }

  get #total(): string {
    if (!this.counts) return '';
    const shown = this.counts.filter(({ entityType }) => this.view.set === undefined || entityType === this.view.set);
    return this.#counted(
      totalOf(shown),
      shown.some(({ count }) => count >= MOST_COUNTED),
    );
  }

  #head(): TemplateResult {
    return html`<header class="svc-head">
      <h1 tabindex="-1">${text('tasks-app')}</h1>
      <span class="svc-soft" role="status">${this.#total}</span>
      <span class="svc-grow"></span>
      ${this.hasNews ? html`<button type="button" class="svc-button" @click=${() => void this.#renew()}>${icon('refresh')}<span>${text('tasks-news')}</span></button>` : nothing}
      ${this.mayAct ? html`<button type="button" class="svc-button" @click=${() => void standIn(this)}>${icon('users')}<span>${text('standing-in')}</span></button>` : nothing}
      <select class="svc-input svc-narrow" aria-label=${text('tasks-order')} @change=${(event: Event) => this.#go({ order: (event.target as HTMLSelectElement).value as Order })}>
        ${(['due', 'newest'] as const).map((order) => html`<option value=${order} .selected=${this.view.order === order}>${text(`tasks-order-${order}`)}</option>`)}
      </select>
    </header>`;
  }

  /** The sets with tasks; one alone needs no telling apart, unless the list is narrowed to another. */
  get #sets(): readonly Count[] {
    const { set } = this.view;
    const counts = this.counts ?? [];
    const isThere = set === undefined || counts.some(({ entityType }) => entityType === set);
    return isThere ? counts : [...counts, { entityType: set, title: set, count: 0 }];
  }

  #tabs(): TemplateResult | typeof nothing {
    const sets = this.#sets;
    if (sets.length < 2 && this.view.set === undefined) return nothing;
    const numbered = (title: string, list: readonly Count[]) =>
      `${title} ${this.#counted(
        totalOf(list),
        list.some(({ count }) => count >= MOST_COUNTED),
      )}`;
    return tabs(
      [
        { id: ALL, title: numbered(text('tasks-all'), sets) },
        ...sets.map((count) => ({ id: count.entityType, title: numbered(count.title, [count]) })),
      ],
      this.view.set ?? ALL,
      (id) => this.#go({ set: id === ALL ? undefined : id }),
      PREFIX,
      text('tasks-sets'),
    );
  }

  #table(rows: CursorRows): TemplateResult {
    const columns = taskColumns({
      hasSets: this.view.set === undefined && this.#sets.length > 1,
      mayAct: this.mayAct,
      factsOf: (task) => this.#about.of(task),
      isBusy: () => this.busy.size > 0,
      take: (task, choice) => void this.#take(task, choice),
    });
    return html`${rows.problem ? failureBar(rows.problem, () => void this.#renew()) : nothing}<svc-table
      .columns=${columns}
      .rows=${rows}
      .revision=${this.revision}
      .label=${text('tasks-app')}
      .selectable=${this.mayAct}
      .selected=${this.selected}
      .keyOf=${(row: Row) => keyOf(taskOf(row))}
      .titleOf=${(row: Row) => nameOf(taskOf(row))}
      @selection=${(event: CustomEvent<ReadonlySet<string>>) => {
        this.selected = event.detail;
        this.#workDone();
      }}
      @pointerenter=${() => {
        this.#isPointing = true;
      }}
      @pointerleave=${() => {
        this.#isPointing = false;
        this.#workDone();
      }}
      @focusout=${() => this.#workDone()}
      @select-all=${() => {
        this.selected = new Set(this.#loaded.map(keyOf));
      }}
      @row-open=${(event: CustomEvent<RowPress>) => this.#open(event.detail)}
    ></svc-table>`;
  }

  #list(): TemplateResult {
    const rows = this.#rows;
    if (rows?.problem && !rows.isLoaded) return failure(rows.problem, () => void this.#renew());
    if (!rows?.isLoaded) return html`<div class="svc-skeleton" aria-busy="true"></div>`;
    if (rows.count > 0) return this.#table(rows);
    return html`${rows.problem ? failureBar(rows.problem, () => void this.#renew()) : nothing}${state(
      'check',
      text('tasks-none'),
      text(this.view.set === undefined ? 'tasks-none-text' : 'tasks-none-of-set-text'),
      this.view.set === undefined
        ? nothing
        : html`<button type="button" class="svc-button" @click=${() => this.#go({ set: undefined })}>${text('tasks-show-all')}</button>`,
    )}`;
  }

  #label(offer: Offer<Task>, hasSets: boolean): string {
    const { title, tasks, setTitle } = offer;
    return hasSets
      ? text('tasks-offer-of-set', { title, count: tasks.length, set: setTitle })
      : text('tasks-many', { title, count: tasks.length });
  }

  /** What can be done with those that are selected. */
  #selection(): TemplateResult | typeof nothing {
    const chosen = this.#chosen;
    if (chosen.length === 0) return nothing;
    const offers = offersOf(chosen);
    const hasSets = new Set(chosen.map(({ entityType }) => entityType)).size > 1;
    const others = offers.slice(MOST_OFFERS);
    return html`<div class="svc-selection" data-words role="toolbar" aria-label=${text('selection')}>
      <span role="status">${text('tasks-selected', { count: chosen.length })}</span>
      ${offers
        .slice(0, MOST_OFFERS)
        .map(
          (offer) =>
            html`<button type="button" class="svc-button" ?disabled=${this.busy.size > 0} @click=${() => void this.#takeMany(offer)}>${this.#label(offer, hasSets)}</button>`,
        )}
      ${
        others.length > 0
          ? menuButton(text('more'), () =>
              others.map((offer) => ({ label: this.#label(offer, hasSets), run: () => void this.#takeMany(offer) })),
            )
          : nothing
      }
      ${
        chosen.length === 1 && chosen[0]
          ? html`<button type="button" class="svc-button" ?disabled=${this.busy.size > 0} @click=${() => void this.#handOn(chosen[0] as Task)}>${text('hand-on')}</button>`
          : nothing
      }
      <button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('select-none')} title=${text('select-none')} @click=${() => {
        this.selected = new Set();
        this.#workDone();
      }}>${icon('close')}</button>
    </div>`;
  }

  override render(): TemplateResult {
    const rows = this.#tabs();
    return html`<div class="svc-split"><section class="svc-list" aria-label=${text('tasks-app')}>
        ${this.#head()}${rows}
        <div
          class="svc-list-body"
          role=${rows === nothing ? nothing : 'tabpanel'}
          id="${PREFIX}-panel"
          aria-labelledby=${rows === nothing ? nothing : `${PREFIX}-tab-${this.view.set ?? ALL}`}
        >${this.#list()}</div>
        ${this.#selection()}
      </section></div>
      <svc-notices></svc-notices>`;
  }
}
define('workflows-tasks', WorkflowsTasks);

export default function render(context: RenderContext): Node {
  const app = document.createElement('workflows-tasks') as WorkflowsTasks;
  app.view = readView(context.intent);
  app.mayAct = context.can('Workflows.Act');
  keepState(context, app, { follow: (view) => app.follow(view) });
  return app;
}
