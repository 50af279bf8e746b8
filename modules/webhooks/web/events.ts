/** Chooses events: those that exist, all of a set, or all there are. */
import { define, html, icon, nothing, Part, text, freshId, type TemplateResult } from '@svc/web';
import type { EventType } from './api.ts';
import { described } from './described.ts';

/** What stands for many is offered as buttons; single types while one types. */
const MOST_SUGGESTED = 8;

export class WebhooksEvents extends Part {
  static override properties = {
    value: { attribute: false },
    types: { attribute: false },
    describedBy: { attribute: false },
    inputId: { attribute: false },
  };
  declare value: readonly string[];
  declare types: readonly EventType[];
  declare describedBy: string;
  declare inputId: string;
  readonly #list = freshId('events');

  constructor() {
    super();
    this.value = [];
    this.types = [];
    this.describedBy = '';
    this.inputId = freshId('event');
  }

  /** Every known type, what stands for all of a set, and what stands for all. */
  get #suggestions(): { name: string; description: string }[] {
    const sets = [...new Set(this.types.map(({ name }) => name.split('.')[0] ?? ''))].filter(
      (set) => this.types.filter(({ name }) => name.startsWith(`${set}.`)).length > 1,
    );
    const all = [
      { name: '*', description: text('webhooks-all-events') },
      ...sets.map((set) => ({ name: `${set}.*`, description: text('webhooks-all-of', { set }) })),
      ...this.types
        .filter(({ name }) => name !== 'webhook.test')
        .map((type) => ({ name: type.name, description: described(type) })),
    ];
    return all.filter(({ name }) => !this.value.includes(name));
  }

  #add(name: string): void {
    const clean = name.trim();
    if (clean === '' || this.value.includes(clean)) return;
    this.tell('events', clean === '*' ? ['*'] : [...this.value.filter((one) => one !== '*'), clean]);
  }

  #take(event: Event): void {
    const input = event.target as HTMLInputElement;
    this.#add(input.value);
    input.value = '';
  }

  override render(): TemplateResult {
    return html`<div class="svc-tokens">
        ${this.value.map(
          (name) => html`<span class="svc-chip"><span class="svc-token">${name}</span>
            <button type="button" class="svc-button" data-look="chip" data-wordless aria-label=${text('webhooks-event-remove', { name })} @click=${() =>
              this.tell(
                'events',
                this.value.filter((one) => one !== name),
              )}>${icon('close')}</button></span>`,
        )}
        <input
          id=${this.inputId}
          class="svc-input"
          list=${this.#list}
          autocomplete="off"
          spellcheck="false"
          aria-describedby=${this.describedBy}
          placeholder=${text('webhooks-event-add')}
          @change=${this.#take}
          @keydown=${(event: KeyboardEvent) => {
            const input = event.target as HTMLInputElement;
            if (event.key === 'Enter' && input.value.trim() !== '') {
              event.preventDefault();
              this.#take(event);
            } else if (event.key === 'Backspace' && input.value === '' && this.value.length > 0) {
              this.tell('events', this.value.slice(0, -1));
            }
          }}
        />
      </div>
      <datalist id=${this.#list}>${this.#suggestions.map(({ name, description }) => html`<option value=${name}>${description}</option>`)}</datalist>
      ${
        this.value.length === 0
          ? html`<div class="svc-suggested">${this.#suggestions
              .filter(({ name }) => name.endsWith('*'))
              .slice(0, MOST_SUGGESTED)
              .map(
                ({ name, description }) =>
                  html`<button type="button" class="svc-button" title=${description} @click=${() => this.#add(name)}>${icon('plus')}<span>${name === '*' ? description : name}</span></button>`,
              )}</div>`
          : nothing
      }`;
  }
}
define('webhooks-events', WebhooksEvents);
