/** What differs between two definitions, in words. */
import { html, text, type TemplateResult } from '@svc/web';
import type { Change } from './api.ts';
import type { Definition } from './definition.ts';
import { titleOf } from './titles.ts';

/** All differences of the workflow of a set, or what is said where there is none; the definitions have what differs. */
export function changeList(
  set: string,
  definitions: readonly Definition[],
  changes: readonly Change[],
  none: string,
): TemplateResult {
  if (changes.length === 0) return html`<p class="svc-soft">${none}</p>`;
  return html`<ul .style=${'margin:8px 0;padding-inline-start:20px'}>${changes.map(
    ({ isState, name, kind, words }) =>
      html`<li>${text(isState ? 'designer-state' : 'designer-transition')} <b>${titleOf(set, isState ? 'state' : 'transition', name, ...definitions)}</b>: ${text(`designer-change-${kind}`)}${words.length > 0 ? ` (${words.join(', ')})` : ''}</li>`,
  )}</ul>`;
}
