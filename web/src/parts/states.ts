/** What stands in place of content: nothing there, nothing found, an error, no permission. */
import { html, nothing, type TemplateResult } from 'lit';
import type { Problem } from '../core/problem.ts';
import { find, text } from '../text.ts';
import { icon, type IconName } from './icons.ts';

/** A state with a sign, a sentence and what can be done. */
export function state(
  sign: IconName,
  title: string,
  body: TemplateResult | string | typeof nothing = nothing,
  actions: TemplateResult | typeof nothing = nothing,
): TemplateResult {
  return html`<div class="svc-state">
    <span class="svc-state-sign">${icon(sign)}</span>
    <p class="svc-state-title">${title}</p>
    ${body === nothing ? nothing : html`<p class="svc-state-text">${body}</p>`}
    ${actions === nothing ? nothing : html`<div class="svc-state-actions">${actions}</div>`}
  </div>`;
}

/**
 * The sentence for a problem: what happened and what to do. A text `refused-<code>`, with hyphens for what an id can't have, says it
 * in the person's language; the server's own words are English.
 */
export function sentence(problem: Problem): string {
  if (problem.isOffline) return text('problem-offline');
  if (problem.status === 401) return text('problem-signed-out');
  if (problem.status === 429) return text('problem-busy');
  if (problem.status >= 500) return text('problem-server');
  return find(`refused-${problem.code.replaceAll(/[._]/g, '-')}`) ?? capitalised(problem.message);
}

/** The server's messages begin with a small letter; here they are sentences. */
export function capitalised(message: string): string {
  return message.charAt(0).toLocaleUpperCase() + message.slice(1).replaceAll('`', '');
}

function details(problem: Problem): TemplateResult | typeof nothing {
  if (!problem.traceId && problem.status <= 0) return nothing;
  return html`<details class="svc-details">
    <summary>${text('problem-details')}</summary>
    <code>${problem.status} ${problem.code}${problem.traceId ? html`<br />${problem.traceId}` : nothing}</code>
  </details>`;
}

/** A problem in place of content. */
export function failure(problem: Problem, retry: () => void): TemplateResult {
  if (problem.isForbidden) return state('lock', text('problem-forbidden'), sentence(problem));
  return html`<div role="alert">
    ${state(
      problem.isOffline ? 'offline' : 'error',
      problem.isOffline ? text('problem-offline-title') : text('problem-title'),
      sentence(problem),
      html`<button type="button" class="svc-button" @click=${retry}>${icon('retry')}<span>${text('try-again')}</span></button>`,
    )}
    ${details(problem)}
  </div>`;
}

/** A problem beside content that stays. */
export function failureBar(problem: Problem, retry?: () => void): TemplateResult {
  return html`<div class="svc-bar" data-tone="danger" role="alert">
    ${icon(problem.isOffline ? 'offline' : 'error')}<span>${sentence(problem)}</span>
    ${
      retry
        ? html`<button type="button" class="svc-button" data-look="plain" @click=${retry}>${text('try-again')}</button>`
        : nothing
    }
  </div>`;
}
