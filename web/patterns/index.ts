/** Every part in every state, in one language after the other: what one looks at before and after a change of looks. */
import { html, nothing, render, type TemplateResult } from 'lit';
import { Problem } from '../src/core/problem.ts';
import type { Row } from '../src/core/pages.ts';
import { bars, chart } from '../src/parts/chart.ts';
import { askIn, confirmIn } from '../src/parts/dialog.ts';
import { icon, ICON_NAMES } from '../src/parts/icons.ts';
import { pager } from '../src/parts/pager.ts';
import { menuButton } from '../src/parts/popover.ts';
import { showSecret } from '../src/parts/secret.ts';
import { failure, failureBar, state } from '../src/parts/states.ts';
import '../src/parts/table.ts';
import type { Column, Rows } from '../src/parts/table-parts.ts';
import { tabs } from '../src/parts/tabs.ts';
import { badge, timeAgo } from '../src/parts/value.ts';
import '../src/sets/notices.ts';
import type { SvcNotices } from '../src/sets/notices.ts';
import { number, setSources, text, useLanguage } from '../src/text.ts';
import { changes, conditions, editors, selection, times } from './records.ts';

const LOOKS = ['default', 'primary', 'plain', 'danger', 'danger-plain', 'link'] as const;
const TONES = ['good', 'warn', 'bad', 'info', 'none'] as const;
const LONG =
  'A very long name that has no room, written to see what happens where it ends and whether anybody can still read it';
const none = () => undefined;

function pattern(name: string, body: TemplateResult): TemplateResult {
  return html`<section class="pattern" aria-labelledby="pattern-${name}"><h2 id="pattern-${name}">${name}</h2>${body}</section>`;
}

function buttons(): TemplateResult {
  return html`<div class="pattern-row">${LOOKS.map((look) => html`<button type="button" class="svc-button" data-look=${look}>${icon('plus')}<span>${text('save')}</span></button>`)}</div>
    <p></p>
    <div class="pattern-row">${LOOKS.map((look) => html`<button type="button" class="svc-button" data-look=${look} disabled><span>${text('save')}</span></button>`)}
      <button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('close')}>${icon('close')}</button>
      <button type="button" class="svc-button" data-look="plain" data-wordless aria-pressed="true" aria-label=${text('write-in-list')}>${icon('edit')}</button>
      ${menuButton(text('more'), () => [
        { label: text('copy'), icon: 'copy', hint: 'Ctrl C', run: none },
        { label: text('yes'), checked: true, run: none },
        { label: text('delete'), icon: 'trash', danger: true, run: none },
      ])}
    </div>`;
}

function fieldOf(id: string, label: string, control: TemplateResult, note?: string, isWrong = false): TemplateResult {
  return html`<div class="svc-field"><label for=${id}>${label}</label>${control}<p id="${id}-note" class="svc-note" ?data-wrong=${isWrong}>${note ?? nothing}</p></div>`;
}

/** Fields whose ids begin with `prefix`: they stand on the page and in a dialog. */
function fields(prefix: string): TemplateResult {
  return html`<div class="svc-form">
    ${fieldOf(`${prefix}-text`, text('views-name'), html`<input id="${prefix}-text" class="svc-input" value="Claw hammer" aria-describedby="${prefix}-text-note" />`)}
    ${fieldOf(`${prefix}-empty`, text('views-name'), html`<input id="${prefix}-empty" class="svc-input" aria-describedby="${prefix}-empty-note" />`, text('delete-text'))}
    ${fieldOf(`${prefix}-wrong`, text('views-name'), html`<input id="${prefix}-wrong" class="svc-input" value="12x" aria-invalid="true" aria-describedby="${prefix}-wrong-note" />`, text('field-number'), true)}
    ${fieldOf(`${prefix}-off`, text('views-name'), html`<input id="${prefix}-off" class="svc-input" value="Claw hammer" disabled aria-describedby="${prefix}-off-note" />`)}
    ${fieldOf(`${prefix}-money`, text('total-sum'), html`<span class="svc-measured"><input id="${prefix}-money" class="svc-input" value="12.50" data-numeric aria-describedby="${prefix}-money-in ${prefix}-money-note" /><span id="${prefix}-money-in">€</span></span>`)}
    ${fieldOf(`${prefix}-choice`, text('columns-reading'), html`<select id="${prefix}-choice" class="svc-input" aria-describedby="${prefix}-choice-note"><option>${text('reading-Pager')}</option></select>`)}
    ${fieldOf(`${prefix}-day`, text('filter-days'), html`<input id="${prefix}-day" type="date" class="svc-input" aria-describedby="${prefix}-day-note" />`)}
    <div class="svc-field" data-wide><label for="${prefix}-long">${text('views-name')}</label><textarea id="${prefix}-long" class="svc-input" rows="3">${LONG}</textarea></div>
    <fieldset class="svc-choices"><legend>${text('columns')}</legend>
      ${[true, false].map((isOn) => html`<label><input type="checkbox" class="svc-check" .checked=${isOn} /><span>${text(isOn ? 'yes' : 'no')}</span></label>`)}
    </fieldset>
  </div>`;
}

