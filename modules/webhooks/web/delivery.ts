/** A delivery beside the list: the request and the response of its last attempt, and the way to send it again. */
import {
  asProblem,
  capitalised,
  dateTime,
  define,
  failure,
  html,
  icon,
  noticesNear,
  nothing,
  number,
  Part,
  text,
  timeAgo,
  watch,
  type Problem,
  type PropertyValues,
  type TemplateResult,
} from '@svc/web';
import * as api from './api.ts';
import type { Attempt, DeliveryDetail, Exchange } from './api.ts';
import { statusBadge } from './shown.ts';
import type { Narrowing } from './view.ts';

const LOOK_MS = 2_000;

/** JSON on several lines; anything else as it is. */
export function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}

/** Whether it is still to be sent. */
function waits({ status }: DeliveryDetail): boolean {
  return status === 'queued' || status === 'retrying';
}

export class WebhooksDelivery extends Part {
  static override properties = {
    deliveryId: { attribute: false },
    delivery: { state: true },
    problem: { state: true },
  };
  declare deliveryId: string;
  declare delivery: DeliveryDetail | undefined;
  declare problem: Problem | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    this.atEnd(watch(this, LOOK_MS, () => this.#look()));
  }

  override willUpdate(changes: PropertyValues): void {
    if (changes.has('deliveryId')) {
      this.delivery = undefined;
      void this.load();
    }
  }

  async load(): Promise<void> {
    const id = this.deliveryId;
    this.problem = undefined;
    try {
      const delivery = await api.delivery(id);
      if (id === this.deliveryId) this.delivery = delivery;
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  /** What is over stays as it is. */
  async #look(): Promise<void> {
    if (this.delivery && waits(this.delivery)) await this.load();
  }

  async #again(): Promise<void> {
    try {
      const fresh = await api.redeliver(this.deliveryId);
      noticesNear(this)?.say({ text: text('webhooks-redelivered') });
      this.tell('delivery-open', fresh.id);
    } catch (error) {
      noticesNear(this)?.complain(error);
    }
  }

  async #cancel(): Promise<void> {
    try {
      this.delivery = await api.cancel(this.deliveryId);
      noticesNear(this)?.say({ text: text('webhooks-cancelled') });
    } catch (error) {
      noticesNear(this)?.complain(error);
      await this.load();
    }
  }

