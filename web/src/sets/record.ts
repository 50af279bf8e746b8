/**
 * A record beside its list: what it is, what can be done with it, what belongs to it.
 *
 * One reads first. A press on a value edits it there; what was changed waits, marked, until it is saved together or given up.
 * A record that somebody else changed meanwhile is compared, and the person decides.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { asProblem, isAborted } from '../client/request.ts';
import { hear } from '../client/live.ts';
import { ask, change, read, RefusedChange } from '../client/sets.ts';
import { keptSets, VIEW_HISTORY, type RestoreAction } from '../client/history.ts';
import { isLive } from '../client/start.ts';
import { VIEW_WORKFLOWS, workflowSets } from '../client/workflow.ts';
import { ALL_PAST, referenceOf } from '../core/list-state.ts';
import type { EntitySet, Operation, Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import type { Problem } from '../core/problem.ts';
import { shownOptions } from '../core/query.ts';
import { Draft } from '../parts/draft.ts';
import { editor, type Place } from '../parts/field.ts';
import { icon } from '../parts/icons.ts';
import { define, freshId, leadFocus, Part } from '../parts/part.ts';
import { menuButton, type Entry } from '../parts/popover.ts';
import { capitalised, failure, failureBar, sentence } from '../parts/states.ts';
import { cell, isChoice, plain, referenceTitle, timeAgo, titleOf, wayOn } from '../parts/value.ts';
import { memberDescription, memberName, singular, text } from '../text.ts';
import { actionsFor, appIdOf, may, type OwnElement, type SetHost } from './context.ts';
import { decide } from './conflict.ts';
import { runAction } from './action.ts';
import { grouped } from './grouping.ts';
import type { SvcLines } from './lines.ts';
import { noticesNear } from './notices.ts';
import { ownProperty, ownRecord, showOwn, showOwnRecord, type Written } from './own.ts';
import { quickCreate } from './quick-create.ts';
import { mayDelete, removeRecord } from './remove.ts';
import { belongings } from './belongings.ts';
import { storeTogether } from './together.ts';

/** Facts beside the name: at most this many. */
const MOST_FACTS = 3;

export class SvcRecord extends Part {
  static override properties = {
    host: { attribute: false },
    set: { attribute: false },
    key: { attribute: false },
    row: { state: true },
    problem: { state: true },
    saving: { state: true },
    editing: { state: true },
    complaint: { state: true },
    answers: { state: true },
    elsewhere: { state: true },
    isKept: { state: true },
    hasWorkflow: { state: true },
    past: { attribute: false },
  };
  declare host: SetHost;
  declare set: EntitySet;
  declare key: string;
  declare row: Row | undefined;
  declare problem: Problem | undefined;
  declare saving: boolean;
  /** The properties whose editors are open. */
  declare editing: ReadonlySet<string>;
  /** Why saving didn't work, beyond single fields. */
  declare complaint: readonly string[];
  /** What functions of the record say. */
  declare answers: ReadonlyMap<string, unknown>;
  /** What somebody else has done with it since it was read. */
  declare elsewhere: 'changed' | 'deleted' | undefined;
  /** Whether its history can be looked at. */
  declare isKept: boolean;
  /** Whether it has states that it is taken from and to. */
  declare hasWorkflow: boolean;
  /** Shows what happened to it, in place of what it is: all of it, or an entry that is pointed at. */
  declare past: string | undefined;
  #draft = new Draft();
  #loading: AbortController | undefined;
  readonly #prefix = freshId('record');

  constructor() {
    super();
    this.editing = new Set();
    this.complaint = [];
    this.answers = new Map();
    this.saving = false;
    this.isKept = false;
    this.hasWorkflow = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    if (this.host.can(VIEW_HISTORY)) void this.#findHistory();
    if (this.host.can(VIEW_WORKFLOWS)) void this.#findWorkflow();
    if (!isLive(this.set.name)) return;
    this.atEnd(
      hear(`set:${this.set.name}`, {
        heard: ({ data }) => {
          if (String(data.key) === this.key) this.#heard(data);
        },
        // Whether this one was among it nobody knows; saving finds out.
        missed: () => {
          if (this.row && !this.saving && !this.#isWriting) void this.#follow();
        },
      }),
    );
  }

  async #findHistory(): Promise<void> {
    try {
      this.isKept = (await keptSets()).has(this.set.name);
    } catch {
      // The record is read all the same; the next one asks again.
    }
  }