/** Something that is on or off, with what that means. */
function choices(): TemplateResult {
  return html`${[true, false].map((isOn) => html`<label class="svc-choice"><input type="checkbox" class="svc-check" .checked=${isOn} /><span>${text(isOn ? 'yes' : 'no')}<small class="svc-note">${text('delete-text')}</small></span></label>`)}
    <label class="svc-choice"><input type="checkbox" class="svc-check" disabled /><span>${text('no')}</span></label>`;
}

const COLUMNS: Column[] = [
  {
    name: 'name',
    title: 'Name',
    numeric: false,
    sortable: true,
    width: 180,
    share: 2,
    cell: (row) => String(row.name),
    plain: (row) => String(row.name),
  },
  {
    name: 'state',
    title: 'State',
    numeric: false,
    sortable: true,
    width: 120,
    share: 1,
    cell: (row) => badge(String(row.state), 'good'),
    plain: (row) => String(row.state),
  },
  {
    name: 'price',
    title: 'Price',
    numeric: true,
    sortable: true,
    width: 100,
    share: 1,
    foot: html`<span class="svc-total-name">${'Σ'}</span> 4,950`,
    cell: (row) => number(Number(row.price), 2),
    plain: (row) => String(row.price),
  },
];

/** Rows, of which the third is yet to come. */
const ROWS: Rows = {
  count: 100,
  at: (index): Row | undefined =>
    index === 2
      ? undefined
      : { id: String(index), name: index === 1 ? LONG : `Row ${index}`, state: 'Active', price: index },
  want: none,
};

function table(): TemplateResult {
  return html`<div class="pattern-box"><svc-table
      .columns=${COLUMNS}
      .rows=${ROWS}
      .label=${text('selection')}
      .sort=${{ property: 'price', descending: true }}
      .selectable=${true}
      .sizable=${true}
      .selected=${new Set(['1'])}
      .opened=${'3'}
      .fresh=${new Set(['4'])}
      .entriesOf=${() => [
        { label: text('save'), icon: 'save', run: none },
        { label: text('copy'), icon: 'copy', run: none },
        { label: text('delete'), icon: 'trash', danger: true, run: none },
      ]}
      .swiped=${'0'}
      .keyOf=${(row: Row) => String(row.id)}
      .titleOf=${(row: Row) => String(row.name)}
    ></svc-table>${pager(2, 34, none)}</div>`;
}

/** Rows with buttons, which are taller, and cards where there's no room. */
const ACTS: Column = {
  name: 'acts',
  title: 'Acts',
  numeric: false,
  sortable: false,
  isActs: true,
  width: 200,
  share: 1,
  cell: () =>
    html`${['save', 'delete'].map((id) => html`<button type="button" tabindex="-1" class="svc-button"><span>${text(id)}</span></button>`)}`,
  plain: () => '',
};

function tableWithButtons(): TemplateResult {
  return html`<div class="pattern-box"><svc-table
      .columns=${[...COLUMNS, ACTS]}
      .rows=${ROWS}
      .label=${text('views')}
      .selectable=${true}
      .keyOf=${(row: Row) => String(row.id)}
      .titleOf=${(row: Row) => String(row.name)}
    ></svc-table></div>`;
}

