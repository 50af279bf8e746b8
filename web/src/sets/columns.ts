/** What a list shows of each record: columns in their order, what stands under them, groups, and how the list is read. */
import { html, nothing, type TemplateResult } from 'lit';
import { columnsOf, isGroupable, isSummable, type ListState, type Reading, type Total } from '../core/list-state.ts';
import type { EntitySet, Property } from '../core/model.ts';
import { icon } from '../parts/icons.ts';
import { memberName, text } from '../text.ts';

const TOTALS: readonly Total[] = ['sum', 'average', 'min', 'max'];

/** What the panel works on. */
export interface ColumnsPlace {
  readonly set: EntitySet;
  readonly view: ListState;
  readonly usual: readonly string[] | undefined;
  readonly reading: Reading;
  /** Begins the ids of its fields. */
  readonly prefix: string;
  change(state: Partial<ListState>): void;
}

function without<T>(of: Readonly<Record<string, T>>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(of).filter(([one]) => one !== name));
}

function totalChoice({ view, change }: ColumnsPlace, property: Property, label: string): TemplateResult {
  const now = view.totals[property.name] ?? '';
  const take = (event: Event) => {
    const chosen = (event.target as HTMLSelectElement).value;
    const rest = without(view.totals, property.name);
    change({ totals: chosen ? { ...rest, [property.name]: chosen as Total } : rest });
  };
  return html`<select class="svc-input" aria-label=${text('columns-total', { name: label })} @change=${take}>
    <option value="" .selected=${now === ''}>–</option>
    ${TOTALS.map((one) => html`<option value=${one} .selected=${now === one}>${text(`total-${one}`)}</option>`)}
  </select>`;
}

function line(place: ColumnsPlace, property: Property, shown: readonly string[]): TemplateResult {
  const { set, change, prefix } = place;
  const { name } = property;
  const label = memberName(set.name, name);
  const at = shown.indexOf(name);
  const isTitle = name === set.title;
  const show = (event: Event) => {
    const isOn = (event.target as HTMLInputElement).checked;
    change({ columns: isOn ? [...shown, name] : shown.filter((one) => one !== name) });
  };
  const move = (by: number) => () => {
    const next = shown.filter((one) => one !== name);
    next.splice(at + by, 0, name);
    change({ columns: next });
  };
  const mover = (by: number, sign: 'up' | 'down', isPossible: boolean) =>
    html`<button type="button" class="svc-button" data-look="plain" data-wordless ?disabled=${!isPossible} aria-label=${text(`columns-${sign}`, { name: label })} title=${text(`columns-${sign}`, { name: label })} @click=${move(by)}>${icon(sign)}</button>`;
  return html`<li>
    <label for="${prefix}-${name}"><input id="${prefix}-${name}" type="checkbox" class="svc-check" .checked=${at >= 0} ?disabled=${isTitle} @change=${show} /><span>${label}</span></label>
    ${at >= 0 && isSummable(property) ? totalChoice(place, property, label) : nothing}
    ${at >= 0 ? html`${mover(-1, 'up', at > 1 || (at > 0 && shown[0] !== set.title))}${mover(1, 'down', !isTitle && at < shown.length - 1)}` : nothing}
  </li>`;
}

/** The panel. */
export function columnsPanel(place: ColumnsPlace): TemplateResult {
  const { set, view, usual, reading, prefix, change } = place;
  const shown = columnsOf(set, view, usual);
  const names = shown.map(({ name }) => name);
  const others = set.properties.filter(
    ({ kind, reference, name }) => kind !== 'binary' && (kind !== 'id' || reference) && !names.includes(name),
  );
  const groups = set.properties.filter(isGroupable);
  const isOwn = view.columns !== undefined || Object.keys(view.widths).length > 0;
  return html`<div class="svc-columns">
    ${
      groups.length > 0
        ? html`<label class="svc-columns-line" for="${prefix}-group"><span>${text('columns-group')}</span>
          <select id="${prefix}-group" class="svc-input" @change=${(event: Event) => change({ group: (event.target as HTMLSelectElement).value || undefined, page: 1 })}>
            <option value="" .selected=${view.group === undefined}>${text('columns-group-none')}</option>
            ${groups.map(({ name }) => html`<option value=${name} .selected=${view.group === name}>${memberName(set.name, name)}</option>`)}
          </select></label>`
        : nothing
    }
    <label class="svc-columns-line" for="${prefix}-reading"><span>${text('columns-reading')}</span>
      <select id="${prefix}-reading" class="svc-input" @change=${(event: Event) => change({ reading: (event.target as HTMLSelectElement).value as Reading, page: 1 })}>
        ${(['EndlessScroll', 'Pager'] as const).map((one) => html`<option value=${one} .selected=${reading === one}>${text(`reading-${one}`)}</option>`)}
      </select></label>
    <ul>${[...shown, ...others].map((property) => line(place, property, names))}</ul>
    ${isOwn ? html`<button type="button" class="svc-button" data-look="plain" @click=${() => change({ columns: undefined, widths: {} })}>${icon('undo')}<span>${text('columns-usual')}</span></button>` : nothing}
  </div>`;
}