  async #findWorkflow(): Promise<void> {
    try {
      if (!(await workflowSets()).has(this.set.name)) return;
      await import('./workflow.ts');
      this.hasWorkflow = true;
    } catch {
      // As with the history.
    }
  }

  /** An earlier state came back; before it was made the record was not there. */
  #restored(action: RestoreAction): void {
    if (action === 'delete') this.tell('record-removed', this.row);
    else void this.#follow();
  }

  /** A transition may have set something; what is being written stays. */
  #moved(): void {
    if (this.#isWriting) this.elsewhere = 'changed';
    else void this.#follow();
  }

  /** Somebody has changed it; what is being written here stays. */
  #heard({ kind, record }: Record<string, unknown>): void {
    if (!this.row || this.saving) return;
    const version = (record as Row | undefined)?.version;
    if (version !== undefined && version === this.row.version) return;
    if (kind === 'deleted') this.elsewhere = 'deleted';
    else if (this.#isWriting) this.elsewhere = 'changed';
    else void this.#follow();
  }

  /** Whether something would be lost. */
  get isDirty(): boolean {
    return this.#draft.isDirty || this.#lines.some((one) => one.isDirty);
  }

  get #lines(): SvcLines[] {
    return [...this.querySelectorAll<SvcLines>('svc-lines')];
  }

  override willUpdate(changes: PropertyValues): void {
    if (changes.has('key') || changes.has('set')) {
      this.row = undefined;
      void this.load();
    }
    if (changes.has('past') && this.past !== undefined) void import('./history.ts');
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#loading?.abort();
  }

  get #shown(): Property[] {
    return this.set.properties.filter(({ kind }) => kind !== 'binary');
  }

  get #isWriting(): boolean {
    return this.isDirty || this.editing.size > 0;
  }

  /** Reads the record anew; what is being written is given up. */
  load(): Promise<void> {
    return this.#read(() => false);
  }

  /** Reads what others made of the record. Whoever begins to write meanwhile goes on, and is told. */
  #follow(): Promise<void> {
    return this.#read(() => this.#isWriting);
  }

  async #read(isKept: () => boolean): Promise<void> {
    this.#loading?.abort();
    this.#loading = new AbortController();
    const { signal } = this.#loading;
    this.problem = undefined;
    try {
      const row = await read(this.set, this.key, shownOptions(this.host.model, this.set, this.#shown), signal);
      if (isKept()) {
        if (row['@odata.etag'] !== this.row?.['@odata.etag']) this.elsewhere = 'changed';
        return;
      }
      this.#take(row);
      await this.#askFunctions(signal);
    } catch (error) {
      if (isAborted(error)) return;
      this.problem = asProblem(error);
      if (this.problem.isGone) this.row = undefined;
    }
  }

  #take(row: Row): void {
    this.row = row;
    this.#draft = new Draft(row);
    for (const property of this.#shown) {
      const title = referenceTitle(this.host.model, this.set, property, row);
      if (title !== undefined) this.#draft.titles.set(property.name, title);
    }
    this.editing = new Set();
    this.complaint = [];
    this.elsewhere = undefined;
    this.tell('record-read', row);
  }

  /** Functions without parameters are facts about the record. */
  get #functions(): Operation[] {
    return this.set.operations.filter(
      ({ isAction, parameters, result, permissions }) =>
        !isAction && parameters.length === 0 && result && permissions.every((one) => this.host.can(one)),
    );
  }

  async #askFunctions(signal: AbortSignal): Promise<void> {
    const answered = new Map<string, unknown>();
    for (const operation of this.#functions)
      answered.set(operation.name, await ask(this.set, this.key, operation, signal));
    this.answers = answered;
  }

  get #mayEdit(): boolean {
    return may(this.host, this.set.update);
  }

  async #edit(property: Property): Promise<void> {
    this.editing = new Set([...this.editing, property.name]);
    await this.updateComplete;
    const input = this.querySelector<HTMLElement>(`[id="${this.#prefix}-${property.name}"]`);
    input?.focus();
    if (input instanceof HTMLInputElement) input.select();
  }

  async #giveUp(property: Property): Promise<void> {
    this.#draft.reset(property.name);
    this.editing = new Set([...this.editing].filter((name) => name !== property.name));
    await this.updateComplete;
    this.querySelector<HTMLElement>(`[data-value="${property.name}"]`)?.focus();
  }

  #discard(): void {
    if (this.row) this.#take(this.row);
    for (const one of this.#lines) one.discard();
    this.focusHead();
  }

  focusHead(): void {
    void this.updateComplete.then(() => leadFocus(this, this.querySelector('h2')));
  }

  async #save(): Promise<void> {
    if (!this.row || this.saving) return;
    const { changes } = this.#draft;
    const wrong = this.#draft.firstWrong([...this.editing]);
    if (wrong) {
      this.querySelector<HTMLElement>(`[id="${this.#prefix}-${wrong}"]`)?.focus();
      this.requestUpdate();
      return;
    }
    if (this.#lines.some((one) => one.isDirty)) return this.#saveTogether(changes);
    if (Object.keys(changes).length === 0) return this.#discard();
    const before = Object.fromEntries(Object.keys(changes).map((name) => [name, this.row?.[name]]));
    this.saving = true;
    try {
      await change(this.set, this.key, changes, this.row['@odata.etag']);
      await this.load();
      noticesNear(this)?.say({
        text: text('record-saved', { count: Object.keys(changes).length, name: this.#names(changes) }),
        undo: async () => {
          await change(this.set, this.key, before, this.row?.['@odata.etag']);
          await this.load();
        },
      });
      // Whoever writes on already stays there.
      if (!this.#isWriting) this.focusHead();
    } catch (error) {
      await this.#refused(error, changes);
    } finally {
      this.saving = false;
    }
  }

  /** Saves the record with its lines, as a whole. */
  async #saveTogether(changes: Row): Promise<void> {
    const { row } = this;
    const lists = this.#lines.filter((one) => one.isDirty);
    if (!row || !lists.every((one) => one.isComplete())) return;
    const names = [this.#names(changes), ...lists.map((one) => memberName(this.set.name, one.lines.navigation))];
    this.saving = true;
    try {
      const takeBack = await storeTogether(this.set, row, changes, lists);
      if (!takeBack) return;
      await this.#settle(lists);
      noticesNear(this)?.say({
        text: text('lines-saved', { names: names.filter(Boolean).join(', ') }),
        undo: async () => {
          await takeBack();
          await this.#settle(lists);
        },
      });
      this.focusHead();
    } catch (error) {
      const problem = error instanceof RefusedChange ? error.problem : asProblem(error);
      if (problem.isConflict) this.complaint = [text('lines-conflict')];
      else await this.#refused(problem, changes);
    } finally {
      this.saving = false;
    }
  }

  async #settle(lists: readonly SvcLines[]): Promise<void> {
    await this.load();
    for (const one of lists) one.discard();
  }

  #names(changes: Row): string {
    return Object.keys(changes)
      .map((name) => memberName(this.set.name, name))
      .join(', ');
  }

  async #refused(error: unknown, changes: Row): Promise<void> {
    const problem = asProblem(error);
    if (problem.isConflict && this.row) {
      try {
        await this.#compare(this.row, changes);
      } catch (again) {
        // Refused once more: what was written stays for another try.
        this.complaint = [sentence(asProblem(again))];
      }
      return;
    }
    const names = this.#shown.map(({ name }) => name);
    const rest = this.#draft.refuse(problem, names);
    const first = this.#draft.firstWrong(names);
    if (first) this.editing = new Set([...this.editing, first]);
    this.complaint = problem.fields.length > 0 ? rest.map(capitalised) : [sentence(problem)];
    await this.updateComplete;
    if (first) this.querySelector<HTMLElement>(`[id="${this.#prefix}-${first}"]`)?.focus();
    else this.querySelector('[role=alert]')?.scrollIntoView({ block: 'nearest' });
  }

  /** Somebody else was first: both versions, and a choice. */
  async #compare(before: Row, changes: Row): Promise<void> {
    const now = await read(this.set, this.key, shownOptions(this.host.model, this.set, this.#shown));
    const decided = await decide(this, this.host.model, this.set, { before, mine: changes, now }, this.#draft.titles);
    if (!decided) return;
    if (Object.keys(decided).length > 0) await change(this.set, this.key, decided, now['@odata.etag']);
    await this.load();
    noticesNear(this)?.say({ text: text('record-merged') });
    this.focusHead();
  }

  #keyed(event: KeyboardEvent): void {
    if ((event.ctrlKey || event.metaKey) && (event.key === 's' || event.key === 'Enter')) {
      event.preventDefault();
      void this.#save();
      return;
    }
    if (event.key !== 'Escape' || event.defaultPrevented) return;
    const name = (event.target as Element).closest<HTMLElement>('[data-property]')?.dataset.property;
    const property = this.#shown.find((one) => one.name === name);
    event.preventDefault();
    event.stopPropagation();
    if (property && this.editing.has(property.name)) void this.#giveUp(property);
    else this.tell('record-close', undefined);
  }

  #fact(property: Property, row: Row): TemplateResult {
    return html`<span class="svc-fact"><span class="svc-soft">${memberName(this.set.name, property.name)}</span> ${cell(this.host.model, this.set, property, row)}</span>`;
  }

  #facts(row: Row): TemplateResult[] {
    const facts = this.#shown
      .filter(
        ({ name, kind }) => name !== this.set.title && kind !== 'id' && !['createdAt', 'updatedAt'].includes(name),
      )
      .filter((property) => isChoice(property) || (property.kind === 'decimal' && row[property.name] !== null))
      .slice(0, MOST_FACTS)
      .map((property) => this.#fact(property, row));
    const answered = this.#functions.flatMap(({ name, result, description }) =>
      this.answers.has(name) && result
        ? [
            html`<span class="svc-fact" title=${memberDescription(this.set.name, name, description) ?? nothing}><span class="svc-soft">${memberName(this.set.name, name)}</span>
              ${plain(this.set, { ...result, scale: result.scale ?? 2 }, this.answers.get(name)) || '–'}</span>`,
          ]
        : [],
    );
    return [...facts, ...answered];
  }

  async #act(operation: Operation): Promise<void> {
    if (this.isDirty) {
      this.complaint = [text('record-save-first')];
      return;
    }
    const ran = await runAction(this, this.host.model, this.set, this.key, operation);
    if (ran) await this.load();
  }

  #actions(row: Row): TemplateResult {
    const [first, ...rest] = actionsFor(this.host, this.set);
    const entries = (): Entry[] => [
      ...rest.map(
        (operation): Entry => ({
          label: memberName(this.set.name, operation.name),
          icon: 'play',
          run: () => void this.#act(operation),
        }),
      ),
      { label: text('record-reload'), icon: 'refresh', run: () => void this.#settle(this.#lines) },
      { label: text('record-apart'), icon: 'open', run: () => this.host.open(appIdOf(this.set.name), { r: this.key }) },
      ...(mayDelete(this.host, this.set)
        ? [{ label: text('delete'), icon: 'trash', danger: true, run: () => void this.#remove(row) } satisfies Entry]
        : []),
    ];
    const history = text('history');
    return html`${
      this.isKept
        ? html`<button type="button" class="svc-button" data-look="plain" data-wordless aria-pressed=${this.past !== undefined} aria-label=${history} title=${history} @click=${() => this.tell('record-past', this.past === undefined ? ALL_PAST : undefined)}>${icon('history')}</button>`
        : nothing
    }${
      first
        ? html`<button type="button" class="svc-button" title=${memberDescription(this.set.name, first.name, first.description) ?? nothing} @click=${() => void this.#act(first)}>${memberName(this.set.name, first.name)}</button>`
        : nothing
    }${menuButton(text('more'), entries)}`;
  }

  async #remove(row: Row): Promise<void> {
    const removed = await removeRecord(this, this.host, this.set, row);
    if (removed) this.tell('record-removed', row);
  }

  #value(property: Property, row: Row): TemplateResult {
    const { name } = property;
    const editable = this.#mayEdit && property.updatable;
    const reference = referenceOf(this.set, property);
    const label = memberName(this.set.name, name);
    const own = ownProperty(this.host.look(this.set.name), property);
    if (own) return this.#own(own, property, row, editable);
    if (editable && this.editing.has(name)) return this.#open(property, label);
    const shown = this.#draft.isChanged(name)
      ? (this.#draft.titles.get(name) ?? plain(this.set, property, this.#draft.value(name), this.#draft.values))
      : cell(this.host.model, this.set, property, this.#draft.values, false);
    const key = row[name];
    const follow =
      reference && typeof key === 'string' && this.host.model.has(reference.target)
        ? html`<button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('record-follow', { name: label })} title=${text('record-follow', { name: label })} @click=${() => this.host.open(appIdOf(reference.target), { r: key })}>${icon('open')}</button>`
        : nothing;
    return html`<div class="svc-prop" data-property=${name} ?data-changed=${this.#draft.isChanged(name)}>
      <dt title=${memberDescription(this.set.name, name, property.description) ?? nothing}>${label}</dt>
      <dd>
        ${
          editable
            ? html`<button type="button" class="svc-value" data-value=${name} title=${text('record-edit', { name: label })} @click=${() => void this.#edit(property)}>
              <span class="shell-sr">${text('record-edit', { name: label })}: </span><span class="svc-text">${shown}</span>
            </button>`
            : html`<span class="svc-value"><span class="svc-text">${shown}</span></span>`
        }${follow}${wayOn(property, row[name], label)}
      </dd>
    </div>`;
  }

  #write({ name, value }: Written): void {
    this.#draft.set(name, value);
    this.requestUpdate();
  }

  /** The application's own element in place of a value. */
  #own(own: OwnElement, property: Property, row: Row, editable: boolean): TemplateResult {
    const { name } = property;
    const wrong = this.#draft.wrong(property);
    const given = { name, value: this.#draft.value(name), record: this.#draft.values, readOnly: !editable, wrong };
    const usual = () => html`<span class="svc-value">${cell(this.host.model, this.set, property, row, false)}</span>`;
    return html`<div class="svc-prop" data-property=${name} ?data-changed=${this.#draft.isChanged(name)}>
      <dt title=${memberDescription(this.set.name, name, property.description) ?? nothing}>${memberName(this.set.name, name)}</dt>
      <dd>${showOwn(own, this.set, given, (written) => this.#write(written), usual)}
        ${wrong === undefined ? nothing : html`<p class="svc-note" data-wrong>${wrong}</p>`}</dd>
    </div>`;
  }

  /** All values, by what belongs together, or by the application's own element. */
  #values(shown: readonly Property[], row: Row): TemplateResult {
    const look = this.host.look(this.set.name);
    const usual = () =>
      html`${grouped(look, shown).map(({ title, properties }) => this.#group(title, properties, row))}`;
    const own = ownRecord(look);
    if (!own) return usual();
    const writable = this.#mayEdit ? shown.filter(({ updatable }) => updatable).map(({ name }) => name) : [];
    return showOwnRecord(own, this.#draft, writable, shown, (written) => this.#write(written), usual);
  }

  #open(property: Property, label: string): TemplateResult {
    const id = `${this.#prefix}-${property.name}`;
    const wrong = this.#draft.wrong(property);
    return html`<div class="svc-prop" data-property=${property.name} data-editing ?data-changed=${this.#draft.isChanged(property.name)}>
      <dt><label for=${id}>${label}</label></dt>
      <dd>
        ${editor(this.#place, property)}
        <p id="${id}-note" class="svc-note" ?data-wrong=${wrong !== undefined}>${wrong ?? memberDescription(this.set.name, property.name, property.description) ?? nothing}</p>
      </dd>
    </div>`;
  }

  get #place(): Place {
    return {
      model: this.host.model,
      set: this.set,
      draft: this.#draft,
      prefix: this.#prefix,
      required: ({ nullable }) => !nullable,
      changed: () => this.requestUpdate(),
      creatorOf: quickCreate(this, this.host),
    };
  }

  #bar(): TemplateResult | typeof nothing {
    if (this.editing.size === 0 && !this.isDirty) return nothing;
    const count = this.#lines.reduce((sum, one) => sum + one.count, Object.keys(this.#draft.changes).length);
    return html`<footer class="svc-pane-foot">
      <span class="svc-soft">${text('record-changes', { count })}</span>
      <button type="button" class="svc-button" @click=${() => this.#discard()}>${text('discard')}</button>
      <button type="button" class="svc-button" data-look="primary" aria-disabled=${this.saving} @click=${() => void this.#save()}>${text('save')}</button>
    </footer>`;
  }

  #group(title: string | undefined, properties: readonly Property[], row: Row): TemplateResult {
    const values = html`<dl class="svc-props">${properties.map((property) => this.#value(property, row))}</dl>`;
    return title === undefined ? values : html`<section class="svc-group"><h3>${title}</h3>${values}</section>`;
  }

  #body(row: Row): TemplateResult {
    if (this.past !== undefined && this.isKept) {
      return html`<svc-history .host=${this.host} .set=${this.set} .key=${this.key} .row=${row} .pointed=${this.past} .version=${row['@odata.etag']}
        @record-restored=${(event: CustomEvent<RestoreAction>) => this.#restored(event.detail)}></svc-history>`;
    }
    const shown = this.#shown.filter(({ kind, reference }) => kind !== 'id' || reference !== undefined);
    const isKept = ({ name }: Property) => name === 'createdAt' || name === 'updatedAt';
    const times = shown.filter((property) => isKept(property) && row[property.name]);
    return html`${this.complaint.map((one) => html`<div class="svc-bar" data-tone="danger" role="alert">${icon('error')}<span>${one}</span></div>`)}
      ${
        this.hasWorkflow
          ? html`<svc-workflow .set=${this.set} .key=${this.key} .version=${row['@odata.etag']} @record-moved=${() => this.#moved()}></svc-workflow>`
          : nothing
      }
      ${this.#values(
        shown.filter((property) => !isKept(property)),
        row,
      )}
      ${belongings(this.host, this.set, row, this.#draft.values, () => this.requestUpdate())}
      ${
        times.length > 0
          ? html`<p class="svc-times">${times.map(({ name }) => html`<span>${memberName(this.set.name, name)} ${timeAgo(String(row[name]))}</span>`)}</p>`
          : nothing
      }`;
  }

  override render(): TemplateResult {
    const { row, problem } = this;
    const kind = singular(this.set.name, this.set.type);
    return html`<section class="svc-pane" aria-label=${row ? titleOf(this.host.model, this.set, row) : kind} @keydown=${this.#keyed}>
      <header class="svc-pane-head">
        <button type="button" class="svc-button svc-pane-back" data-look="plain" data-wordless aria-label=${text('close')} title=${text('close')} @click=${() => this.tell('record-close', undefined)}>
          ${icon('close')}
        </button>
        <div class="svc-pane-title">
          <span class="svc-soft">${kind}</span>
          <h2 tabindex="-1">${row ? titleOf(this.host.model, this.set, row) : text('loading')}</h2>
        </div>
        ${row ? html`<div class="svc-pane-actions">${this.#actions(row)}</div>` : nothing}
        ${row && this.#facts(row).length > 0 ? html`<p class="svc-facts">${this.#facts(row)}</p>` : nothing}
      </header>
      <div class="svc-pane-body">
        ${this.elsewhere ? html`<div class="svc-bar" role="status">${icon('alert')}<span>${text(`record-${this.elsewhere}-elsewhere`)}</span></div>` : nothing}
        ${problem && row ? failureBar(problem, () => void this.load()) : nothing}
        ${row ? this.#body(row) : problem ? failure(problem, () => void this.load()) : html`<div class="svc-skeleton" aria-busy="true"></div>`}
      </div>
      ${this.#bar()}
    </section>`;
  }
}
define('svc-record', SvcRecord);
