/** The keys of a list and of the record beside it, for whoever presses `?`. */
import { html, type TemplateResult } from 'lit';
import { askIn } from '../parts/dialog.ts';
import { text } from '../text.ts';

/** What keys do, by the message that says it; each line may have several ways. */
const LIST: readonly (readonly [string, readonly string[]])[] = [
  ['press-walk', ['↑', '↓', '←', '→']],
  ['press-far', ['Page Down', 'Ctrl End']],
  ['press-open', ['Enter']],
  ['press-apart', ['Ctrl Enter']],
  ['press-select', ['Space']],
  ['press-range', ['Shift ↓']],
  ['press-all', ['Ctrl A']],
  ['press-copy', ['Ctrl C']],
  ['press-write', ['F2']],
  ['press-width', ['<', '>']],
];
const ALL: readonly (readonly [string, readonly string[]])[] = [
  ['press-search', ['/']],
  ['press-new', ['n']],
  ['press-save', ['Ctrl S']],
  ['press-undo', ['Ctrl Z']],
  ['press-leave', ['Esc']],
  ['press-anywhere', ['Ctrl K']],
  ['press-help', ['?']],
];

function lines(title: string, all: typeof LIST): TemplateResult {
  return html`<section><h3>${text(title)}</h3><dl class="svc-keys">${all.map(
    ([said, keys]) => html`<div><dt>${text(said)}</dt><dd>${keys.map((key) => html`<kbd>${key}</kbd> `)}</dd></div>`,
  )}</dl></section>`;
}

/** Shows them. */
export async function showKeys(near: Element): Promise<void> {
  await askIn(near, {
    title: text('press-title'),
    body: html`<div class="svc-keys-of">${lines('press-of-list', LIST)}${lines('press-of-all', ALL)}</div>`,
    confirm: text('press-done'),
    wide: true,
    plain: true,
    answer: () => true,
  });
}
