/** How a value is shown: by its kind, in the person's language. */
import { html, nothing, type TemplateResult } from 'lit';
import { knownModel } from '../client/sets.ts';
import { stateNamed, type State } from '../client/workflow.ts';
import { isNamed, referenceOf } from '../core/list-state.ts';
import { meaningOf } from '../core/meaning.ts';
import { measuredIn } from '../core/measure.ts';
import { propertyOf, type EntitySet, type Model, type Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { choiceName, date, dateTime, exactTime, measured, number, relative, relativeDays, text } from '../text.ts';
import { icon } from './icons.ts';
import { ticking } from './ticking.ts';

export type Shown = TemplateResult | string | typeof nothing;

/** What marks a choice: a colour beside its word. */
export type Tone = 'good' | 'warn' | 'bad' | 'info' | 'none';

/** Words that say by themselves how things stand. */
const TONES: Record<string, Tone> = {
  delivered: 'good',
  shipped: 'good',
  completed: 'good',
  succeeded: 'good',
  active: 'good',
  inStock: 'good',
  failed: 'bad',
  cancelled: 'none',
  soldOut: 'bad',
  retrying: 'warn',
  low: 'warn',
  running: 'info',
  queued: 'info',
  placed: 'info',
};

/** A word with a coloured dot. */
export function badge(word: string, tone: Tone): TemplateResult {
  return html`<span class="svc-badge" data-tone=${tone}>${word}</span>`;
}

/** The tones of badges by the colours of states. */
const COLOURS = { grey: 'none', blue: 'info', green: 'good', yellow: 'warn', red: 'bad' } as const;

/** A state as it is shown everywhere. */
export function stateBadge({ title, colour }: Pick<State, 'title' | 'colour'>): TemplateResult {
  return badge(title, COLOURS[colour]);
}

/** The property that tells the state of a record in its workflow. */
export const STATE = 'workflowState';

/** What a choice is called: a state as its workflow says. */
export function choiceText(set: string, property: Property, member: string): string {
  const state = property.name === STATE ? stateNamed(set, member) : undefined;
  return choiceName(set, property, member, state?.title);
}

/** The badge of a choice: a state has the colour that its workflow says. */
export function choiceBadge(set: string, property: Property, member: string): TemplateResult {
  const title = choiceText(set, property, member);
  const state = property.name === STATE ? stateNamed(set, member) : undefined;
  return state ? stateBadge({ ...state, title }) : badge(title, TONES[member] ?? 'none');
}

/** A time in words that go on with the clock, with the exact one behind it. */
function time(value: string, words: (value: string) => string): TemplateResult {
  return html`<time datetime=${value} title=${exactTime(value)}>${ticking(() => words(value))}</time>`;
}

/** How long ago, with the exact time behind it. */
export function timeAgo(value: string): TemplateResult {
  return time(value, relative);
}

/** Whether a time is over. */
export function isOver(value: string): boolean {
  return new Date(value).getTime() <= Date.now();
}

/** By when something is to be done, behind words of its own until then, with the exact time behind it; what is overdue says so in words too. */
export function dueTime(value: string, before: TemplateResult | typeof nothing = nothing): TemplateResult {
  const due = () => html`<time datetime=${value} title=${exactTime(value)}>${relativeDays(value)}</time>`;
  return html`${ticking(() =>
    isOver(value)
      ? html`<span class="svc-badge" data-tone="bad"><span>${text('overdue')} · ${due()}</span></span>`
      : html`${before}${due()}`,
  )}`;
}

/** The same where there's little room: older times by their day. */
export function timeShort(value: string): TemplateResult {
  return time(value, () => (isToday(value) ? relative(value) : date(value)));
}

function isToday(value: string): boolean {
  return Math.abs(Date.now() - new Date(value).getTime()) < 86_400_000;
}

/** Whether numbers of this kind stand under each other. */
export function isNumeric(property: Property): boolean {
  return property.kind === 'integer' || property.kind === 'decimal';
}

/** Texts with few values are shown as choices are. */
export function isChoice(property: Property): boolean {
  return property.kind === 'enumeration' || (property.kind === 'text' && property.isFacet && TONED.has(property.name));
}
const TONED = new Set(['status', 'state', 'availability', STATE]);

/** A number as it is shown: with its currency or unit, which another property of the row may hold. */
export function amount(property: Pick<Property, 'kind' | 'scale' | 'measure'>, value: number, row: Row = {}): string {
  const scale = property.kind === 'decimal' ? property.scale : 0;
  const said = measuredIn(property, row);
  return property.measure && said !== undefined
    ? measured(value, property.measure.kind, said, scale)
    : number(value, scale);
}

/** A number as a property of a set is shown, for pages of their own; `scale` is how many digits stand behind the point. */
export function amountOf(set: string, name: string, value: number, scale?: number): string {
  const known = knownModel().get(set);
  const property = known && propertyOf(known, name);
  if (!property) return number(value, scale);
  return amount({ ...property, kind: 'decimal', scale: scale ?? property.scale }, value);
}

/** A value as text: for sentences, for a title, on paper. What its number is in may stand elsewhere in the row. */
export function plain(set: EntitySet, property: Property, value: unknown, row?: Row): string {
  if (value === null || value === undefined || value === '') return '';
  switch (property.kind) {
    case 'integer':
    case 'decimal':
      return amount(property, Number(value), row);
    case 'boolean':
      return text(value === true || value === 'true' ? 'yes' : 'no');
    case 'time':
      return dateTime(String(value));
    case 'date':
      return date(String(value));
    case 'json':
      return JSON.stringify(value);
    case 'enumeration':
      return choiceName(set.name, property, String(value));
    default:
      return isChoice(property) ? choiceText(set.name, property, String(value)) : String(value);
  }
}

/** What a record is called that a property refers to. */
export function referenceTitle(model: Model, set: EntitySet, property: Property, row: Row): string | undefined {
  const reference = referenceOf(set, property);
  const target = reference && model.get(reference.target);
  const related = reference && row[reference.navigation];
  if (!target || typeof related !== 'object' || related === null) return undefined;
  const title = (related as Row)[target.title];
  return title === undefined || title === null ? undefined : String(title);
}

/** A value of a record as it stands in a list. */
export function cell(model: Model, set: EntitySet, property: Property, row: Row, isShort = true): Shown {
  const value = row[property.name];
  const related = referenceTitle(model, set, property, row);
  if (related !== undefined) return related;
  if (value === null || value === undefined || value === '') return html`<span class="svc-none">–</span>`;
  if (property.kind === 'time') return isShort ? timeShort(String(value)) : timeAgo(String(value));
  if (isChoice(property)) return choiceBadge(set.name, property, String(value));
  if (property.kind === 'boolean') {
    return value === true ? text('yes') : html`<span class="svc-soft">${text('no')}</span>`;
  }
  if (property.kind === 'json') return isShort ? html`<code>${plain(set, property, value)}</code>` : jsonBlock(value);
  return plain(set, property, value, row);
}

/** A way to where a value leads, as a mail address does. */
export function wayOn(property: Property, value: unknown, label: string): Shown {
  const address = typeof value === 'string' ? meaningOf(property)?.address?.(value) : undefined;
  if (address === undefined) return nothing;
  const name = text('record-follow', { name: label });
  return html`<a class="svc-button" data-look="plain" data-wordless href=${address} aria-label=${name} title=${name}>${icon('open')}</a>`;
}

/** JSON on lines of its own, as people read it. */
export function jsonBlock(value: unknown): TemplateResult {
  return html`<code class="svc-json">${JSON.stringify(value, null, 2)}</code>`;
}

/** A value as text, also of what it refers to. */
export function cellText(model: Model, set: EntitySet, property: Property, row: Row): string {
  return referenceTitle(model, set, property, row) ?? plain(set, property, row[property.name], row);
}

/** What a record is called: by its own name, or by what it belongs to. */
export function titleOf(model: Model, set: EntitySet, row: Row): string {
  if (!isNamed(set)) {
    const related = set.properties.flatMap((property) => referenceTitle(model, set, property, row) ?? []);
    if (related.length > 0) return related.join(' · ');
  }
  const property = set.properties.find(({ name }) => name === set.title);
  const shown = property ? cellText(model, set, property, row) : '';
  return shown || String(row[set.key] ?? '');
}
