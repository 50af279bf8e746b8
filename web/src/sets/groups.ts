/** A list by its groups: how many records each has, and the totals of its columns. A group leads to its records. */
import { html, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { asProblem, isAborted } from '../client/request.ts';
import { apply } from '../client/sets.ts';
import type { Condition } from '../core/filter.ts';
import type { ListState } from '../core/list-state.ts';
import { propertyOf, type EntitySet, type Property } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import type { Problem } from '../core/problem.ts';
import { COUNT, groupsOf } from '../core/summary.ts';
import { define, Part } from '../parts/part.ts';
import { failure, failureBar } from '../parts/states.ts';
import { cell, cellText, STATE, type Shown } from '../parts/value.ts';
import { memberName, number, text } from '../text.ts';
import './board.ts';
import type { SetHost } from './context.ts';
import { totalShown } from './table-columns.ts';

/** Groups that are shown; whoever has more of them wants another property. */
const MOST_GROUPS = 200;

export class SvcGroups extends Part {
  static override properties = {
    host: { attribute: false },
    set: { attribute: false },
    view: { attribute: false },
    revision: { attribute: false },
    rows: { state: true },
    problem: { state: true },
  };
  declare host: SetHost;
  declare set: EntitySet;
  declare view: ListState;
  /** Another one: records may have changed. */
  declare revision: number;
  declare rows: readonly Row[] | undefined;
  declare problem: Problem | undefined;
  #asked = '';
  #loading: AbortController | undefined;

  override willUpdate(changes: PropertyValues): void {
    const property = this.#by;
    if (!property || property.name === STATE) return;
    const wanted = groupsOf(this.host.model, this.set, this.view, property, MOST_GROUPS + 1, new Date());
    if (wanted === this.#asked && !changes.has('revision')) return;
    if (wanted !== this.#asked) this.rows = undefined;
    this.#asked = wanted;
    void this.#load(wanted);
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#loading?.abort();
  }

  get #by(): Property | undefined {
    return this.view.group === undefined ? undefined : propertyOf(this.set, this.view.group);
  }

  async #load(wanted: string): Promise<void> {
    this.#loading?.abort();
    this.#loading = new AbortController();
    try {
      const rows = await apply<Row>(this.set.name, wanted, this.#loading.signal);
      this.rows = rows.toSorted((one, other) => Number(other[COUNT]) - Number(one[COUNT]));
      this.problem = undefined;
    } catch (error) {
      if (!isAborted(error)) this.problem = asProblem(error);
    }
  }

  /** The records of a group, as a condition says it. */
  #open(property: Property, value: unknown): void {
    const condition: Condition =
      value === null || value === undefined
        ? { property: property.name, operator: 'empty', values: [] }
        : { property: property.name, operator: 'is', values: [String(value)] };
    this.tell('group-open', condition);
  }

  #group(property: Property, row: Row, most: number): TemplateResult {
    const count = Number(row[COUNT]);
    const name = cellText(this.host.model, this.set, property, row) || text('group-empty');
    return html`<tr @click=${() => this.#open(property, row[property.name])}>
      <th scope="row"><button type="button" class="svc-group-name" aria-label=${text('group-open', { name, count: number(count, 0) })} @click=${(
        event: Event,
      ) => {
        event.stopPropagation();
        this.#open(property, row[property.name]);
      }}>${row[property.name] === null ? text('group-empty') : cell(this.host.model, this.set, property, row)}</button></th>
      <td class="svc-group-bar" aria-hidden="true"><span class="svc-bar-line" .style=${`width: ${(count / most) * 100}%`}></span></td>
      <td data-numeric>${number(count, 0)}</td>
      ${Object.keys(this.view.totals).map((column) => html`<td data-numeric>${this.#total(column, row)}</td>`)}
    </tr>`;
  }

  #total(column: string, row: Row): Shown {
    const property = propertyOf(this.set, column);
    return property ? totalShown(this.set, { ...property, scale: property.scale ?? 2 }, row) : nothing;
  }

  override render(): TemplateResult | typeof nothing {
    const property = this.#by;
    const { rows, problem } = this;
    const again = () => void this.#load(this.#asked);
    if (!property) return nothing;
    if (property.name === STATE) {
      return html`<svc-board .host=${this.host} .set=${this.set} .view=${this.view} .revision=${this.revision}></svc-board>`;
    }
    if (problem && !rows) return failure(problem, again);
    if (!rows) return html`<div class="svc-skeleton" aria-busy="true"></div>`;
    const shown = rows.slice(0, MOST_GROUPS);
    const most = Math.max(1, ...shown.map((row) => Number(row[COUNT])));
    return html`${problem ? failureBar(problem, again) : nothing}
      <div class="svc-groups" tabindex="0" role="group" aria-label=${text('groups', { name: memberName(this.set.name, property.name) })}>
        <table>
          <thead><tr>
            <th scope="col">${memberName(this.set.name, property.name)}</th><td></td><th scope="col" data-numeric>${text('group-count')}</th>
            ${Object.entries(this.view.totals).map(([column, total]) => html`<th scope="col" data-numeric>${memberName(this.set.name, column)} <span class="svc-soft">${text(`total-${total}`)}</span></th>`)}
          </tr></thead>
          <tbody>${shown.map((row) => this.#group(property, row, most))}</tbody>
        </table>
        ${rows.length > MOST_GROUPS ? html`<p class="svc-soft">${text('groups-more', { count: MOST_GROUPS })}</p>` : nothing}
      </div>`;
  }
}
define('svc-groups', SvcGroups);
