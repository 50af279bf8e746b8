/** What receivers can be told: every event type with its description, the shape of its data and an example. */
import { asProblem, define, failure, html, nothing, Part, text, type Problem, type TemplateResult } from '@svc/web';
import * as api from './api.ts';
import type { EventType } from './api.ts';
import { described } from './described.ts';
import { copyButton } from './shown.ts';

export class WebhooksTypes extends Part {
  static override properties = { types: { state: true }, problem: { state: true } };
  declare types: readonly EventType[] | undefined;
  declare problem: Problem | undefined;

  override connectedCallback(): void {
    super.connectedCallback();
    void this.#load();
  }

  async #load(): Promise<void> {
    this.problem = undefined;
    try {
      this.types = await api.eventTypes(true);
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  #json(title: string, value: unknown): TemplateResult | typeof nothing {
    if (value === undefined || value === null) return nothing;
    const shown = JSON.stringify(value, null, 2);
    return html`<div class="svc-exchange"><header><h4>${title}</h4>
      ${copyButton(shown)}</header>
      <pre tabindex="0" role="group" aria-label=${title}>${shown}</pre></div>`;
  }

  override render(): TemplateResult {
    if (this.problem) return failure(this.problem, () => void this.#load());
    if (!this.types) return html`<div class="svc-skeleton" aria-busy="true"></div>`;
    return html`<ul class="svc-types">${this.types.map(
      ({ name, description, schema, example }) => html`<li><details>
        <summary><code>${name}</code><span class="svc-soft">${described({ name, description })}</span></summary>
        <div class="svc-pair">${this.#json(text('webhooks-example'), example)}${this.#json(text('webhooks-schema'), schema)}</div>
      </details></li>`,
    )}</ul>`;
  }
}
define('webhooks-types', WebhooksTypes);
