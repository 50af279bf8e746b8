/** A field of a form: its label, the editor that suits the property, and what is wrong with it. */
import { html, nothing, type TemplateResult } from 'lit';
import { referenceOf } from '../core/list-state.ts';
import { meaningOf } from '../core/meaning.ts';
import { measuredIn } from '../core/measure.ts';
import type { EntitySet, Model, Property } from '../core/model.ts';
import { choiceName, decimalSign, measureSign, memberDescription, memberName, text } from '../text.ts';
import type { Row } from '../core/pages.ts';
import type { Draft } from './draft.ts';
import './reference.ts';
import type { Pick } from './reference.ts';

/** Where a field stands. */
export interface Place {
  readonly model: Model;
  readonly set: EntitySet;
  readonly draft: Draft;
  /** Where numbers look for what they are in; the draft's own values where it's left out. */
  readonly record?: Row;
  /** Begins the ids of the fields, unique on the page. */
  readonly prefix: string;
  /** Leaving it empty is an error. */
  required(property: Property): boolean;
  changed(): void;
  /** The name of a parameter, where it isn't one of the set's properties. */
  nameOf?(property: Property): string;
  descriptionOf?(property: Property): string | undefined;
  /** How one of another set is made on the way; nothing where that isn't allowed. */
  creatorOf?(target: EntitySet): ((typed: string) => Promise<Pick | undefined>) | undefined;
}

/** Texts longer than this get several lines. */
const ONE_LINE = 200;

/** Whether a value is written on several lines. */
function isLong(property: Property): boolean {
  const { kind, maxLength } = property;
  return kind === 'json' || (kind === 'text' && !meaningOf(property) && (maxLength ?? ONE_LINE + 1) > ONE_LINE);
}

/** A value as it stands in an input. */
export function inputText(property: Property, value: unknown): string {
  if (value === null || value === undefined) return '';
  if (property.kind === 'time') {
    const time = new Date(String(value));
    const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000);
    return local.toISOString().slice(0, 16);
  }
  if (property.kind === 'decimal') {
    const plain = property.scale === undefined ? String(value) : Number(value).toFixed(property.scale);
    return plain.replace('.', decimalSign());
  }
  if (property.kind === 'json') return JSON.stringify(value, null, 2);
  return String(value);
}

const INPUT_TYPES: Partial<Record<Property['kind'], string>> = { date: 'date', time: 'datetime-local', clock: 'time' };

function options(place: Place, property: Property, choices: readonly [string, string][]): TemplateResult {
  const value = place.draft.value(property.name);
  const current = value === null || value === undefined ? '' : String(value);
  const isOptional = !place.required(property) || current === '';
  return html`<select
    id="${place.prefix}-${property.name}"
    class="svc-input"
    name=${property.name}
    aria-describedby="${place.prefix}-${property.name}-note"
    aria-invalid=${place.draft.wrong(property) ? 'true' : nothing}
    @change=${(event: Event) => {
      place.draft.type(property, (event.target as HTMLSelectElement).value);
      place.changed();
    }}
  >
    ${isOptional ? html`<option value="" .selected=${current === ''}></option>` : nothing}
    ${choices.map(([member, name]) => html`<option value=${member} .selected=${member === current}>${name}</option>`)}
  </select>`;
}

/** An input of numbers with what they are in behind it; `id` is the input's. */
export function withMeasure(property: Property, values: Row, id: string, input: TemplateResult): TemplateResult {
  const said = measuredIn(property, values);
  if (!property.measure || said === undefined) return input;
  return html`<span class="svc-measured">${input}<span id="${id}-in">${measureSign(property.measure.kind, said)}</span></span>`;
}

/** What describes an input of numbers besides its note. */
function measuredBy(property: Property, values: Row, id: string): string {
  return measuredIn(property, values) === undefined ? '' : `${id}-in `;
}

function typing(place: Place, property: Property): TemplateResult {
  const { draft, prefix, record = draft.values } = place;
  const shown = draft.typed(property.name) ?? inputText(property, draft.value(property.name));
  const take = (event: Event) => {
    draft.type(property, (event.target as HTMLInputElement).value);
    place.changed();
  };
  const wrong = draft.wrong(property) ? 'true' : nothing;
  const id = `${prefix}-${property.name}`;
  if (isLong(property)) {
    const isJson = property.kind === 'json';
    return html`<textarea
      id=${id}
      class="svc-input"
      name=${property.name}
      rows=${isJson ? Math.min(Math.max(shown.split('\n').length, 4), 16) : 3}
      ?data-code=${isJson}
      spellcheck=${isJson ? 'false' : nothing}
      wrap=${isJson ? 'off' : nothing}
      aria-describedby="${id}-note"
      aria-invalid=${wrong}
      .value=${shown}
      @input=${take}
    ></textarea>`;
  }
  const isNumber = property.kind === 'integer' || property.kind === 'decimal';
  const input = html`<input
    id=${id}
    class="svc-input"
    name=${property.name}
    type=${meaningOf(property)?.input ?? INPUT_TYPES[property.kind] ?? 'text'}
    inputmode=${isNumber ? (property.kind === 'decimal' ? 'decimal' : 'numeric') : nothing}
    autocomplete="off"
    ?data-numeric=${isNumber}
    aria-describedby="${measuredBy(property, record, id)}${id}-note"
    aria-invalid=${wrong}
    aria-required=${place.required(property) ? 'true' : nothing}
    .value=${shown}
    @input=${take}
  />`;
  return withMeasure(property, record, id, input);
}

/** The editor alone. */
export function editor(place: Place, property: Property): TemplateResult {
  const { draft, model, set, prefix } = place;
  const reference = referenceOf(set, property);
  const target = reference && model.get(reference.target);
  if (target) {
    const key = draft.value(property.name);
    return html`<svc-reference
      .set=${target}
      .inputId=${`${prefix}-${property.name}`}
      .describedBy=${`${prefix}-${property.name}-note`}
      .value=${key === undefined ? null : key}
      .shown=${draft.titles.get(property.name) ?? ''}
      .isWrong=${draft.wrong(property) !== undefined}
      .clearable=${property.nullable}
      .create=${place.creatorOf?.(target)}
      @pick=${(event: CustomEvent<Pick>) => {
        draft.set(property.name, event.detail.key);
        draft.titles.set(property.name, event.detail.title);
        place.changed();
      }}
    ></svc-reference>`;
  }
  if (property.kind === 'enumeration') {
    return options(
      place,
      property,
      property.members.map((member) => [member, choiceName(set.name, property, member)]),
    );
  }
  if (property.kind === 'boolean') {
    return options(place, property, [
      ['true', text('yes')],
      ['false', text('no')],
    ]);
  }
  return typing(place, property);
}

/** A field with its label. */
export function field(place: Place, property: Property): TemplateResult {
  const id = `${place.prefix}-${property.name}`;
  const wrong = place.draft.wrong(property);
  const name = place.nameOf?.(property) ?? memberName(place.set.name, property.name);
  const described =
    place.descriptionOf?.(property) ?? memberDescription(place.set.name, property.name, property.description);
  return html`<div class="svc-field" ?data-wide=${isLong(property)}>
    <label for=${id}>${name}${place.required(property) ? nothing : html`<span class="svc-soft"> ${text('field-optional')}</span>`}</label>
    ${editor(place, property)}
    <p id="${id}-note" class="svc-note" ?data-wrong=${wrong !== undefined}>${wrong ?? described ?? nothing}</p>
  </div>`;
}