function states(): TemplateResult {
  const problem = (status: number) =>
    new Problem({ status, code: 'shop.example', message: text('problem-server'), traceId: '4bf92f3577b34da6' });
  return html`<div class="pattern-row">
      ${state('empty', text('empty-title', { name: 'products' }), text('delete-text'), html`<button type="button" class="svc-button" data-look="primary">${text('create', { kind: 'product' })}</button>`)}
      ${state('search', text('no-hits-title', { name: 'products' }), text('no-hits-text'), html`<button type="button" class="svc-button">${text('no-hits-clear')}</button>`)}
      ${failure(problem(500), none)}${failure(problem(0), none)}${failure(problem(403), none)}
    </div>
    ${failureBar(problem(500), none)}<p></p>${failureBar(problem(0), none)}
    <div class="svc-skeleton" aria-busy="true" data-slow></div>`;
}

function figures(): TemplateResult {
  const months = Array.from({ length: 12 }, (_none, index) => ({
    label: `${index + 1}`,
    parts: [40 + index * 7, index * 2],
  }));
  return html`<div class="svc-dashboard"><dl class="svc-figures"><div><dt>${text('views')}</dt><dd>1,234</dd></div><div><dt>${text('columns')}</dt><dd><button type="button" class="svc-figure">56</button></dd></div></dl>
    ${chart(text('views'), months, [text('yes'), text('no')], ['good', 'bad'])}
    ${bars(
      text('groups', { name: text('views-name') }),
      [text('views-name'), text('group-count')],
      [7, 5, 2].map((value) => ({ label: `${text('views-name')} ${value}`, value, shown: number(value, 0) })),
    )}</div>`;
}

function page(): TemplateResult {
  return html`<main class="svc-app">
    <h1>Patterns</h1><p></p>
    ${pattern('Buttons', buttons())}
    ${pattern('Fields', fields('page'))}
    ${pattern('Editors', editors())}
    ${pattern('Choices', choices())}
    ${pattern('Conditions', conditions())}
    ${pattern('Badges', html`<div class="pattern-row">${TONES.map((tone) => badge(tone, tone))} ${timeAgo(new Date(Date.now() - 180_000).toISOString())}</div>`)}
    ${pattern(
      'Tabs',
      tabs(
        [
          { id: 'one', title: text('views') },
          { id: 'two', title: text('columns') },
        ],
        'one',
        none,
        'pattern',
        text('views'),
      ),
    )}
    <div id="pattern-panel" role="tabpanel" aria-labelledby="pattern-tab-one"></div>
    ${pattern('Times', times())}
    ${pattern('Changes', changes())}
    ${pattern('Table', table())}
    ${pattern('Selection', selection())}
    ${pattern('Acts', tableWithButtons())}
    ${pattern('States', states())}
    ${pattern('Figures', figures())}
    ${pattern(
      'Dialogs',
      html`<div class="pattern-row">
        <button type="button" class="svc-button" data-open="question" @click=${(event: Event) => void confirmIn(event.target as Element, { title: text('delete-title', { kind: 'product', name: 'Claw hammer' }), body: text('delete-text'), confirm: text('delete'), danger: true })}>${text('delete')}</button>
        <button type="button" class="svc-button" data-open="form" @click=${(event: Event) => void askIn(event.target as Element, { title: text('create-title', { kind: 'product' }), body: fields('dialog'), confirm: text('create-save'), wide: true, answer: () => true })}>${text('create-save')}</button>
        <button type="button" class="svc-button" data-open="secret" @click=${(event: Event) => void showSecret(event.target as Element, text('copy'), text('delete-text'), 'svck_Ab3dEf9h')}>${text('copy')}</button>
      </div>`,
    )}
    ${pattern('Notices', html`<svc-notices></svc-notices>`)}
    ${pattern('Icons', html`<div class="pattern-row">${ICON_NAMES.map((name) => html`<span title=${name}>${icon(name)}</span>`)}</div>`)}
  </main>`;
}

async function begin(): Promise<void> {
  const language = new URLSearchParams(location.search).get('language') ?? 'en';
  setSources({ en: ['/assets/en.ftl'], de: ['/assets/de.ftl'] });
  await useLanguage(language);
  document.documentElement.lang = language;
  const root = document.createElement('div');
  root.className = 'shell-root patterns';
  document.body.append(root);
  render(page(), root);
  const notices = root.querySelector<SvcNotices>('svc-notices');
  notices?.say({ text: text('record-saved', { count: 1, name: text('views-name') }), undo: async () => undefined });
}

await begin();
