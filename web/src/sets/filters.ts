/** The conditions of a list as sentences: chips that open an editor, and a menu that adds one. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { facet, few } from '../client/sets.ts';
import { asProblem } from '../client/request.ts';
import { arity, isComplete, isValue, operatorsFor, type Condition, type Operator } from '../core/filter.ts';
import { readNumber } from '../core/input.ts';
import { referenceOf } from '../core/list-state.ts';
import { propertyOf, type EntitySet, type Model, type Property } from '../core/model.ts';
import { icon } from '../parts/icons.ts';
import { define, freshId, Part } from '../parts/part.ts';
import type { SvcPopover } from '../parts/popover.ts';
import '../parts/reference.ts';
import type { Pick } from '../parts/reference.ts';
import { withMeasure } from '../parts/field.ts';
import { choiceBadge, isChoice, plain } from '../parts/value.ts';
import { choiceName, decimalSign, memberName, number, text } from '../text.ts';

/** How often a value occurs. */
interface Counted {
  readonly value: string;
  readonly count: number;
}

/** Values shown of a property with few. */
const MOST_FACETS = 40;

/** Times aren't less than each other: they're before. */
function wording({ kind }: Property, operator: Operator): string {
  const isTime = kind === 'time' || kind === 'date' || kind === 'clock';
  return isTime && (operator === 'less' || operator === 'more') ? `time-${operator}` : operator;
}

export class SvcFilters extends Part {
  static override properties = {
    model: { attribute: false },
    set: { attribute: false },
    conditions: { attribute: false },
    titles: { state: true },
    facets: { state: true },
    drafting: { state: true },
  };
  declare model: Model;
  declare set: EntitySet;
  declare conditions: readonly Condition[];
  /** What references in conditions are called, by their keys. */
  declare titles: ReadonlyMap<string, string>;
  declare facets: ReadonlyMap<string, readonly Counted[]>;
  /** A condition that was begun and says nothing yet. */
  declare drafting: Condition | undefined;
  readonly #id = freshId('filter');
  /** Keys whose names have been asked for. */
  readonly #asked = new Set<string>();

  constructor() {
    super();
    this.conditions = [];
    this.titles = new Map();
    this.facets = new Map();
    this.drafting = undefined;
  }

  override willUpdate(changes: PropertyValues): void {
    if (!changes.has('conditions')) return;
    // What was begun stands among them now: until it does, its chip stays, and so does the editor that somebody writes in.
    if (this.drafting && isComplete(this.drafting)) this.drafting = undefined;
    void this.#name();
  }

  /** Asks what references are called that an address or a group has named by their keys. */
  async #name(): Promise<void> {
    for (const { property: name, values } of this.conditions) {
      const property = propertyOf(this.set, name);
      const reference = property && referenceOf(this.set, property);
      const target = reference && this.model.get(reference.target);
      const unknown = values.filter((key) => target && !this.titles.has(key) && !this.#asked.has(key));
      if (!target || unknown.length === 0) continue;
      for (const key of unknown) this.#asked.add(key);
      const options = { $filter: `${target.key} in (${unknown.join(',')})`, $select: `${target.key},${target.title}` };
      // Without names the condition holds all the same.
      const found = await few(target.name, options, unknown.length).catch(() => undefined);
      const named = (found?.rows ?? []).map((row): [string, string] => [
        String(row[target.key]),
        String(row[target.title] ?? row[target.key]),
      ]);
      this.titles = new Map([...this.titles, ...named]);
    }
  }

  /** The properties that a list can be filtered by. */
  get properties(): Property[] {
    return this.set.properties.filter(
      (property) => operatorsFor(property).length > 0 && (property.kind !== 'id' || property.reference !== undefined),
    );
  }

  /** Begins a condition and opens its editor. */
  async add(property: Property): Promise<void> {
    const operator = operatorsFor(property)[0];
    if (!operator) return;
    this.drafting = { property: property.name, operator, values: property.kind === 'boolean' ? ['true'] : [] };
    if (isComplete(this.drafting)) this.#change([...this.conditions, this.drafting]);
    await this.updateComplete;
    [...this.querySelectorAll<SvcPopover>('.svc-chip svc-popover')].at(-1)?.open();
  }

