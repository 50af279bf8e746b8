/** All records of a set for an endpoint: which set, and how far it is. */
import { askIn, html, icon, nothing, number, text, type TemplateResult } from '@svc/web';
import type { Backfill, EventType } from './api.ts';

const SNAPSHOT = '.snapshot';

/** Asks for the set; answers with its name as event types have it. */
export async function askForSet(
  near: Element,
  prefix: string,
  types: readonly EventType[],
): Promise<string | undefined> {
  const sets = types.flatMap(({ name }) => (name.endsWith(SNAPSHOT) ? [name.slice(0, -SNAPSHOT.length)] : []));
  return askIn<string>(near, {
    title: text('webhooks-backfill'),
    body: html`<p>${text('webhooks-backfill-text')}</p>
      <div class="svc-field"><label for="${prefix}-set">${text('webhooks-backfill-set')}</label>
      <select id="${prefix}-set" class="svc-input">${sets.map((set) => html`<option>${set}</option>`)}</select></div>`,
    confirm: text('webhooks-backfill'),
    answer: (dialog) => dialog.querySelector('select')?.value,
  });
}

/** What is under way, and what failed last. */
export function backfillBars(
  backfills: readonly Backfill[],
  cancel: (backfill: Backfill) => void,
): readonly (TemplateResult | typeof nothing)[] {
  return backfills.map((one, place) => {
    const { set, records, total, error } = one;
    if (one.state === 'underWay') {
      const told = { set, records: number(records, 0), total: total === null ? '…' : number(total, 0) };
      return html`<div class="svc-bar" role="status">${icon('refresh')}<span>${text('webhooks-backfill-under-way', told)}</span>
        <button type="button" class="svc-button" @click=${() => cancel(one)}>${text('webhooks-cancel')}</button></div>`;
    }
    if (one.state !== 'failed' || place > 0) return nothing;
    return html`<div class="svc-bar" data-tone="danger">${icon('alert')}<span>${text('webhooks-backfill-failed', { set, error: error ?? '' })}</span></div>`;
  });
}
