/** How endpoints and deliveries are told in few words. */
import { badge, html, icon, text, type TemplateResult } from '@svc/web';
import type { Delivery, Endpoint } from './api.ts';

/** On, ill or off. */
export function stateBadge(endpoint: Endpoint): TemplateResult {
  if (!endpoint.isActive) return badge(text('webhooks-off'), 'none');
  if (endpoint.owner.standing !== 'here') return badge(text('webhooks-ownerless'), 'bad');
  if (endpoint.consecutiveFailures > 0) {
    return badge(text('webhooks-failing', { count: endpoint.consecutiveFailures }), 'bad');
  }
  return badge(text('webhooks-on'), 'good');
}

const TONES = { queued: 'info', retrying: 'warn', delivered: 'good', failed: 'bad', cancelled: 'none' } as const;

/** The status with the code of the last answer. */
export function statusBadge({ status, statusCode }: Delivery): TemplateResult {
  const word = text(`webhooks-status-${status}`);
  return badge(statusCode === null ? word : `${word} · ${statusCode}`, TONES[status]);
}

/** An address without what all have in common. */
export function shortUrl(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\/$/, '');
}

/** Whether an endpoint went to another receiver, which the secret of the one before is none of the business of. */
export function isMoved(before: string, now: string): boolean {
  return URL.canParse(before) && URL.canParse(now) && new URL(before).origin !== new URL(now).origin;
}

/** Which events, in words. */
export function eventsText(events: readonly string[]): string {
  if (events.includes('*')) return text('webhooks-all-events');
  return events.join(', ');
}

/** Copies what stands beside it. */
export function copyButton(value: string): TemplateResult {
  return html`<button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('copy')} title=${text('copy')} @click=${() => void navigator.clipboard.writeText(value)}>${icon('copy')}</button>`;
}
