/** Makes a record: a form of all that may be said of a new one. */
import { html, nothing, type TemplateResult } from 'lit';
import { asProblem } from '../client/request.ts';
import { create } from '../client/sets.ts';
import type { EntitySet, Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { Draft } from '../parts/draft.ts';
import { field, type Place } from '../parts/field.ts';
import { icon } from '../parts/icons.ts';
import { define, freshId, Part } from '../parts/part.ts';
import { capitalised, sentence } from '../parts/states.ts';
import { inSentence, memberName, singular, text } from '../text.ts';
import type { SetHost } from './context.ts';
import { grouped } from './grouping.ts';
import './lines.ts';
import type { SvcLines } from './lines.ts';
import { ownProperty, ownRecord, showOwn, showOwnRecord, type Written } from './own.ts';
import { quickCreate } from './quick-create.ts';

export class SvcCreate extends Part {
  static override properties = {
    host: { attribute: false },
    set: { attribute: false },
    complaint: { state: true },
    saving: { state: true },
  };
  declare host: SetHost;
  declare set: EntitySet;
  declare complaint: readonly string[];
  declare saving: boolean;
  readonly #draft = new Draft();
  readonly #prefix = freshId('create');

  constructor() {
    super();
    this.complaint = [];
    this.saving = false;
  }

  get isDirty(): boolean {
    return this.#draft.isDirty || this.#lines.some((one) => one.isDirty);
  }

  get #lines(): SvcLines[] {
    return [...this.querySelectorAll<SvcLines>('svc-lines')];
  }

  override firstUpdated(): void {
    this.querySelector<HTMLElement>('input, select, textarea')?.focus();
  }

  /** What is asked for: first what has to be said. */
  get #fields(): Property[] {
    const asked = this.set.properties.filter(
      ({ name, kind, insertable, reference }) =>
        insertable && name !== this.set.key && kind !== 'binary' && (kind !== 'id' || reference !== undefined),
    );
    const title = asked.filter(({ name }) => name === this.set.title);
    return [...title, ...asked.filter(({ name }) => name !== this.set.title)];
  }

  #required({ nullable, hasDefault }: Property): boolean {
    return !nullable && !hasDefault;
  }

  get #place(): Place {
    return {
      model: this.host.model,
      set: this.set,
      draft: this.#draft,
      prefix: this.#prefix,
      required: (property) => this.#required(property),
      changed: () => this.requestUpdate(),
      creatorOf: quickCreate(this, this.host),
    };
  }

  async #focusOn(name: string | undefined): Promise<void> {
    await this.updateComplete;
    const target = name ? `[id="${this.#prefix}-${name}"]` : '[role=alert]';
    this.querySelector<HTMLElement>(target)?.focus();
  }

  async #save(event: Event): Promise<void> {
    event.preventDefault();
    if (this.saving) return;
    const names = this.#fields.map(({ name }) => name);
    this.complaint = [];
    const areComplete = this.#lines.map((one) => one.isComplete()).every(Boolean);
    if (!this.#draft.isComplete(this.#fields.filter((one) => this.#required(one)))) {
      this.requestUpdate();
      return this.#focusOn(this.#draft.firstWrong(names));
    }
    if (!areComplete) return;
    this.saving = true;
    try {
      const lines = this.#lines.map(({ lines: { navigation }, values }) => [navigation, values] as const);
      const said = Object.fromEntries(lines.filter(([, values]) => values.length > 0));
      const row = await create(this.set, { ...this.#draft.changes, ...said });
      this.tell<Row>('record-created', row);
    } catch (error) {
      const whole = asProblem(error);
      const problem = this.#lines.reduce((left, one) => one.refuseAll(left), whole);
      const rest = this.#draft.refuse(problem, names);
      this.complaint = whole.fields.length > 0 ? rest.map(capitalised) : [sentence(problem)];
      const first = this.#draft.firstWrong(names);
      if (first || this.complaint.length > 0) await this.#focusOn(first);
    } finally {
      this.saving = false;
    }
  }

  #keyed(event: KeyboardEvent): void {
    if ((event.ctrlKey || event.metaKey) && event.key === 'Enter') this.querySelector('form')?.requestSubmit();
    else if (event.key === 'Escape' && !event.defaultPrevented) {
      event.stopPropagation();
      this.tell('record-close', undefined);
    }
  }

  #write({ name, value }: Written): void {
    this.#draft.set(name, value);
    this.requestUpdate();
  }

  /** A field, or what the application has in its place. */
  #field(property: Property): TemplateResult {
    const usual = () => field(this.#place, property);
    const own = ownProperty(this.host.look(this.set.name), property);
    if (!own) return usual();
    const { name } = property;
    const wrong = this.#draft.wrong(property);
    const given = { name, value: this.#draft.value(name), record: this.#draft.values, readOnly: false, wrong };
    return html`<div class="svc-field"><span class="svc-label" aria-hidden="true">${memberName(this.set.name, name)}</span>
      ${showOwn(own, this.set, given, (written) => this.#write(written), usual)}
      <p class="svc-note" ?data-wrong=${wrong !== undefined}>${wrong ?? nothing}</p></div>`;
  }

  #fieldGroups(): TemplateResult {
    const look = this.host.look(this.set.name);
    const usual = () =>
      html`${grouped(look, this.#fields).map(({ title, properties }) => this.#group(title, properties))}`;
    const own = ownRecord(look);
    if (!own) return usual();
    const names = this.#fields.map(({ name }) => name);
    return showOwnRecord(own, this.#draft, names, this.#fields, (written) => this.#write(written), usual);
  }

  #lineSections(): TemplateResult | typeof nothing {
    if (!this.set.deepInsert) return nothing;
    const { lines = [] } = this.host.look(this.set.name);
    return html`${lines.map((one) => html`<svc-lines .host=${this.host} .set=${this.set} .lines=${one} .record=${this.#draft.values} @lines-changed=${() => this.requestUpdate()}></svc-lines>`)}`;
  }

  #group(title: string | undefined, properties: readonly Property[]): TemplateResult {
    const fields = html`<div class="svc-form">${properties.map((property) => this.#field(property))}</div>`;
    return title === undefined
      ? fields
      : html`<fieldset class="svc-group"><legend>${title}</legend>${fields}</fieldset>`;
  }

  override render(): TemplateResult {
    const kind = inSentence(singular(this.set.name, this.set.type));
    const title = text('create-title', { kind });
    return html`<section class="svc-pane" aria-label=${title} @keydown=${this.#keyed}>
      <header class="svc-pane-head">
        <button type="button" class="svc-button svc-pane-back" data-look="plain" data-wordless aria-label=${text('close')} @click=${() => this.tell('record-close', undefined)}>${icon('close')}</button>
        <div class="svc-pane-title"><h2>${title}</h2></div>
      </header>
      <form class="svc-pane-form" novalidate @submit=${this.#save}>
        <div class="svc-pane-body">
          ${this.complaint.map((one) => html`<div class="svc-bar" data-tone="danger" role="alert" tabindex="-1">${icon('error')}<span>${one}</span></div>`)}
          ${this.#fieldGroups()}${this.#lineSections()}
        </div>
        <footer class="svc-pane-foot">
          <button type="button" class="svc-button" @click=${() => this.tell('record-close', undefined)}>${text('cancel')}</button>
          <button type="submit" class="svc-button" data-look="primary" aria-disabled=${this.saving}>${text('create-save', { kind })}</button>
        </footer>
      </form>
    </section>`;
  }
}
define('svc-create', SvcCreate);
