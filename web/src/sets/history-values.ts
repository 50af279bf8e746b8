/** Values of the history as people read them: references by their names, long texts by what differs. */
import { html, nothing, type TemplateResult } from 'lit';
import { few } from '../client/sets.ts';
import { stateTitle, transitionTitle } from '../client/workflow.ts';
import {
  difference,
  heldAround,
  sayingOf,
  stepOf,
  type Author,
  type ChangedField,
  type Entry,
  type Held,
} from '../core/history.ts';
import { referenceOf } from '../core/list-state.ts';
import { propertyOf, type EntitySet, type Model } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { plain, STATE } from '../parts/value.ts';
import { find, memberName, text } from '../text.ts';

/** Keys that are asked for by name at once. */
const MOST_NAMES = 100;

/** What references of a set's history are called; asked for as entries come. */
export class ReferenceNames {
  readonly #model: Model;
  readonly #set: EntitySet;
  readonly #names = new Map<string, string>();
  readonly #asked = new Set<string>();

  constructor(model: Model, set: EntitySet) {
    this.#model = model;
    this.#set = set;
  }

  /** How many names are known. */
  get size(): number {
    return this.#names.size;
  }

  of(key: unknown): string | undefined {
    return this.#names.get(String(key));
  }

  /** Asks what records of a set are called. */
  async learnRecords(target: EntitySet, keys: readonly string[]): Promise<void> {
    const unknown = [...new Set(keys)].filter((key) => !this.#asked.has(key));
    for (const key of unknown) this.#asked.add(key);
    if (unknown.length > 0) await this.#ask(target, unknown.slice(0, MOST_NAMES));
  }

  /** Asks what is not known yet; without a name the key stands for itself. */
  async learn(values: readonly { name: string; values: readonly unknown[] }[]): Promise<void> {
    const wanted = new Map<EntitySet, Set<string>>();
    for (const { name, values: keys } of values) {
      const property = propertyOf(this.#set, name);
      const reference = property && referenceOf(this.#set, property);
      const target = reference && this.#model.get(reference.target);
      if (!target) continue;
      for (const key of keys) {
        if (typeof key !== 'string' || this.#asked.has(key)) continue;
        this.#asked.add(key);
        wanted.set(target, (wanted.get(target) ?? new Set()).add(key));
      }
    }
    await Promise.all([...wanted].map(([target, keys]) => this.#ask(target, [...keys].slice(0, MOST_NAMES))));
  }

  async #ask(target: EntitySet, keys: readonly string[]): Promise<void> {
    const options = { $filter: `${target.key} in (${keys.join(',')})`, $select: `${target.key},${target.title}` };
    const found = await few(target.name, options, keys.length).catch(() => undefined);
    for (const row of found?.rows ?? []) {
      this.#names.set(String(row[target.key]), String(row[target.title] ?? row[target.key]));
    }
  }
}

/** What a changed property is called. */
export function fieldName(set: EntitySet, { name, label }: Pick<ChangedField, 'name' | 'label'>): string {
  return propertyOf(set, name) ? memberName(set.name, name) : label;
}

/** A value as text; a dash where there is none. What its number was in may stand elsewhere in what the record held then. */
export function historyText(set: EntitySet, names: ReferenceNames, name: string, value: unknown, then: Row): string {
  if (value === null || value === undefined || value === '') return '–';
  const named = names.of(value);
  if (named !== undefined) return named;
  const property = propertyOf(set, name);
  if (property && typeof value !== 'object') return plain(set, property, value, then) || '–';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A value before and after: of two texts only what differs is marked. */
export function compared(before: string, after: string): TemplateResult {
  if (before === '–') return html`<ins>${after}</ins>`;
  if (after === '–') return html`<del>${before}</del>`;
  const { head, removed, added, tail } = difference(before, after);
  if (head + tail === '') return html`<del>${before}</del> <ins>${after}</ins>`;
  return html`${head}${removed ? html`<del>${removed}</del>` : nothing}${added ? html`<ins>${added}</ins>` : nothing}${tail}`;
}

/** The values of changes, to ask what those that refer to something are called. */
export function changedValues(fields: readonly ChangedField[]): { name: string; values: unknown[] }[] {
  return fields.map(({ name, before, after }) => ({ name, values: [before, after] }));
}

/** Who did something: whom nobody tells of is of another organisation, whose name was blanked has none any more. */
export function whoOf({ userId, displayName }: Author): string {
  if (displayName === '') return text(userId === null ? 'history-stranger' : 'history-nameless');
  return userId === null ? text('history-system') : displayName;
}

/** An entry in one sentence: "Anna changed Price from 12.50 to 13.00". */
export function sentenceOf(
  set: EntitySet,
  names: ReferenceNames,
  entry: Pick<Entry, 'by' | 'operation' | 'fields' | 'event' | 'data'>,
  held: Held = heldAround(entry.fields),
): string {
  const who = whoOf(entry.by);
  const step = stepOf(entry);
  if (step) {
    // Whoever may not see where records stand isn't told what somebody has drawn.
    const isTold = propertyOf(set, STATE) !== undefined;
    const named = (kind: string, name: string, title: (set: string, name: string) => string | undefined) =>
      find(`${set.name}-${kind}-${name}`) ?? (isTold ? title(set.name, name) : undefined) ?? name;
    return text('history-step', {
      who,
      step: named('transition', step.transition, transitionTitle),
      from: named(STATE, step.from, stateTitle),
      to: named(STATE, step.to, stateTitle),
    });
  }
  const saying = sayingOf(entry);
  if ('field' in saying) {
    const { name, before, after } = saying.field;
    const shown = (value: unknown, then: Row) => historyText(set, names, name, value, then);
    const said = { before: shown(before, held.before), after: shown(after, held.after) };
    return text(`history-${saying.kind}`, { who, field: fieldName(set, saying.field), ...said });
  }
  if ('fields' in saying) {
    const [first, ...rest] = saying.fields.map((field) => fieldName(set, field));
    return text('history-rewritten', { who, field: first ?? '', more: rest.length });
  }
  return text(saying.kind === 'restored' ? 'history-revived' : `history-${saying.kind}`, { who });
}

/** By what somebody did it, where it wasn't by hand. */
export function howOf({ jobId, apiKeyId }: Author): string | undefined {
  if (jobId) return text('history-by-job');
  return apiKeyId ? text('history-by-key') : undefined;
}

/** What a change tells of a record: that it has the key that it has is no news. */
export function toldFields(set: EntitySet, fields: readonly ChangedField[]): readonly ChangedField[] {
  return fields.filter(({ name }) => name !== set.key);
}

/** What was changed, from what to what. */
export function changesOf(
  set: EntitySet,
  names: ReferenceNames,
  fields: readonly ChangedField[],
  held: Held = heldAround(fields),
): TemplateResult {
  const shown = (name: string, value: unknown, then: Row) => historyText(set, names, name, value, then);
  return html`<dl class="svc-changes">${toldFields(set, fields).map(
    (field) => html`<div><dt>${fieldName(set, field)}</dt>
      <dd>${compared(shown(field.name, field.before, held.before), shown(field.name, field.after, held.after))}</dd></div>`,
  )}</dl>`;
}
