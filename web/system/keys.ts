/** API keys of the person: made, shown once, revoked. */
import {
  badge,
  define,
  html,
  icon,
  nothing,
  send,
  showSecret,
  text,
  timeAgo,
  date,
  type Column,
  type RenderContext,
  type Row,
  type TemplateResult,
} from '@svc/web';
import { API_KEYS, confirmRevoking, makeKey, type ApiKey } from './api-keys.ts';
import { column, fact, fill, LogPage, stateColumn } from './log.ts';

const key = (row: Row) => row as unknown as ApiKey;

function stateBadge({ revokedAt, expiresAt }: ApiKey): TemplateResult {
  if (revokedAt) return badge(text('keys-revoked'), 'none');
  if (expiresAt && new Date(expiresAt).getTime() < Date.now()) return badge(text('keys-expired'), 'none');
  return badge(text('keys-valid'), 'good');
}

class KeysPage extends LogPage {
  protected path(): string {
    return API_KEYS;
  }

  protected heading(): string {
    return text('keys-app');
  }

  protected nameOf(row: Row): string {
    return key(row).name;
  }

  protected none(): { title: string; text: string } {
    return { title: text('keys-none'), text: text('keys-none-text') };
  }

  protected override tools(): TemplateResult {
    return html`<button type="button" class="svc-button svc-new" data-look="primary" @click=${() => void this.#make()}>${icon('plus')}<span>${text('keys-new')}</span></button>`;
  }

  protected columns(): Column[] {
    const used = (row: Row) => key(row).lastUsedAt;
    const end = (row: Row) => key(row).expiresAt;
    return [
      column(
        text('keys-name'),
        180,
        1.4,
        (row) => key(row).name,
        (row) => key(row).name,
      ),
      column(
        text('keys-prefix'),
        130,
        1,
        (row) => html`<code>${key(row).prefix}…</code>`,
        (row) => key(row).prefix,
      ),
      stateColumn(
        text('keys-state'),
        110,
        0.8,
        (row) => stateBadge(key(row)),
        (row) => (key(row).revokedAt ? text('keys-revoked') : text('keys-valid')),
      ),
      column(
        text('keys-used'),
        130,
        0.9,
        (row) => (used(row) ? timeAgo(String(used(row))) : text('keys-never')),
        (row) => used(row) ?? '',
      ),
      column(
        text('keys-end'),
        120,
        0.8,
        (row) => (end(row) ? date(String(end(row))) : text('keys-no-end')),
        (row) => end(row) ?? '',
      ),
    ];
  }

  async #make(): Promise<void> {
    const made = await makeKey(this, { prefix: 'system-key', longest: 100 });
    if (!made) return;
    await this.refresh();
    await showSecret(this, text('keys-made'), text('keys-once'), made);
  }

  protected actions(row: Row): TemplateResult | typeof nothing {
    const one = key(row);
    if (one.revokedAt) return nothing;
    return html`<button type="button" class="svc-button" data-look="danger-plain" @click=${() => void this.#revoke(one)}>${icon('ban')}<span>${text('keys-revoke')}</span></button>`;
  }

  async #revoke(one: ApiKey): Promise<void> {
    if (!(await confirmRevoking(this, one.name))) return;
    await this.act(() => send(`${API_KEYS}/${one.id}`, { method: 'DELETE' }), text('keys-revoked-said'));
  }

  protected body(row: Row): TemplateResult {
    const one = key(row);
    return html`<dl class="svc-props">
      ${fact(text('keys-state'), stateBadge(one))}
      ${fact(text('keys-prefix'), html`<code>${one.prefix}…</code>`)}
      ${fact(text('keys-may'), one.permissions ? one.permissions.join(', ') : text('keys-may-all'))}
      ${fact(text('keys-created'), timeAgo(one.createdAt))}
      ${fact(text('keys-used'), one.lastUsedAt ? timeAgo(one.lastUsedAt) : text('keys-never'))}
      ${fact(text('keys-end'), one.expiresAt ? date(one.expiresAt) : text('keys-no-end'))}
    </dl>`;
  }
}
define('system-keys', KeysPage);

export default (context: RenderContext) => fill(context, 'system-keys');
