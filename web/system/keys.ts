/** API keys of the person: made, shown once, revoked. */
import {
  asProblem,
  askIn,
  badge,
  capitalised,
  confirmIn,
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
import { column, fact, fill, LogPage, stateColumn } from './log.ts';

const ROOT = '/api/v1/identity/api-keys';

interface Key {
  id: string;
  name: string;
  prefix: string;
  permissions: string[] | null;
  createdAt: string;
  lastUsedAt: string | null;
  expiresAt: string | null;
  revokedAt: string | null;
}

const key = (row: Row) => row as unknown as Key;

function stateBadge({ revokedAt, expiresAt }: Key): TemplateResult {
  if (revokedAt) return badge(text('keys-revoked'), 'none');
  if (expiresAt && new Date(expiresAt).getTime() < Date.now()) return badge(text('keys-expired'), 'none');
  return badge(text('keys-valid'), 'good');
}

class KeysPage extends LogPage {
  protected path(): string {
    return ROOT;
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
    let complaint = '';
    const made = await askIn<{ key: string }>(this, {
      title: text('keys-new'),
      body: html`<div class="svc-form">
        <div class="svc-field" data-wide><label for="system-key-name">${text('keys-name')}</label><input id="system-key-name" name="name" class="svc-input" maxlength="100" autocomplete="off" aria-describedby="system-key-note" /></div>
        <div class="svc-field" data-wide><label for="system-key-end">${text('keys-end')}<span class="svc-soft"> ${text('field-optional')}</span></label><input id="system-key-end" name="end" class="svc-input" type="date" /></div>
        <p id="system-key-note" class="svc-note" role="alert" data-wrong></p>
      </div>`,
      confirm: text('keys-make'),
      answer: async (dialog) => {
        const data = new FormData(dialog.querySelector('form') ?? undefined);
        const end = String(data.get('end') ?? '');
        const body = {
          name: String(data.get('name') ?? '').trim(),
          ...(end ? { expiresAt: new Date(`${end}T00:00`).toISOString() } : {}),
        };
        try {
          return (await send<{ key: string }>(ROOT, { method: 'POST', body })).body;
        } catch (error) {
          const problem = asProblem(error);
          complaint = capitalised(problem.fields[0]?.message ?? problem.message);
          dialog.querySelector('#system-key-note')?.replaceChildren(complaint);
          dialog.querySelector('input')?.focus();
          return undefined;
        }
      },
    });
    if (!made) return;
    await this.refresh();
    await showSecret(this, text('keys-made'), text('keys-once'), made.key);
  }

  protected actions(row: Row): TemplateResult | typeof nothing {
    const one = key(row);
    if (one.revokedAt) return nothing;
    return html`<button type="button" class="svc-button" data-look="danger-plain" @click=${() => void this.#revoke(one)}>${icon('ban')}<span>${text('keys-revoke')}</span></button>`;
  }

  async #revoke(one: Key): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('keys-revoke-title', { name: one.name }),
      body: text('keys-revoke-text'),
      confirm: text('keys-revoke'),
      danger: true,
    });
    if (sure) await this.act(() => send(`${ROOT}/${one.id}`, { method: 'DELETE' }), text('keys-revoked-said'));
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
