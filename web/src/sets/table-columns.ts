/** The columns of a list as the table takes them: from properties, with what a person has set. */
import { html, type TemplateResult } from 'lit';
import { isComparable } from '../core/filter.ts';
import type { ListState } from '../core/list-state.ts';
import { totalIn, unmeasured } from '../core/measure.ts';
import type { EntitySet, Model, Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { totalName } from '../core/summary.ts';
import type { Column } from '../parts/table-parts.ts';
import { cell, cellText, isChoice, isNumeric, plain, type Shown } from '../parts/value.ts';
import { memberDescription, memberName, text } from '../text.ts';

/** Widths by what a column shows: the least, and its share of the room. */
function measure(set: EntitySet, property: Property): { width: number; share: number } {
  const longest = property.maxLength ?? 100;
  if (property.name === set.title) return longest <= 20 ? { width: 120, share: 1 } : { width: 210, share: 2 };
  if (property.measure) return { width: 112, share: 0.8 };
  if (isNumeric(property) || property.kind === 'boolean') return { width: 92, share: 0.7 };
  if (isChoice(property)) return { width: 118, share: 0.8 };
  if (property.kind === 'time' || property.kind === 'date') return { width: 132, share: 0.8 };
  if (property.kind === 'text' && longest <= 20) return { width: 96, share: 0.7 };
  return { width: 124, share: 1.2 };
}

/** A column's name has room, too, within reason. */
const LETTER = 7.5;
const BESIDE_NAME = 26;
const WIDEST_NAME = 150;

function named({ width, share }: ReturnType<typeof measure>, title: string): ReturnType<typeof measure> {
  return { width: Math.max(width, Math.min(WIDEST_NAME, Math.ceil(title.length * LETTER) + BESIDE_NAME)), share };
}

/** A total is longer than what it sums up, and has its name before it. */
function withRoom({ width, share }: ReturnType<typeof measure>, hasTotal: boolean): ReturnType<typeof measure> {
  return hasTotal ? { width: Math.max(width, 164), share: Math.max(share, 1) } : { width, share };
}

/** A total of a column; why there is none, where what it would sum up is in several currencies or units. */
export function totalShown(set: EntitySet, property: Property, totals: Row): Shown {
  const range = totalIn(property, totals);
  if (range === 'mixed' && property.measure) {
    const why = text(`total-mixed-${property.measure.kind}`);
    return html`<span class="svc-soft" title=${why}>–<span class="shell-sr"> ${why}</span></span>`;
  }
  const row = range === 'mixed' ? {} : range.row;
  return plain(set, property, totals[totalName(property.name)], row) || '–';
}

/** What stands under a column. */
function foot(set: EntitySet, view: ListState, property: Property, totals: Row): Shown | undefined {
  const total = view.totals[property.name];
  if (!total) return undefined;
  const scale = property.scale ?? (total === 'average' ? 2 : 0);
  const shown = totalShown(set, { ...property, kind: 'decimal', scale }, totals);
  return html`<span class="svc-total-name">${text(`total-short-${total}`)}</span> ${shown}`;
}

/** The columns; `editor` is what stands in a cell that somebody writes in. */
export function tableColumns(
  model: Model,
  set: EntitySet,
  view: ListState,
  properties: readonly Property[],
  totals: Row,
  editor: (row: Row, property: Property) => TemplateResult | undefined,
): Column[] {
  return properties.map((property) => ({
    name: property.name,
    title: memberName(set.name, property.name),
    description: memberDescription(set.name, property.name, property.description),
    numeric: isNumeric(property),
    sortable: isComparable(property),
    ...withRoom(
      named(measure(set, property), memberName(set.name, property.name)),
      view.totals[property.name] !== undefined,
    ),
    fixed: view.widths[property.name],
    isState: isChoice(property),
    foot: foot(set, view, property, totals),
    cell: (row) => editor(row, property) ?? cell(model, set, property, row),
    plain: (row) => cellText(model, set, unmeasured(property), row),
  }));
}