  /** Leads to all deliveries that have something in common with this one. */
  #others(by: Partial<Narrowing>): TemplateResult {
    return html`<button type="button" class="svc-button" data-look="link" @click=${() => this.tell('deliveries-by', by)}>${text('related-all')}</button>`;
  }

  #exchange(title: string, exchange: Exchange | null, none: string): TemplateResult {
    return html`<section class="svc-exchange"><h3>${title}</h3>
      ${
        exchange
          ? html`${this.#headers(exchange.headers)}
            ${exchange.body === '' ? html`<p class="svc-soft">${text('webhooks-empty-body')}</p>` : html`<pre tabindex="0" role="group" aria-label=${title}>${pretty(exchange.body)}</pre>`}`
          : html`<p class="svc-soft">${none}</p>`
      }
    </section>`;
  }

  #headers(headers: Exchange['headers']): TemplateResult {
    return html`<details><summary>${text('webhooks-headers-count', { count: headers.length })}</summary>
      <dl class="svc-headers">${headers.map(({ name, value }) => html`<dt>${name}</dt><dd><code>${value}</code></dd>`)}</dl></details>`;
  }

  /** An attempt before the last one; its request had the same body. */
  #attempt(one: Attempt): TemplateResult {
    const title = text('webhooks-attempt-number', { number: one.number });
    const answered = one.response;
    return html`<li><details><summary><span>${title}</span> ${one.endedAt ? timeAgo(one.endedAt) : nothing}
      <span class="svc-soft">${one.error ? capitalised(one.error) : text('webhooks-status-delivered')}</span></summary>
      <section class="svc-exchange"><h4>${text('webhooks-request')}</h4>${one.url ? html`<p class="svc-soft"><code>${one.url}</code></p>` : nothing}${this.#headers(one.requestHeaders)}</section>
      ${this.#exchange(one.statusCode === null ? text('webhooks-response') : text('webhooks-response-code', { code: one.statusCode }), answered, text('webhooks-no-response'))}
    </details></li>`;
  }

  #body(one: DeliveryDetail): TemplateResult {
    const fact = (name: string, value: TemplateResult | string) =>
      html`<div class="svc-prop"><dt>${name}</dt><dd><span class="svc-value">${value}</span></dd></div>`;
    const tone = one.status === 'cancelled' ? 'warn' : 'danger';
    return html`${one.error ? html`<div class="svc-bar" data-tone=${tone}>${icon(tone === 'warn' ? 'ban' : 'alert')}<span>${capitalised(one.error)}</span></div>` : nothing}
      <dl class="svc-props">
        ${fact(text('webhooks-endpoint'), html`<button type="button" class="svc-button" data-look="link" @click=${() => this.tell('endpoint-open', one.subscriptionId)}>${one.url}</button>`)}
        ${fact(text('webhooks-event-id'), html`<code>${one.eventId}</code> ${this.#others({ eventId: one.eventId })}`)}
        ${one.entityType && one.entityId ? fact(text('webhooks-entity'), html`<code>${one.entityType} ${one.entityId}</code> ${this.#others({ entityType: one.entityType, entityId: one.entityId })}`) : nothing}
        ${fact(text('webhooks-time'), timeAgo(one.time))}
        ${fact(text('webhooks-attempts'), text('webhooks-attempts-of', { made: one.attempts, most: one.maxAttempts }))}
        ${one.nextAttemptAt ? fact(text('webhooks-next'), dateTime(one.nextAttemptAt)) : nothing}
        ${one.durationMs === null ? nothing : fact(text('webhooks-duration'), text('webhooks-ms', { ms: number(one.durationMs, 0) }))}
        ${one.redeliveryOf ? fact(text('webhooks-repeats'), html`<button type="button" class="svc-button" data-look="link" @click=${() => this.tell('delivery-open', one.redeliveryOf)}>${text('webhooks-original')}</button>`) : nothing}
      </dl>
      ${this.#exchange(text('webhooks-request'), one.request, text('webhooks-not-sent'))}
      ${this.#exchange(one.statusCode === null ? text('webhooks-response') : text('webhooks-response-code', { code: one.statusCode }), one.response, text('webhooks-no-response'))}
      ${
        one.earlierAttempts.length === 0
          ? nothing
          : html`<section class="svc-exchange"><h3>${text('webhooks-attempts-before')}</h3>
              <ol class="svc-types">${one.earlierAttempts.map((attempt) => this.#attempt(attempt))}</ol></section>`
      }`;
  }

  override render(): TemplateResult {
    const one = this.delivery;
    const title = one ? one.eventType : text('loading');
    return html`<section class="svc-pane" aria-label=${text('webhooks-delivery')}>
      <header class="svc-pane-head">
        <button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('close')} title=${text('close')} @click=${() => this.tell('pane-close', undefined)}>${icon('close')}</button>
        <div class="svc-pane-title"><span class="svc-soft">${text('webhooks-delivery')}</span><h2 tabindex="-1">${title}</h2></div>
        ${one ? html`${statusBadge(one)}<div class="svc-pane-actions">${waits(one) ? html`<button type="button" class="svc-button" @click=${() => void this.#cancel()}>${icon('ban')}<span>${text('webhooks-cancel')}</span></button>` : nothing}<button type="button" class="svc-button" @click=${() => void this.#again()}>${icon('retry')}<span>${text('webhooks-redeliver')}</span></button></div>` : nothing}
      </header>
      <div class="svc-pane-body">${one ? this.#body(one) : this.problem ? failure(this.problem, () => void this.load()) : html`<div class="svc-skeleton" aria-busy="true"></div>`}</div>
    </section>`;
  }
}
define('webhooks-delivery', WebhooksDelivery);
