/** Leads from page to page of a list. */
import { html, type TemplateResult } from 'lit';
import { number, text } from '../text.ts';
import { icon, type IconName } from './icons.ts';

/** The line with the page and the ways to others. */
export function pager(page: number, count: number, go: (page: number) => void): TemplateResult {
  const way = (to: number, sign: IconName, label: string) =>
    html`<button type="button" class="svc-button" data-look="plain" data-wordless ?disabled=${to < 1 || to > count || to === page} aria-label=${label} title=${label} @click=${() => go(to)}>${icon(sign)}</button>`;
  return html`<nav class="svc-pager" aria-label=${text('pager')}>
    ${way(1, 'first', text('pager-first'))}${way(page - 1, 'back', text('pager-back'))}
    <span role="status">${text('pager-page', { page: number(page, 0), count: number(count, 0) })}</span>
    ${way(page + 1, 'forward', text('pager-forward'))}${way(count, 'last', text('pager-last'))}
  </nav>`;
}