  #change(conditions: readonly Condition[]): void {
    this.tell('conditions', conditions);
  }

  #put(index: number, condition: Condition): void {
    if (index < this.conditions.length) {
      const next = this.conditions.map((one, place) => (place === index ? condition : one));
      // An incomplete one asks for nothing; it stays until somebody leaves it.
      this.#change(next);
    } else {
      this.drafting = condition;
      if (isComplete(condition)) this.#change([...this.conditions, condition]);
    }
  }

  #remove(index: number): void {
    if (index >= this.conditions.length) this.drafting = undefined;
    else this.#change(this.conditions.filter((_one, place) => place !== index));
    this.closest('.svc-app')?.querySelector<HTMLElement>('[type=search]')?.focus();
  }

  #left(index: number): void {
    const condition = this.conditions[index] ?? this.drafting;
    if (condition && !isComplete(condition)) this.#remove(index);
  }

  async #count(property: Property): Promise<void> {
    if (this.facets.has(property.name)) return;
    try {
      const found = await facet(this.set, property.name, {});
      const counted = found.slice(0, MOST_FACETS).map(({ value, count }) => ({ value: String(value ?? ''), count }));
      this.facets = new Map([...this.facets, [property.name, counted]]);
    } catch (error) {
      // Counts are a help; without them one types the value.
      if (asProblem(error).status === -1) throw error;
      this.facets = new Map([...this.facets, [property.name, []]]);
    }
    await this.updateComplete;
    for (const popover of this.querySelectorAll<SvcPopover>('svc-popover')) popover.placeAgain();
  }

  /** The condition as a sentence. */
  sentence(condition: Condition): string {
    const property = propertyOf(this.set, condition.property);
    if (!property) return '';
    const name = memberName(this.set.name, property.name);
    const shown = condition.values.map((value) => this.#shown(property, condition.operator, value));
    if (!isComplete(condition)) return text('filter-incomplete', { name });
    return text(`filter-${wording(property, condition.operator)}`, {
      name,
      value: shown.length > 2 ? text('filter-many', { count: shown.length }) : shown.join(text('filter-or')),
      first: shown[0] ?? '',
      second: shown[1] ?? '',
      count: Number(condition.values[0] ?? 0),
    });
  }

  #shown(property: Property, operator: Operator, value: string): string {
    if (operator === 'lastDays') return value;
    if (property.reference !== undefined || property.kind === 'id') return this.titles.get(value) ?? '…';
    if (property.kind === 'time' && !value.includes('T')) return plain(this.set, { ...property, kind: 'date' }, value);
    return plain(this.set, property, value);
  }

  #editor(index: number, condition: Condition): TemplateResult {
    const property = propertyOf(this.set, condition.property);
    if (!property) return html``;
    const operators = operatorsFor(property);
    const name = memberName(this.set.name, property.name);
    return html`<div class="svc-filter-editor" @keydown=${(event: KeyboardEvent) => this.#keyed(event)}>
      ${
        operators.length > 1
          ? html`<select
            class="svc-input"
            aria-label=${text('filter-operator', { name })}
            @change=${(event: Event) => {
              const operator = (event.target as HTMLSelectElement).value as Operator;
              const keeps =
                arity(operator) === arity(condition.operator) &&
                operator !== 'lastDays' &&
                condition.operator !== 'lastDays';
              this.#put(index, { ...condition, operator, values: keeps ? condition.values : [] });
            }}
          >
            ${operators.map((operator) => html`<option value=${operator} .selected=${operator === condition.operator}>${text(`operator-${wording(property, operator)}`)}</option>`)}
          </select>`
          : nothing
      }
      ${this.#values(index, property, condition)}
    </div>`;
  }

  #keyed(event: KeyboardEvent): void {
    if (event.key !== 'Enter' || (event.target as Element).matches('button')) return;
    // The focus goes to what it came from, which the same press would open again.
    event.preventDefault();
    (event.target as Element).closest<SvcPopover>('svc-popover')?.close();
  }

  #values(index: number, property: Property, condition: Condition): TemplateResult | typeof nothing {
    const count = arity(condition.operator);
    if (count === 0) return nothing;
    if (property.kind === 'boolean')
      return this.#choices(
        index,
        condition,
        [
          ['true', text('yes')],
          ['false', text('no')],
        ],
        false,
      );
    if (property.kind === 'enumeration') {
      const members = property.members.map((member) => [member, choiceName(this.set.name, property, member)] as const);
      return this.#choices(index, condition, members, true);
    }
    if (property.kind === 'id') return this.#reference(index, property, condition);
    if (count === 'many' && property.isFacet) return this.#counted(index, property, condition);
    const places = count === 2 ? [0, 1] : [0];
    return html`<div class="svc-filter-values">${places.map((place) => this.#value(index, property, condition, place))}</div>`;
  }

  #value(index: number, property: Property, condition: Condition, place: number): TemplateResult {
    const days = condition.operator === 'lastDays';
    const numeric = days || property.kind === 'integer' || property.kind === 'decimal';
    const type = days
      ? 'text'
      : property.kind === 'time' || property.kind === 'date'
        ? 'date'
        : property.kind === 'clock'
          ? 'time'
          : 'text';
    const value = condition.values[place] ?? '';
    const label = memberName(this.set.name, property.name);
    const id = `${this.#id}-${index}-${place}`;
    const input = html`<input
      class="svc-input"
      type=${type}
      inputmode=${numeric ? 'decimal' : nothing}
      autocomplete="off"
      aria-label=${place === 0 ? label : text('filter-until', { name: label })}
      placeholder=${days ? text('filter-days') : nothing}
      .value=${numeric && value !== '' ? value.replace('.', decimalSign()) : value}
      @input=${(event: Event) => {
        const typed = (event.target as HTMLInputElement).value;
        const read = numeric ? (readNumber(typed, decimalSign()) ?? '') : typed;
        const values = [...condition.values];
        values[place] = read !== '' && isValue(property, condition.operator, read) ? read : '';
        this.#put(index, { ...condition, values });
      }}
    />`;
    return withMeasure(property, {}, id, input);
  }

  #choices(
    index: number,
    condition: Condition,
    choices: readonly (readonly [string, string])[],
    several: boolean,
  ): TemplateResult {
    return html`<div class="svc-choices" role="group">
      ${choices.map(([value, name]) => this.#choice(index, condition, value, name, several))}
    </div>`;
  }

  #choice(
    index: number,
    condition: Condition,
    value: string,
    name: TemplateResult | string,
    several: boolean,
    count?: number,
  ): TemplateResult {
    const change = (event: Event) => {
      const isOn = (event.target as HTMLInputElement).checked;
      const others = condition.values.filter((one) => one !== value);
      this.#put(index, { ...condition, values: several ? (isOn ? [...others, value] : others) : [value] });
    };
    return html`<label class="svc-choice">
      <input type=${several ? 'checkbox' : 'radio'} name="${this.#id}-${index}" .checked=${condition.values.includes(value)} @change=${change} />
      <span>${name}</span>${count === undefined ? nothing : html`<span class="svc-soft svc-count">${number(count, 0)}</span>`}
    </label>`;
  }

  /** A value to choose: with its colour, where it has one. */
  #named(property: Property, value: string): TemplateResult | string {
    return isChoice(property) ? choiceBadge(this.set.name, property, value) : plain(this.set, property, value);
  }

  #counted(index: number, property: Property, condition: Condition): TemplateResult {
    const counted = this.facets.get(property.name);
    if (!counted) {
      void this.#count(property);
      return html`<p class="svc-soft">${text('loading')}</p>`;
    }
    const named = counted.filter(({ value }) => value !== '');
    if (named.length === 0)
      return html`<div class="svc-filter-values">${this.#value(index, property, condition, 0)}</div>`;
    return html`<div class="svc-choices" role="group">
      ${named.map(({ value, count }) => this.#choice(index, condition, value, this.#named(property, value), true, count))}
    </div>`;
  }

  #reference(index: number, property: Property, condition: Condition): TemplateResult | typeof nothing {
    const target = this.model.get(referenceOf(this.set, property)?.target ?? '');
    if (!target) return nothing;
    const [key = ''] = condition.values;
    return html`<svc-reference
      .set=${target}
      .value=${key}
      .shown=${this.titles.get(key) ?? ''}
      @pick=${(event: CustomEvent<Pick>) => {
        const { key: picked, title } = event.detail;
        if (picked === null) return;
        this.titles = new Map([...this.titles, [picked, title]]);
        this.#put(index, { ...condition, values: [picked] });
      }}
    ></svc-reference>`;
  }

  override render(): TemplateResult | typeof nothing {
    const shown = this.drafting ? [...this.conditions, this.drafting] : this.conditions;
    if (shown.length === 0) return nothing;
    return html`<div class="svc-chips" role="group" aria-label=${text('filter-group')}>
      ${shown.map((condition, index) => {
        const sentence = this.sentence(condition);
        return html`<span class="svc-chip">
          <svc-popover
            .label=${sentence}
            .look=${'chip'}
            .content=${() => this.#editor(index, condition)}
            @popover-closed=${() => this.#left(index)}
          ></svc-popover>
          <button type="button" class="svc-button" data-look="chip" data-wordless aria-label=${text('filter-remove', { sentence })} @click=${() => this.#remove(index)}>
            ${icon('close')}
          </button>
        </span>`;
      })}
      ${
        this.conditions.length > 1
          ? html`<button type="button" class="svc-button" data-look="plain" @click=${() => this.#change([])}>${text('filter-clear')}</button>`
          : nothing
      }
    </div>`;
  }
}
define('svc-filters', SvcFilters);
