/** A list that the API hands out page by page, with a pane for what is open: what jobs, dead letters and keys have in common. */
import {
  CursorRows,
  failure,
  failureBar,
  html,
  icon,
  keepFocus,
  leadFocus,
  keepState,
  noticesNear,
  nothing,
  Part,
  state,
  text,
  watch,
  type Column,
  type PropertyValues,
  type RenderContext,
  type Row,
  type RowPress,
  type TemplateResult,
} from '@svc/web';

/** How often a list is brought up to date while somebody looks. */
const LOOK_MS = 2_000;
const LONGEST = 200;
/** Pages that are read in search of the row that is open. */
const MOST_PAGES_SOUGHT = 10;

/** What the window keeps. */
export interface LogView {
  readonly open?: string;
  /** What the list is narrowed to, by the names that its API has for it. */
  readonly by: Readonly<Record<string, string>>;
}

/** Reads what an address says. */
function readView(value: unknown): LogView {
  const { open, by } = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>;
  const isText = (one: unknown): one is string => typeof one === 'string' && one !== '' && one.length <= LONGEST;
  const narrowed = typeof by === 'object' && by !== null ? Object.entries(by) : [];
  const kept = narrowed.filter((one): one is [string, string] => /^[a-z]{1,40}$/i.test(one[0]) && isText(one[1]));
  return { ...(isText(open) ? { open } : {}), by: Object.fromEntries(kept) };
}

/** The base of such a page; what differs is asked of the page itself. */
export abstract class LogPage extends Part {
  static override properties = { view: { attribute: false }, revision: { state: true } };
  declare view: LogView;
  declare revision: number;
  /** What the person may do beyond looking. */
  can: (permission: string) => boolean = () => false;
  protected rows: CursorRows | undefined;
  protected readonly lookMs: number = LOOK_MS;
  #asked = '';

  /** Where the list lies, narrowed by what the view says. */
  protected abstract path(view: LogView): string;
  protected abstract heading(): string;
  protected abstract columns(): Column[];
  /** What names a row. */
  protected abstract nameOf(row: Row): string;
  /** What a row's pane says. */
  protected abstract body(row: Row): TemplateResult;
  protected abstract actions(row: Row): TemplateResult | typeof nothing;
  protected abstract none(): { title: string; text: string };

  /** What stands beside the title. */
  protected tools(): TemplateResult | typeof nothing {
    return nothing;
  }

  /** What stands between the head and the list. */
  protected below(): TemplateResult | typeof nothing {
    return nothing;
  }

  protected keyOf(row: Row): string {
    return String(row.id);
  }

  constructor() {
    super();
    this.view = { by: {} };
    this.revision = 0;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
    this.atEnd(watch(this, this.lookMs, () => this.refresh()));
    this.atEnd(() => this.rows?.stop());
  }

  override willUpdate(changes: PropertyValues): void {
    if (!changes.has('view')) return;
    const path = this.path(this.view);
    if (path === this.#asked) return;
    this.#asked = path;
    this.rows?.stop();
    this.rows = new CursorRows(path, () => {
      this.revision += 1;
    });
    void this.rows.begin();
  }

  async refresh(): Promise<void> {
    await this.rows?.refresh();
  }

  go(view: LogView): void {
    this.view = view;
    this.tell('view', view);
  }

  /** Does something and says so; a refusal is said, too. */
  protected async act(work: () => Promise<unknown>, said: string): Promise<void> {
    try {
      await work();
      noticesNear(this)?.say({ text: said });
      await this.refresh();
      await keepFocus(this);
    } catch (error) {
      noticesNear(this)?.complain(error);
    }
  }

  async #show(open: string | undefined): Promise<void> {
    const { by } = this.view;
    this.go(open === undefined ? { by } : { by, open });
    await this.updateComplete;
    leadFocus(this, this.querySelector<HTMLElement>(open === undefined ? 'svc-table' : '.svc-pane h2'));
  }

  /** Narrows the list; without a value it's widened again. */
  protected narrowTo(name: string, value: string): void {
    const { [name]: _before, ...rest } = this.view.by;
    this.go({ by: value === '' ? rest : { ...rest, [name]: value } });
  }

