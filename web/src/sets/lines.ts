/**
 * The lines of a record, where the application says that they are written together with it (`SetLook::lines`): an order and what is
 * ordered. In the form of a new record they go along with it; of a record that is there they are read first, and what is changed is
 * stored with the record's own changes, as a whole.
 */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { asProblem, isAborted } from '../client/request.ts';
import { few } from '../client/sets.ts';
import { changeOf, lineOf, takeBack, type Change, type LineState } from '../core/lines.ts';
import { lineWithin } from '../core/measure.ts';
import { navigationOf, propertyOf, type EntitySet, type Navigation, type Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { Problem } from '../core/problem.ts';
import { recordPath, shownOptions } from '../core/query.ts';
import { Draft } from '../parts/draft.ts';
import { editor, type Place } from '../parts/field.ts';
import { icon } from '../parts/icons.ts';
import { define, freshId, Part } from '../parts/part.ts';
import { capitalised, failureBar } from '../parts/states.ts';
import { cell, isNumeric, referenceTitle } from '../parts/value.ts';
import { inSentence, memberName, number, singular, text } from '../text.ts';
import { may, type Lines, type SetHost } from './context.ts';
import { follow } from './follow.ts';
import { quickCreate } from './quick-create.ts';

/** As many lines are written in at once; a record with more has them as a list of their own. */
export const MOST_LINES = 200;

interface Line {
  readonly before: Row | undefined;
  readonly draft: Draft;
  readonly prefix: string;
  isRemoved: boolean;
}

export class SvcLines extends Part {
  static override properties = {
    host: { attribute: false },
    set: { attribute: false },
    lines: { attribute: false },
    key: { attribute: false },
    record: { attribute: false },
    version: { attribute: false },
    isWriting: { state: true },
    problem: { state: true },
    total: { state: true },
    refusals: { state: true },
  };
  declare host: SetHost;
  /** The set of the record that the lines belong to. */
  declare set: EntitySet;
  declare lines: Lines;
  /** That record; none while it is being made. */
  declare key: string | undefined;
  /** That record as it is written now. */
  declare record: Row;
  /** Another version of the record: its lines may be others. */
  declare version: unknown;
  declare isWriting: boolean;
  declare problem: Problem | undefined;
  /** How many there are; unknown before they are read. */
  declare total: number | undefined;
  /** What the server said of lines beside their fields. */
  declare refusals: ReadonlyMap<Line, string>;
  #lines: Line[] = [];
  #loading: AbortController | undefined;
  readonly #id = freshId('lines');

  constructor() {
    super();
    this.isWriting = false;
    this.refusals = new Map();
  }

  override willUpdate(changes: PropertyValues): void {
    if (this.key === undefined) {
      this.isWriting = true;
      this.#keepRoom();
    } else if (changes.has('key') || (changes.has('version') && !this.isDirty)) void this.#load();
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const target = this.#target;
    if (!target || this.key === undefined) return;
    this.atEnd(
      follow(
        target.name,
        // What is being written stays; saving finds out.
        async () => {
          if (!this.isWriting) await this.#load();
        },
        () => undefined,
      ),
    );
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#loading?.abort();
  }

  get #navigation(): Navigation | undefined {
    return navigationOf(this.set, this.lines.navigation);
  }

  get #target(): EntitySet | undefined {
    return this.host.model.get(this.#navigation?.target ?? '');
  }

  /** Where a new one is made. */
  get #home(): string {
    return `${recordPath(this.set, this.key ?? '')}/${this.lines.navigation}`;
  }

  #columns(target: EntitySet): Property[] {
    return this.lines.properties.flatMap((name) => propertyOf(target, name) ?? []);
  }

  /** Whether something would be lost. */
  get isDirty(): boolean {
    return this.#written.length > 0 || this.#lines.some(({ isRemoved, before }) => isRemoved && before);
  }

  get #written(): Line[] {
    return this.#lines.filter(({ draft, isRemoved }) => !isRemoved && draft.isDirty);
  }

  /** How many lines are to be changed, made or taken away. */
  get count(): number {
    return this.#written.length + this.#lines.filter(({ isRemoved, before }) => isRemoved && before).length;
  }

  #fresh(): Line {
    return { before: undefined, draft: new Draft(), prefix: freshId('line'), isRemoved: false };
  }

  /** While somebody writes there is room for one more. */
  #keepRoom(): void {
    const target = this.#target;
    if (!this.isWriting || !target || !may(this.host, target.insert)) return;
    const last = this.#lines.filter(({ isRemoved }) => !isRemoved).at(-1);
    if (!last || last.before || last.draft.isDirty) this.#lines = [...this.#lines, this.#fresh()];
  }

  async #load(): Promise<void> {
    const target = this.#target;
    if (!target || this.key === undefined) return;
    this.#loading?.abort();
    this.#loading = new AbortController();
    this.problem = undefined;
    try {
      const order = this.lines.number ?? this.lines.properties[0] ?? target.key;
      const properties = target.properties.filter(({ kind }) => kind !== 'binary');
      const options = { ...shownOptions(this.host.model, target, properties), $orderby: order, $count: 'true' };
      const page = await few(this.#home, options, MOST_LINES, this.#loading.signal);
      this.total = page.total ?? page.rows.length;
      this.#lines = page.rows.map((row) => this.#read(target, row));
      this.refusals = new Map();
      this.isWriting = false;
      this.#told();
    } catch (error) {
      if (!isAborted(error)) this.problem = asProblem(error);
    }
  }

  #read(target: EntitySet, row: Row): Line {
    const draft = new Draft(row);
    for (const property of target.properties) {
      const title = referenceTitle(this.host.model, target, property, row);
      if (title !== undefined) draft.titles.set(property.name, title);
    }
    return { before: row, draft, prefix: freshId('line'), isRemoved: false };
  }

  /** Gives up what was written. */
  discard(): void {
    if (this.key !== undefined) void this.#load();
  }

  #told(): void {
    this.#keepRoom();
    this.requestUpdate();
    this.tell('lines-changed', undefined);
  }

  /** Everything that has to be there is; marks what isn't, and goes there. */
  isComplete(): boolean {
    const target = this.#target;
    if (!target) return true;
    const needed = this.#columns(target).filter(({ nullable, hasDefault }) => !nullable && !hasDefault);
    const wrong = this.#written.filter(({ draft }) => !draft.isComplete(needed));
    this.requestUpdate();
    const first = wrong[0];
    const name = first?.draft.firstWrong(this.lines.properties);
    if (first && name) void this.#focus(`${first.prefix}-${name}`);
    return wrong.length === 0;
  }

  async #focus(id: string): Promise<void> {
    await this.updateComplete;
    this.querySelector<HTMLElement>(`[id="${id}"]`)?.focus();
  }

  /** The number of a new line: behind all others. */
  #numbered(): ReadonlyMap<Line, number> {
    const { number: property } = this.lines;
    if (property === undefined) return new Map();
    let last = Math.max(0, ...this.#lines.map(({ before }) => Number(before?.[property] ?? 0)));
    return new Map(
      this.#written
        .filter(({ before }) => !before)
        .map((line) => {
          last += 1;
          return [line, last] as const;
        }),
    );
  }

  /** The lines as they are to be stored, with those that say something. */
  #states(): { line: Line; state: LineState }[] {
    const numbers = this.#numbered();
    return this.#lines.map((line) => {
      const given = numbers.get(line);
      const own = given === undefined ? {} : { [this.lines.number ?? '']: given };
      const { before, isRemoved, draft } = line;
      return { line, state: { before, isRemoved, changes: { ...own, ...draft.changes } } };
    });
  }

  /** What goes along with a record that is made. */
  get values(): Row[] {
    return this.#states()
      .filter(({ line }) => this.#written.includes(line))
      .map(({ state }) => state.changes);
  }

  /** What is to be sent of a record that is there, each with what takes it back and what says that it was refused. */
  get requests(): {
    change: Change;
    undo(answer: Row | undefined): Change | undefined;
    refuse(problem: Problem): void;
  }[] {
    const target = this.#target;
    if (!target) return [];
    return this.#states().flatMap(({ line, state }) => {
      const isSaid = line.isRemoved || line.draft.isDirty;
      const change = isSaid ? changeOf(target, this.#home, state) : undefined;
      if (!change) return [];
      const undo = (answer: Row | undefined) => takeBack(target, this.#home, state, answer);
      return [{ change, undo, refuse: (problem: Problem) => this.#refuse(line, problem) }];
    });
  }

  #refuse(line: Line, problem: Problem): void {
    const rest = line.draft.refuse(problem, this.lines.properties);
    const said = problem.fields.length > 0 ? rest : [problem.message];
    if (said.length > 0) this.refusals = new Map(this.refusals).set(line, said.map(capitalised).join('. '));
    this.requestUpdate();
    const name = line.draft.firstWrong(this.lines.properties);
    if (name) void this.#focus(`${line.prefix}-${name}`);
  }

  /** Takes what the server says of lines that went along with a new record; gives back what it says of none of them. */
  refuseAll(problem: Problem): Problem {
    const written = this.#written;
    const rest = problem.fields.filter((one) => {
      const found = lineOf(this.lines.navigation, one.field);
      const line = found && written[found.place];
      if (!line) return true;
      const { status, code, message } = problem;
      this.#refuse(line, new Problem({ status, code, message, fields: [{ ...one, field: found.field }] }));
      return false;
    });
    return rest.length === problem.fields.length
      ? problem
      : new Problem({ ...problem, message: problem.message, fields: rest });
  }

  #place(target: EntitySet, line: Line): Place {
    return {
      model: this.host.model,
      set: target,
      draft: line.draft,
      record: lineWithin(line.draft.values, this.#navigation?.partner, this.record),
      prefix: line.prefix,
      required: ({ nullable, hasDefault }) => !nullable && !hasDefault,
      changed: () => {
        if (this.refusals.has(line)) this.refusals = new Map([...this.refusals].filter(([one]) => one !== line));
        this.#told();
      },
      creatorOf: quickCreate(this, this.host),
    };
  }

  #writable(target: EntitySet, line: Line, property: Property): boolean {
    return line.before ? property.updatable && may(this.host, target.update) : property.insertable;
  }

  #cell(target: EntitySet, line: Line, property: Property, place: number): TemplateResult {
    const name = memberName(target.name, property.name);
    if (!this.isWriting || !this.#writable(target, line, property)) {
      const shown = line.before ? cell(this.host.model, target, property, line.before) : nothing;
      return html`<td data-label=${name} ?data-numeric=${isNumeric(property)} ?data-plain=${true}>${shown}</td>`;
    }
    const id = `${line.prefix}-${property.name}`;
    const wrong = line.draft.wrong(property);
    return html`<td data-label=${name} ?data-numeric=${isNumeric(property)}>
      <label class="shell-sr" for=${id}>${text('lines-amount', { name, place })}</label>
      ${editor(this.#place(target, line), property)}
      <p id="${id}-note" class="svc-note" ?data-wrong=${wrong !== undefined}>${wrong ?? nothing}</p>
    </td>`;
  }

  async #remove(line: Line): Promise<void> {
    if (line.before) line.isRemoved = true;
    else this.#lines = this.#lines.filter((one) => one !== line);
    this.#told();
    await this.updateComplete;
    this.querySelector<HTMLElement>('tbody input, tbody select, header button')?.focus();
  }

  #row(target: EntitySet, line: Line, place: number): TemplateResult {
    const mayGo = this.isWriting && (line.before ? may(this.host, target.remove) : line.draft.isDirty);
    const refused = this.refusals.get(line);
    return html`<tr ?data-changed=${line.draft.isDirty}>
        ${this.#columns(target).map((property) => this.#cell(target, line, property, place))}
        ${
          this.isWriting
            ? html`<td class="svc-line-end">${mayGo ? html`<button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('lines-remove', { place })} title=${text('lines-remove', { place })} @click=${() => void this.#remove(line)}>${icon('close')}</button>` : nothing}</td>`
            : nothing
        }
      </tr>
      ${refused === undefined ? nothing : html`<tr class="svc-line-refused"><td colspan="99"><p class="svc-note" data-wrong role="alert">${refused}</p></td></tr>`}`;
  }

  #table(target: EntitySet, shown: readonly Line[]): TemplateResult {
    const columns = this.#columns(target);
    return html`<table class="svc-lines" ?data-writing=${this.isWriting} aria-labelledby=${this.#id}>
      <thead><tr>
        ${columns.map((one) => html`<th scope="col" ?data-numeric=${isNumeric(one)}>${memberName(target.name, one.name)}</th>`)}
        ${this.isWriting ? html`<td></td>` : nothing}
      </tr></thead>
      <tbody>${shown.map((line, index) => this.#row(target, line, index + 1))}</tbody>
    </table>`;
  }

  get #mayWrite(): boolean {
    const target = this.#target;
    if (!target) return false;
    return [target.insert, target.update, target.remove].some((one) => may(this.host, one));
  }

  async #write(): Promise<void> {
    this.isWriting = true;
    this.#keepRoom();
    await this.updateComplete;
    this.querySelector<HTMLElement>('tbody :is(input, select, textarea)')?.focus();
  }

  override render(): TemplateResult | typeof nothing {
    const target = this.#target;
    if (!target) return nothing;
    const name = memberName(this.set.name, this.lines.navigation);
    const shown = this.#lines.filter(({ isRemoved }) => !isRemoved);
    const isKnown = this.key === undefined || this.total !== undefined;
    const kind = inSentence(singular(target.name, target.type));
    return html`<section class="svc-related">
      <header>
        <h3 id=${this.#id}>${name}</h3>
        ${this.key !== undefined && isKnown ? html`<span class="svc-soft">${number(this.total ?? 0, 0)}</span>` : nothing}
        ${
          this.isWriting || !isKnown || !this.#mayWrite
            ? nothing
            : html`<button type="button" class="svc-button" data-look="plain" @click=${() => void this.#write()}>${icon('edit')}<span>${shown.length === 0 ? text('lines-add', { kind }) : text('lines-edit', { name })}</span></button>`
        }
      </header>
      ${this.problem ? failureBar(this.problem, () => void this.#load()) : nothing}
      ${shown.length > 0 ? this.#table(target, shown) : isKnown ? html`<p class="svc-soft">${text('lines-none')}</p>` : nothing}
    </section>`;
  }
}
define('svc-lines', SvcLines);
