/** Writes names with values, one beside the other; there is always room for one more. */
import { define, freshId, html, icon, nothing, Part, text, type PropertyValues, type TemplateResult } from '@svc/web';

interface Pair {
  readonly name: string;
  readonly value: string;
}

const EMPTY: Pair = { name: '', value: '' };

export class WebhooksPairs extends Part {
  static override properties = {
    value: { attribute: false },
    label: { attribute: false },
    describedBy: { attribute: false },
    inputId: { attribute: false },
    isSecret: { attribute: false },
    pairs: { state: true },
  };
  /** What stands here when it begins. */
  declare value: Readonly<Record<string, string>>;
  declare label: string;
  declare describedBy: string;
  /** The id of the first field, which a label leads to. */
  declare inputId: string;
  /** Whether values are shown to nobody. */
  declare isSecret: boolean;
  declare pairs: readonly Pair[];

  constructor() {
    super();
    this.value = {};
    this.label = '';
    this.describedBy = '';
    this.inputId = freshId('pairs');
    this.isSecret = false;
    this.pairs = [EMPTY];
  }

  override willUpdate(_changes: PropertyValues): void {
    if (this.hasUpdated) return;
    this.pairs = [...Object.entries(this.value).map(([name, value]) => ({ name, value })), EMPTY];
  }

  #put(pairs: readonly Pair[]): void {
    const last = pairs.at(-1);
    this.pairs = last && last.name === '' && last.value === '' ? pairs : [...pairs, EMPTY];
    const written = this.pairs.filter(({ name, value }) => name.trim() !== '' || value !== '');
    this.tell('pairs', Object.fromEntries(written.map(({ name, value }) => [name.trim(), value])));
  }

  #change(place: number, part: Partial<Pair>): void {
    this.#put(this.pairs.map((pair, index) => (index === place ? { ...pair, ...part } : pair)));
  }

  async #remove(place: number): Promise<void> {
    this.#put(this.pairs.filter((_pair, index) => index !== place));
    await this.updateComplete;
    this.querySelectorAll('input')[place * 2]?.focus();
  }

  #pair({ name, value }: Pair, place: number): TemplateResult {
    const isLast = place === this.pairs.length - 1;
    const written = (event: Event) => (event.target as HTMLInputElement).value;
    return html`<div class="svc-pair-row">
      <input id=${place === 0 ? this.inputId : nothing} class="svc-input" autocomplete="off" spellcheck="false" placeholder=${text('webhooks-pair-name')}
        aria-label=${text('webhooks-pair-name-of', { label: this.label, place: place + 1 })} aria-describedby=${this.describedBy} .value=${name}
        @input=${(event: Event) => this.#change(place, { name: written(event) })} />
      <input class="svc-input" type=${this.isSecret ? 'password' : 'text'} autocomplete="off" spellcheck="false" placeholder=${text('webhooks-pair-value')}
        aria-label=${text('webhooks-pair-value-of', { label: this.label, place: place + 1 })} .value=${value}
        @input=${(event: Event) => this.#change(place, { value: written(event) })} />
      ${
        isLast
          ? html`<span></span>`
          : html`<button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('webhooks-pair-remove', { name: name || String(place + 1) })} @click=${() => void this.#remove(place)}>${icon('close')}</button>`
      }
    </div>`;
  }

  override render(): TemplateResult {
    return html`<div class="svc-pairs">${this.pairs.map((pair, place) => this.#pair(pair, place))}</div>`;
  }
}
define('webhooks-pairs', WebhooksPairs);
