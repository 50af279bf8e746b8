/** The head of a list: what it is and how much there is, and what one can do with the whole of it. */
import { html, nothing, type TemplateResult } from 'lit';
import type { ListState } from '../core/list-state.ts';
import type { EntitySet } from '../core/model.ts';
import { icon } from '../parts/icons.ts';
import { menuButton, type Entry } from '../parts/popover.ts';
import { state } from '../parts/states.ts';
import { inSentence, number, setDescription, setName, singular, text } from '../text.ts';
import { columnsPanel, type ColumnsPlace } from './columns.ts';
import type { SavedView } from './saved-views.ts';
import { currentView, viewEntries } from './views-menu.ts';

/** What the head works on. */
export interface ListHead extends ColumnsPlace {
  readonly near: Element;
  readonly set: EntitySet;
  readonly view: ListState;
  readonly total: number | undefined;
  readonly views: readonly SavedView[];
  readonly mayShare: boolean;
  /** Whether values are written in the list; nothing where that isn't allowed. */
  readonly isWriting: boolean | undefined;
  filters(): readonly Entry[];
  search(event: Event): void;
  show(state: ListState): void;
  keepViews(views: readonly SavedView[]): void;
  write(): void;
  print(): void;
  /** Makes a new record; nothing where that isn't allowed. */
  readonly create: (() => void) | undefined;
}

/** The button for a new record, where one may make some. */
function createButton(set: EntitySet, create: (() => void) | undefined): TemplateResult | typeof nothing {
  if (!create) return nothing;
  const kind = inSentence(singular(set.name, set.type));
  return html`<button type="button" class="svc-button svc-new" data-look="primary" @click=${create}>${icon('plus')}<span>${text('create', { kind })}</span></button>`;
}

function searchField({ set, view, search }: ListHead): TemplateResult | typeof nothing {
  if (!set.searchable) return nothing;
  return html`<label class="svc-search">
    ${icon('search')}<span class="shell-sr">${text('search-in', { name: inSentence(setName(set.name)) })}</span>
    <input type="search" class="svc-input" placeholder=${text('search')} .value=${view.search} @input=${search} />
  </label>`;
}

function writeButton({ isWriting, write }: ListHead): TemplateResult | typeof nothing {
  if (isWriting === undefined) return nothing;
  return html`<button type="button" class="svc-button svc-write" data-look="plain" data-wordless aria-pressed=${isWriting} aria-label=${text('write-in-list')} title=${text('write-in-list')} @click=${write}>${icon('edit')}</button>`;
}

/** The head. */
export function listHead(head: ListHead): TemplateResult {
  const { near, set, view, total, views, mayShare, filters, show, print, keepViews, create } = head;
  const entries = () => viewEntries({ near, set, view, views, mayShare, show, print, changed: keepViews });
  const shown = currentView(views, view)?.name ?? text('views');
  return html`<header class="svc-head">
    <h1 title=${setDescription(set.name, set.description) ?? nothing}>${setName(set.name)}</h1>
    <span class="svc-soft" role="status">${total === undefined ? nothing : number(total, 0)}</span>
    <span class="svc-grow"></span>
    ${searchField(head)}
    ${menuButton(text('filter'), filters, { icon: 'filter', wordless: false, look: 'default', align: 'end' })}
    ${menuButton(shown, entries, { icon: 'views', align: 'end' })}
    ${writeButton(head)}
    <svc-popover .label=${text('columns')} .icon=${'columns'} .align=${'end'} .wordless=${true} .content=${() => columnsPanel(head)}></svc-popover>
    ${createButton(set, create)}
  </header>`;
}

/** Nothing there, or nothing found: what to do about it. */
export function nothingHere(
  set: EntitySet,
  view: ListState,
  drop: () => void,
  create: (() => void) | undefined,
): TemplateResult {
  const name = inSentence(setName(set.name));
  if (view.search !== '' || view.conditions.length > 0) {
    return state(
      'search',
      text('no-hits-title', { name }),
      text('no-hits-text'),
      html`<button type="button" class="svc-button" @click=${drop}>${text('no-hits-clear')}</button>`,
    );
  }
  const described = setDescription(set.name, set.description) ?? nothing;
  return state('empty', text('empty-title', { name }), described, createButton(set, create));
}
