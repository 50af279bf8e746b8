/** The audit log: what happened over all sets, by whom, and the way back of one change or of all that one command did. */
import {
  asProblem,
  badge,
  capitalised,
  changedValues,
  changesOf,
  confirmIn,
  define,
  fieldName,
  find,
  howOf,
  html,
  icon,
  keptSets,
  knownModel,
  menuButton,
  noticesNear,
  nothing,
  openApp,
  ReferenceNames,
  restoreWith,
  send,
  sendForStream,
  sentence,
  sentenceOf,
  setName,
  singular,
  text,
  timeAgo,
  waysBack,
  whoOf,
  whyStays,
  type Column,
  type EntitySet,
  type Entry,
  type HistoryEntry,
  type Preview,
  type PropertyValues,
  type RenderContext,
  type RestoreMode,
  type Row,
  type TemplateResult,
  type Tone,
} from '@svc/web';
import { everyPage } from './listing.ts';
import { column, fact, fill, LogPage, type LogView } from './log.ts';

const ROOT = '/api/v1/audit';
const PEOPLE = 'Identity.Manage';
const VIEW_HISTORY = 'History.View';
const OPERATIONS = ['created', 'updated', 'deleted', 'restored', 'purged', 'event'] as const;
const TONES: Record<string, Tone> = {
  created: 'good',
  updated: 'info',
  deleted: 'bad',
  restored: 'good',
  purged: 'bad',
};
/** Looking at a page of the log costs more than at other lists. */
const LOOK_MS = 5_000;
/** Fields that a row names. */
const NAMED = 3;
/** Records of a command that its undo lists. */
const LISTED = 50;

/** Something that happened. */
interface Audited extends HistoryEntry {
  readonly set: string | null;
  readonly record: string | null;
  readonly event: string | null;
  readonly data: unknown;
}

/** What taking back a whole command would do. */
interface Whole {
  readonly version: string;
  readonly records: readonly (Preview & { readonly set: string; readonly record: string })[];
}

/** A value that the log is narrowed to, with how many entries there are of it. */
interface Facet {
  readonly value: string | null;
  readonly label?: string;
  readonly count: number;
}

/** What the log holds, among its newest entries. */
interface Facets {
  /** Whether these are all that there are. */
  readonly complete: boolean;
  readonly sets: readonly Facet[];
  readonly events: readonly Facet[];
  readonly operations: readonly Facet[];
  readonly people: readonly Facet[];
}

type FacetKind = Exclude<keyof Facets, 'complete'>;

/** Whether anything of a record would go back. */
function goesBack({ action, fields }: Preview): boolean {
  return action !== 'change' || fields.some(({ problem, changedLater }) => problem === null && !changedLater);
}

const audited = (row: Row) => row as unknown as Audited;

function setOf({ set }: Audited): EntitySet | undefined {
  return set === null ? undefined : knownModel().get(set);
}

function eventId(event: string): string {
  return `audit-event-${event.replaceAll('.', '-')}`;
}

function eventName(event: string): string {
  return find(eventId(event)) ?? event;
}

