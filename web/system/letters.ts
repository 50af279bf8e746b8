/** Events whose handling failed for good: handled once more, or given up. */
import {
  confirmIn,
  define,
  html,
  icon,
  send,
  text,
  timeAgo,
  type Column,
  type RenderContext,
  type Row,
  type TemplateResult,
} from '@svc/web';
import { column, fact, fill, LogPage } from './log.ts';

const ROOT = '/api/v1/outbox/dead-letters';

interface Letter {
  id: string;
  name: string;
  handler: string;
  attempts: number;
  time: string;
  failedAt: string;
}

const letter = (row: Row) => row as unknown as Letter;

class LettersPage extends LogPage {
  protected path(): string {
    return ROOT;
  }

  protected heading(): string {
    return text('letters-app');
  }

  /** One event may have failed in several handlers. */
  protected override keyOf(row: Row): string {
    return `${letter(row).id} ${letter(row).handler}`;
  }

  protected nameOf(row: Row): string {
    return letter(row).name;
  }

  protected none(): { title: string; text: string } {
    return { title: text('letters-none'), text: text('letters-none-text') };
  }

  protected columns(): Column[] {
    return [
      column(
        text('letters-event'),
        200,
        1.4,
        (row) => letter(row).name,
        (row) => letter(row).name,
      ),
      column(
        text('letters-handler'),
        180,
        1.4,
        (row) => letter(row).handler,
        (row) => letter(row).handler,
      ),
      column(
        text('letters-failed'),
        130,
        0.9,
        (row) => timeAgo(letter(row).failedAt),
        (row) => letter(row).failedAt,
      ),
      column(
        text('letters-attempts'),
        92,
        0.6,
        (row) => String(letter(row).attempts),
        (row) => String(letter(row).attempts),
        true,
      ),
    ];
  }

  protected actions(row: Row): TemplateResult {
    const { id, handler } = letter(row);
    const again = () =>
      this.act(() => send(`${ROOT}/retry`, { method: 'POST', body: { id, handler } }), text('letters-retried'));
    return html`<button type="button" class="svc-button" @click=${() => void again()}>${icon('retry')}<span>${text('try-again')}</span></button>
      <button type="button" class="svc-button" @click=${() => void this.#giveUp(letter(row))}>${icon('trash')}<span>${text('letters-discard')}</span></button>`;
  }

  async #giveUp({ id, name, handler }: Letter): Promise<void> {
    const sure = await confirmIn(this, {
      title: text('letters-discard-title', { name }),
      body: text('letters-discard-text', { handler }),
      confirm: text('letters-discard'),
      danger: true,
    });
    const query = new URLSearchParams({ id, handler });
    if (sure) await this.act(() => send(`${ROOT}?${query}`, { method: 'DELETE' }), text('letters-discarded'));
  }

  protected body(row: Row): TemplateResult {
    const one = letter(row);
    return html`<dl class="svc-props">
      ${fact(text('letters-handler'), one.handler)}
      ${fact(text('letters-attempts'), String(one.attempts))}
      ${fact(text('letters-time'), timeAgo(one.time))}
      ${fact(text('letters-failed'), timeAgo(one.failedAt))}
      ${fact(text('letters-id'), html`<code>${one.id}</code>`)}
    </dl>`;
  }
}
define('system-letters', LettersPage);

export default (context: RenderContext) => fill(context, 'system-letters');
