/** The parts that stand on metadata: a field of every kind, conditions, what is selected, what was changed. */
import { html, type TemplateResult } from 'lit';
import { heldAround, type ChangedField } from '../src/core/history.ts';
import { propertyOf, readModel, type EntitySet } from '../src/core/model.ts';
import { Draft } from '../src/parts/draft.ts';
import { field, type Place } from '../src/parts/field.ts';
import { icon } from '../src/parts/icons.ts';
import '../src/parts/popover.ts';
import { badge, dueTime, stateBadge } from '../src/parts/value.ts';
import { changesOf, ReferenceNames } from '../src/sets/history-values.ts';
import '../src/sets/selection.ts';
import { text } from '../src/text.ts';

/** One property of every kind. */
const MODEL = readModel({
  $EntityContainer: 'P.Container',
  P: {
    $Alias: 'Self',
    Status: { $Kind: 'EnumType', open: 0, closed: 1 },
    Sort: { $Kind: 'EntityType', $Key: ['id'], id: { $Type: 'Edm.Guid' }, name: { $MaxLength: 60 } },
    Thing: {
      $Kind: 'EntityType',
      $Key: ['id'],
      id: { $Type: 'Edm.Guid' },
      name: { $MaxLength: 100 },
      note: { $Nullable: true, $MaxLength: 1000 },
      price: { $Type: 'Edm.Decimal', $Scale: 2, '@Measures.ISOCurrency': { $Path: 'currency' } },
      currency: { $MaxLength: 3 },
      length: { $Type: 'Edm.Decimal', $Scale: 1, '@Measures.Unit': 'm' },
      stock: { $Type: 'Edm.Int32' },
      status: { $Type: 'P.Status' },
      discontinued: { $Type: 'Edm.Boolean' },
      orderedAt: { $Type: 'Edm.DateTimeOffset', $Nullable: true },
      day: { $Type: 'Edm.Date', $Nullable: true },
      details: { $Type: 'Edm.Untyped', $Nullable: true },
      sortId: { $Type: 'Edm.Guid', $Nullable: true },
      sort: { $Kind: 'NavigationProperty', $Type: 'P.Sort', $Nullable: true, $ReferentialConstraint: { sortId: 'id' } },
    },
    Container: {
      $Kind: 'EntityContainer',
      Sorts: { $Collection: true, $Type: 'P.Sort' },
      Things: { $Collection: true, $Type: 'P.Thing', $NavigationPropertyBinding: { sort: 'Sorts' } },
    },
  },
});
const THINGS = MODEL.get('Things') as EntitySet;

/** How a thing is before somebody writes in it. */
const BEFORE = {
  name: 'Claw hammer',
  note: 'Forged head, ash handle.',
  price: 1234.5,
  currency: 'EUR',
  length: 0.3,
  stock: 161,
  status: 'open',
  discontinued: false,
  details: { made: ['in Solingen'] },
};

/** Fields of every kind, of which one holds what it doesn't take. */
export function editors(): TemplateResult {
  const draft = new Draft(BEFORE);
  const stock = propertyOf(THINGS, 'stock');
  if (stock) draft.type(stock, '12x');
  const place: Place = {
    model: MODEL,
    set: THINGS,
    draft,
    prefix: 'kind',
    required: ({ nullable }) => !nullable,
    changed: () => undefined,
  };
  const shown = THINGS.properties.filter(({ name }) => name !== THINGS.key);
  return html`<div class="svc-form">${shown.map((property) => field(place, property))}</div>`;
}

/** Conditions of a list, as sentences that can be changed. */
export function conditions(): TemplateResult {
  const chip = (sentence: string, content: string) => html`<span class="svc-chip">
    <svc-popover .label=${sentence} .look=${'chip'} .content=${() => html`<p>${content}</p>`}></svc-popover>
    <button type="button" class="svc-button" data-look="chip" data-wordless aria-label=${text('filter-remove', { sentence })}>${icon('close')}</button></span>`;
  return html`<div class="svc-chips">${chip(`${text('views-name')} = Claw hammer`, text('delete-text'))}</div>`;
}

/** What is selected in a list, and what can be done with it. */
export function selection(): TemplateResult {
  const host = { model: MODEL, can: () => true, look: () => ({}), open: () => undefined };
  return html`<div class="svc-list pattern-low"><svc-selection .host=${host} .set=${THINGS} .selected=${new Set(['1', '2'])} .total=${83} .all=${{}}></svc-selection></div>`;
}

/** How long something has time, and states with colours of their own. */
export function times(): TemplateResult {
  const from = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
  return html`<div class="pattern-row">${dueTime(from(50))} ${dueTime(from(-50))}
    ${(['grey', 'blue', 'green', 'yellow', 'red'] as const).map((colour) => stateBadge({ title: colour, colour }))} ${badge(text('overdue'), 'bad')}</div>`;
}

/** What a change told: of two texts what differs, amounts in what they were in. */
export function changes(): TemplateResult {
  const told = (name: string, before: unknown, after: unknown): ChangedField => ({ name, label: name, before, after });
  const fields = [
    told('name', 'Claw hammer', 'Claw hammer 450 g'),
    told('price', 12.5, 13),
    told('currency', 'USD', 'EUR'),
    told('note', null, BEFORE.note),
    told('discontinued', false, null),
  ];
  return changesOf(THINGS, new ReferenceNames(MODEL, THINGS), fields, heldAround(fields));
}