class AuditPage extends LogPage {
  protected override readonly lookMs = LOOK_MS;
  #people: readonly { id: string; displayName: string }[] = [];
  readonly #names = new Map<EntitySet, ReferenceNames>();
  #named = 0;
  /** What can be taken back, where the person may look at histories at all. */
  #restorable: ReadonlyMap<string, boolean> | undefined;
  /** Of the whole log, and of what it's narrowed to. */
  #facets: { readonly all?: Facets; readonly here?: Facets } = {};
  #counted: string | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.can(PEOPLE)) void this.#findPeople();
    if (this.can(VIEW_HISTORY)) void this.#findRestorable();
  }

  async #findRestorable(): Promise<void> {
    // The server refuses what can't go back, too.
    this.#restorable = await keptSets().catch(() => undefined);
    this.requestUpdate();
  }

  override willUpdate(changes: PropertyValues): void {
    super.willUpdate(changes);
    const query = String(new URLSearchParams(this.view.by));
    if (query === this.#counted) return;
    this.#counted = query;
    void this.#count(query);
  }

  /** Asks how many entries there are of what; without an answer the log is narrowed without numbers. */
  async #count(query: string): Promise<void> {
    const ask = (of: string) =>
      send<Facets>(`${ROOT}/facets?${of}`).then(
        ({ body }) => body,
        () => undefined,
      );
    const here = await ask(query);
    const all = this.#facets.all ?? (query === '' ? here : await ask(''));
    if (query !== this.#counted) return;
    this.#facets = { ...(all ? { all } : {}), ...(here ? { here } : {}) };
    this.requestUpdate();
  }

  /** Choices with their numbers: those that are known, and those that the log holds. */
  #choices(kind: FacetKind, known: readonly (readonly [string, string])[]): (readonly [string, string])[] {
    const { all, here } = this.#facets;
    const names = new Map(known);
    for (const { value, label } of [...(all?.[kind] ?? []), ...(here?.[kind] ?? [])]) {
      if (value !== null && label && !names.has(value)) names.set(value, label);
    }
    const counts = new Map(here?.[kind].map(({ value, count }) => [value, count]));
    const isAll = here?.complete === true ? 'yes' : 'no';
    return [...names].map(([value, label]) => {
      const count = counts.get(value);
      return [value, count === undefined ? label : text('audit-choice', { label, count, isAll })];
    });
  }

  async #findPeople(): Promise<void> {
    // Without them the log is narrowed by other things.
    this.#people = await everyPage<{ id: string; displayName: string }>('/api/v1/identity/users').catch(() => []);
    this.requestUpdate();
  }

  protected path({ by }: LogView): string {
    return `${ROOT}?${new URLSearchParams(by)}`;
  }

  protected heading(): string {
    return text('audit-app');
  }

  protected none(): { title: string; text: string } {
    const isNarrowed = Object.keys(this.view.by).length > 0;
    return { title: text('audit-none'), text: text(isNarrowed ? 'no-hits-text' : 'audit-none-text') };
  }

  #namesOf(set: EntitySet): ReferenceNames {
    const names = this.#names.get(set) ?? new ReferenceNames(knownModel(), set);
    this.#names.set(set, names);
    return names;
  }

  override updated(changes: PropertyValues): void {
    super.updated(changes);
    if (changes.has('revision')) void this.#name();
  }

  /** Asks what records and references in the log are called, as rows come. */
  async #name(): Promise<void> {
    const rows = Array.from({ length: this.rows?.loaded ?? 0 }, (_none, index) => this.rows?.at(index));
    const bySet = Map.groupBy(
      rows.flatMap((row) => (row ? [audited(row)] : [])).filter((one) => setOf(one)),
      (one) => setOf(one) as EntitySet,
    );
    await Promise.all(
      [...bySet].map(async ([set, entries]) => {
        const names = this.#namesOf(set);
        await names.learnRecords(
          set,
          entries.flatMap(({ record }) => record ?? []),
        );
        await names.learn(entries.flatMap(({ fields }) => changedValues(fields)));
      }),
    );
    const known = [...this.#names.values()].reduce((sum, names) => sum + names.size, 0);
    if (known === this.#named) return;
    this.#named = known;
    this.revision += 1;
  }

  /** A record's name: today's, or that of a change that named it. */
  #title(one: Audited): string | undefined {
    const set = setOf(one);
    if (!set || set.title === set.key) return undefined;
    const field = one.fields.find(({ name }) => name === set.title);
    const then = field?.after ?? field?.before;
    return this.#namesOf(set).of(one.record) ?? (then ? String(then) : undefined);
  }

  /** What happened to something, by what it's called; records without a name of their own by their kind. */
  protected nameOf(row: Row): string {
    const one = audited(row);
    if (one.event !== null) return eventName(one.event);
    return this.#title(one) ?? this.#kind(one);
  }

  #kind(one: Audited): string {
    if (one.set === null) return '';
    const set = setOf(one);
    if (set) return singular(set.name, set.type);
    return this.#facets.all?.sets.find(({ value }) => value === one.set)?.label ?? one.set;
  }

  #who({ by }: Audited): string {
    return whoOf(by);
  }

  /** Whom an event is about, where that isn't who did it. */
  #about({ by, data }: Audited): string | undefined {
    const id = (data as { userId?: unknown } | null)?.userId;
    return id === by.userId ? undefined : this.#people.find((person) => person.id === id)?.displayName;
  }

  #fields(one: Audited): string {
    const set = setOf(one);
    const names = one.fields.map((field) => (set ? fieldName(set, field) : field.label));
    const [shown, rest] = [names.slice(0, NAMED), names.length - NAMED];
    return one.operation !== 'updated' ? '' : shown.join(', ') + (rest > 0 ? ` +${rest}` : '');
  }

  /** What kind of record it is, where that isn't its name; of an event whom it is about. */
  #beside(one: Audited): TemplateResult | typeof nothing {
    const beside = one.event !== null ? this.#about(one) : this.#title(one) && this.#kind(one);
    return beside === undefined ? nothing : html`<span class="svc-soft">${beside}</span>`;
  }

  protected columns(): Column[] {
    const operation = (row: Row) => text(`audit-operation-${audited(row).operation}`);
    const what = (row: Row) => (audited(row).event === null ? `${this.#kind(audited(row))} ${this.nameOf(row)}` : '');
    return [
      column(text('audit-record'), 200, 1.6, (row) => html`${this.nameOf(row)} ${this.#beside(audited(row))}`, what),
      column(
        text('audit-what'),
        200,
        1.5,
        (row) =>
          html`${badge(operation(row), TONES[audited(row).operation] ?? 'none')} <span class="svc-soft">${this.#fields(audited(row))}</span>`,
        (row) => `${operation(row)} ${this.#fields(audited(row))}`,
      ),
      column(
        text('audit-who'),
        130,
        1,
        (row) => this.#who(audited(row)),
        (row) => this.#who(audited(row)),
      ),
      column(
        text('audit-when'),
        130,
        0.8,
        (row) => timeAgo(audited(row).time),
        (row) => audited(row).time,
      ),
    ];
  }

  protected override tools(): TemplateResult {
    const sets = [...knownModel().values()].map(({ name }) => [name, setName(name)] as const);
    const operations = OPERATIONS.map((one) => [one, text(`audit-operation-${one}`)] as const);
    const events = (this.#facets.all?.events ?? []).flatMap(({ value, label }) =>
      value === null ? [] : [[value, find(eventId(value)) ?? label ?? value] as const],
    );
    const people = this.#choices(
      'people',
      this.#people.map(({ id, displayName }) => [id, displayName] as const),
    );
    return html`${this.narrow('set', text('audit-by-set'), this.#choices('sets', sets))}
      ${this.narrow('operation', text('audit-by-operation'), this.#choices('operations', operations))}
      ${events.length > 0 || this.view.by.event ? this.narrow('event', text('audit-by-event'), this.#choices('events', events)) : nothing}
      ${people.length > 0 ? this.narrow('user', text('audit-by-user'), people) : nothing}
      ${menuButton(text('more'), () => [{ label: text('audit-export'), icon: 'save', run: () => void this.#export() }])}`;
  }

  /** What only a row leads to: one command, one record. */
  protected override below(): TemplateResult | typeof nothing {
    const chips = ['unitOfWork', 'record'].filter((name) => this.view.by[name] !== undefined);
    if (chips.length === 0) return nothing;
    return html`<div class="svc-chips">${chips.map((name) => {
      const shown = text(`audit-only-${name}`);
      return html`<span class="svc-chip"><span class="svc-chip-text">${shown}</span><button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('filter-remove', { sentence: shown })} @click=${() => this.narrowTo(name, '')}>${icon('close')}</button></span>`;
    })}</div>`;
  }

  /** A file of JSON lines, of what the list is narrowed to. */
  async #export(): Promise<void> {
    try {
      const stream = await sendForStream(`${ROOT}/export?${new URLSearchParams(this.view.by)}`, { method: 'POST' });
      const address = URL.createObjectURL(await new Response(stream).blob());
      const link = document.createElement('a');
      link.href = address;
      link.download = `audit-${new Date().toISOString().slice(0, 10)}.jsonl`;
      link.click();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      noticesNear(this)?.say({ text: text('audit-exported') });
    } catch (error) {
      noticesNear(this)?.complain(error);
    }
  }

  protected actions(row: Row): TemplateResult | typeof nothing {
    const one = audited(row);
    const set = setOf(one);
    if (!set || one.record === null) return nothing;
    const isRestorable = this.#restorable?.get(set.name) ?? true;
    const entries = (): Entry[] => [
      ...waysBack(one, false).map(
        (mode): Entry => ({
          label: text(`history-mode-${mode}`, { operation: one.operation }),
          icon: 'undo',
          run: () => void this.#restore(set, one, mode),
        }),
      ),
      { label: text('audit-undo-unit'), icon: 'undo', danger: true, run: () => void this.#undoAll(one) },
    ];
    const open = () => void openApp(`sets.${set.name}`, { r: one.record });
    const past = () => void openApp(`sets.${set.name}`, { r: one.record, h: one.id });
    return html`<button type="button" class="svc-button" @click=${open}>${icon('open')}<span>${text('audit-open')}</span></button>
      ${
        one.operation === 'deleted' || !this.can(VIEW_HISTORY)
          ? nothing
          : html`<button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('audit-history')} title=${text('audit-history')} @click=${past}>${icon('history')}</button>`
      }
      ${isRestorable ? menuButton(text('history-ways'), entries, { icon: 'undo' }) : nothing}`;
  }

  async #restore(set: EntitySet, one: Audited, mode: RestoreMode): Promise<void> {
    const place = { near: this, set, key: String(one.record), names: this.#namesOf(set) };
    if (await restoreWith(place, one, mode)) await this.refresh();
  }

  /** All that one command did: what becomes of each record first, then all of it or nothing. */
  async #undoAll(one: Audited): Promise<void> {
    const path = `${ROOT}/units/${one.unitOfWork}`;
    try {
      let refused: string | undefined;
      for (;;) {
        const { body: whole } = await send<Whole>(`${path}/preview`);
        const sure = await this.#sure(whole, refused);
        if (!sure) return;
        try {
          await send(`${path}/undo`, { method: 'POST', body: { version: whole.version } });
          break;
        } catch (error) {
          const problem = asProblem(error);
          if (problem.status !== 409) throw error;
          refused = sentence(problem);
        }
      }
      noticesNear(this)?.say({ text: text('audit-undone') });
      await this.refresh();
    } catch (error) {
      noticesNear(this)?.complain(error);
    }
  }

  #sure({ records }: Whole, refused: string | undefined): Promise<boolean> {
    const line = (one: Whole['records'][number]) => {
      const set = knownModel().get(one.set);
      const name = (set && this.#namesOf(set).of(one.record)) ?? one.record;
      const becomes = goesBack(one) ? one.action : 'nothing';
      const stays = one.action === 'change' ? one.fields.filter(({ problem }) => problem !== null) : [];
      return html`<li>${text(`audit-undo-${becomes}`, { kind: set ? singular(set.name, set.type) : one.set, name })}
        ${stays.map((field) => html`<p class="svc-note">${set ? fieldName(set, field) : field.label} ${whyStays('history-obstacle', field)}</p>`)}
        ${one.problem === null ? nothing : html`<p class="svc-note" data-wrong>${capitalised(whyStays('refused', one))}</p>`}</li>`;
    };
    const rest = records.length - LISTED;
    return confirmIn(this, {
      title: text('audit-undo-title', { count: records.length }),
      body: html`${refused === undefined ? nothing : html`<div class="svc-bar" data-tone="warn" role="alert">${icon('alert')}<span>${refused}</span></div>`}
        <p>${text('audit-undo-text')}</p>
        <ul class="svc-undone">${records.slice(0, LISTED).map(line)}${rest > 0 ? html`<li>${text('audit-undo-more', { count: rest })}</li>` : nothing}</ul>`,
      confirm: text('audit-undo-unit'),
      danger: true,
    });
  }

  #told(one: Audited): TemplateResult | typeof nothing {
    const set = setOf(one);
    if (one.event !== null) {
      if (one.data === null) return nothing;
      const data = JSON.stringify(one.data, null, 2);
      return html`<section class="svc-exchange"><h3>${text('audit-data')}</h3><pre tabindex="0" role="group" aria-label=${text('audit-data')}>${data}</pre></section>`;
    }
    if (!set || one.fields.length === 0) return nothing;
    return changesOf(set, this.#namesOf(set), one.fields);
  }

  protected body(row: Row): TemplateResult {
    const one = audited(row);
    const set = setOf(one);
    const how = howOf(one.by);
    const only = (name: string, value: string, shown: string) =>
      html`<button type="button" class="svc-button" data-look="link" @click=${() => this.narrowTo(name, value)}>${shown}</button>`;
    return html`${set ? html`<p>${sentenceOf(set, this.#namesOf(set), one)}</p>` : nothing}${this.#told(one)}
      <dl class="svc-props">
        ${this.#about(one) === undefined ? nothing : fact(text('audit-about'), this.#about(one) ?? '')}
        ${fact(text('audit-who'), how ? `${this.#who(one)}, ${how}` : this.#who(one))}
        ${fact(text('audit-when'), timeAgo(one.time))}
        ${one.record === null ? nothing : fact(text('audit-record'), only('record', one.record, text('audit-all-of-record')))}
        ${fact(text('audit-unit'), only('unitOfWork', one.unitOfWork, text('audit-all-of-unit')))}
        ${one.tookBack ? fact(text('audit-kind'), text('history-took-back')) : nothing}
        ${fact(text('audit-request'), html`<code>${one.requestId}</code>`)}
      </dl>`;
  }
}
define('system-audit', AuditPage);

export default (context: RenderContext) => fill(context, 'system-audit');
