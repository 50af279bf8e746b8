/** What the organisation may use, where much of it is used. */
import { html, icon, number, percent, text, type TemplateResult } from '@svc/web';
import type { Limit, Limits } from './api.ts';

const NEAR = 80;

/** A bar for each limit that is near, or reached. */
export function limitBars(limits: Limits | undefined): readonly TemplateResult[] {
  if (!limits) return [];
  const all: readonly (readonly [keyof Limits, Limit])[] = [
    ['endpoints', limits.endpoints],
    ['perSecond', limits.perSecond],
    ['bytesPerDay', limits.bytesPerDay],
  ];
  return all
    .filter(([, limit]) => (limit.percent ?? 0) >= NEAR)
    .map(([name, limit]) => {
      const told = {
        used: number(limit.used ?? 0, 0),
        most: number(limit.most ?? 0, 0),
        percent: percent((limit.percent ?? 0) / 100),
      };
      const tone = (limit.percent ?? 0) >= 100 ? 'danger' : 'warn';
      return html`<div class="svc-bar" data-tone=${tone} role="status">${icon('alert')}<span>${text(`webhooks-limit-${name}`, told)}</span></div>`;
    });
}
