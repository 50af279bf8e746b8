/** What differs between two definitions, in words. */
import { html, text, type TemplateResult } from '@svc/web';
import type { Change } from './api.ts';

/** All differences, or what is said where there is none. */
export function changeList(changes: readonly Change[], none: string): TemplateResult {
  if (changes.length === 0) return html`<p class="svc-soft">${none}</p>`;
  return html`<ul .style=${'margin:8px 0;padding-inline-start:20px'}>${changes.map(
    ({ isState, name, kind, words }) =>
      html`<li>${text(isState ? 'designer-state' : 'designer-transition')} <b>${name}</b>: ${text(`designer-change-${kind}`)}${words.length > 0 ? ` (${words.join(', ')})` : ''}</li>`,
  )}</ul>`;
}