  /** A select that narrows the list. */
  protected narrow(name: string, label: string, choices: readonly (readonly [string, string])[]): TemplateResult {
    const now = this.view.by[name];
    return html`<select class="svc-input svc-narrow" aria-label=${label} @change=${(event: Event) => this.narrowTo(name, (event.target as HTMLSelectElement).value)}>
      <option value="" .selected=${now === undefined}>${label}</option>
      ${choices.map(([value, shown]) => html`<option value=${value} .selected=${now === value}>${shown}</option>`)}
    </select>`;
  }

  #list(rows: CursorRows | undefined): TemplateResult {
    if (rows?.problem && !rows.isLoaded) return failure(rows.problem, () => void rows.refresh());
    if (!rows?.isLoaded) return html`<div class="svc-skeleton" aria-busy="true"></div>`;
    if (rows.count === 0) return state('empty', this.none().title, this.none().text);
    return html`${rows.problem ? failureBar(rows.problem, () => void rows.refresh()) : nothing}<svc-table
      .columns=${this.columns()}
      .rows=${rows}
      .revision=${this.revision}
      .label=${this.heading()}
      .opened=${this.view.open}
      .keyOf=${(row: Row) => this.keyOf(row)}
      .titleOf=${(row: Row) => this.nameOf(row)}
      @row-open=${(event: CustomEvent<RowPress>) => void this.#show(this.keyOf(event.detail.row))}
    ></svc-table>`;
  }

  /** Reads on until the row that an address names is there, up to a bound: anyone can write an address. */
  override updated(_changes: PropertyValues): void {
    const { rows } = this;
    if (this.view.open === undefined || !rows?.isLoaded || this.openedRow()) return;
    if (rows.pages < MOST_PAGES_SOUGHT) rows.want(0, rows.loaded);
  }

  /** The row that is open, as far as it's there. */
  protected openedRow(): Row | undefined {
    const { open } = this.view;
    const { rows } = this;
    for (let index = 0; open !== undefined && rows && index < rows.loaded; index += 1) {
      const row = rows.at(index);
      if (row && this.keyOf(row) === open) return row;
    }
    return undefined;
  }

  #pane(row: Row | undefined): TemplateResult | typeof nothing {
    if (!row) return nothing;
    const keyed = (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.defaultPrevented) return;
      event.stopPropagation();
      void this.#show(undefined);
    };
    return html`<section class="svc-pane" aria-label=${this.nameOf(row)} @keydown=${keyed}>
      <header class="svc-pane-head">
        <button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('close')} title=${text('close')} @click=${() => void this.#show(undefined)}>${icon('close')}</button>
        <div class="svc-pane-title"><h2 tabindex="-1">${this.nameOf(row)}</h2></div>
        <div class="svc-pane-actions">${this.actions(row)}</div>
      </header>
      <div class="svc-pane-body">${this.body(row)}</div>
    </section>`;
  }

  override render(): TemplateResult {
    const row = this.openedRow();
    return html`<div class="svc-split" ?data-pane=${row !== undefined}>
        <section class="svc-list" aria-label=${this.heading()}>
          <header class="svc-head"><h1>${this.heading()}</h1><span class="svc-grow"></span>${this.tools()}</header>
          ${this.below()}
          <div class="svc-list-body">${this.#list(this.rows)}</div>
        </section>
        ${this.#pane(row)}
      </div>
      <svc-notices></svc-notices>`;
  }
}

/** Fills a window with such a page. */
export function fill(context: RenderContext, name: string): Node {
  const page = document.createElement(name) as LogPage;
  page.can = (permission) => context.can(permission);
  page.view = readView(context.intent);
  keepState(context, page, {
    follow: (state) => {
      page.view = readView(state);
    },
  });
  return page;
}

/** A line of a pane. */
export function fact(name: string, value: TemplateResult | string): TemplateResult {
  return html`<div class="svc-prop"><dt>${name}</dt><dd><span class="svc-value">${value}</span></dd></div>`;
}

/** A column that says how it stands with the row. */
export function stateColumn(...parts: Parameters<typeof column>): Column {
  return { ...column(...parts), isState: true };
}

/** A column of such a list. */
export function column(
  title: string,
  width: number,
  share: number,
  cell: Column['cell'],
  plain: Column['plain'],
  numeric = false,
): Column {
  return { name: title, title, width, share, cell, plain, numeric, sortable: false };
}
