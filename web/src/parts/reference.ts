/** Picks a record of another set by searching for it: a combobox after the ARIA pattern. */
import { html, nothing, type TemplateResult } from 'lit';
import { isAborted } from '../client/request.ts';
import { few } from '../client/sets.ts';
import type { EntitySet } from '../core/model.ts';
import type { Row } from '../core/pages.ts';
import { findOptions } from '../core/find.ts';
import { inSentence, setName, singular, text } from '../text.ts';
import { icon } from './icons.ts';
import { define, freshId, Part } from './part.ts';
import { place } from './popover.ts';

/** A record that was picked; no key stands for none. */
export interface Pick {
  readonly key: string | null;
  readonly title: string;
}

const SHOWN = 20;
/** Typing goes on; asking at each key would be for nothing. */
const PAUSE_MS = 120;

export class SvcReference extends Part {
  static override properties = {
    set: { attribute: false },
    value: { attribute: false },
    shown: { attribute: false },
    inputId: { attribute: false },
    describedBy: { attribute: false },
    isWrong: { attribute: false },
    clearable: { attribute: false },
    create: { attribute: false },
    rows: { state: true },
    at: { state: true },
    isOpen: { state: true },
    typed: { state: true },
  };
  declare set: EntitySet;
  declare value: string | null;
  /** What the picked record is called. */
  declare shown: string;
  declare inputId: string;
  declare describedBy: string | undefined;
  declare isWrong: boolean;
  declare clearable: boolean;
  /** Makes one that isn't there yet, from what was typed. */
  declare create: ((typed: string) => Promise<Pick | undefined>) | undefined;
  declare rows: readonly Row[];
  declare at: number;
  declare isOpen: boolean;
  declare typed: string | undefined;
  readonly #id = freshId('options');
  #asking: AbortController | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.value = null;
    this.shown = '';
    this.inputId = freshId('reference');
    this.describedBy = undefined;
    this.isWrong = false;
    this.clearable = false;
    this.create = undefined;
    this.rows = [];
    this.at = -1;
    this.isOpen = false;
    this.typed = undefined;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#askNoMore();
  }

  /** What was still to be asked, or to be answered, would open the list under whoever has done with it. */
  #askNoMore(): void {
    clearTimeout(this.#timer);
    this.#asking?.abort();
  }

  get #list(): HTMLElement | null {
    return this.querySelector('[role=listbox]');
  }

  async #search(typed: string): Promise<void> {
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    try {
      const page = await few(this.set.name, findOptions(this.set, typed.trim()), SHOWN, asking.signal);
      this.rows = page.rows;
      this.at = typed !== '' && (page.rows.length > 0 || this.create) ? 0 : -1;
      await this.updateComplete;
      if (!asking.signal.aborted) this.#show();
    } catch (error) {
      if (!isAborted(error)) this.#hide();
    }
  }

  #show(): void {
    const [list, input] = [this.#list, this.querySelector('input')];
    if (!list || !input || !this.contains(document.activeElement)) return;
    list.style.minWidth = `${input.offsetWidth}px`;
    list.showPopover();
    place(list, input);
    this.isOpen = true;
  }

  #hide(): void {
    this.#askNoMore();
    this.#list?.hidePopover();
    this.isOpen = false;
  }

  #typing(event: Event): void {
    this.typed = (event.target as HTMLInputElement).value;
    clearTimeout(this.#timer);
    const typed = this.typed;
    this.#timer = setTimeout(() => void this.#search(typed), PAUSE_MS);
  }

  #pick(row: Row | undefined): void {
    this.typed = undefined;
    this.#hide();
    const key = row ? String(row[this.set.key]) : null;
    this.tell<Pick>('pick', { key, title: row ? String(row[this.set.title] ?? key) : '' });
  }

  /** Has one made, and picks it; whoever leaves that is where they were. */
  async #make(): Promise<void> {
    const { create, typed = '' } = this;
    this.typed = undefined;
    this.#hide();
    const made = await create?.(typed.trim());
    if (made) this.tell<Pick>('pick', made);
    await this.updateComplete;
    this.querySelector('input')?.focus();
  }

  #keyed(event: KeyboardEvent): void {
    const count = this.rows.length + (this.create ? 1 : 0);
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      if (!this.isOpen) void this.#search(this.typed ?? '');
      else this.at = count === 0 ? -1 : (this.at + (event.key === 'ArrowDown' ? 1 : -1) + count) % count;
    } else if (event.key === 'Enter' && this.isOpen && this.at >= 0) {
      event.preventDefault();
      event.stopPropagation();
      if (this.at < this.rows.length) this.#pick(this.rows[this.at]);
      else void this.#make();
    } else if (event.key === 'Escape' && this.isOpen) {
      event.preventDefault();
      event.stopPropagation();
      this.typed = undefined;
      this.#hide();
    }
  }

  #left(): void {
    if (this.typed === '' && this.clearable) this.#pick(undefined);
    this.typed = undefined;
    this.#hide();
  }

  override render(): TemplateResult {
    const label = text('reference-list', { name: setName(this.set.name) });
    return html`<input
        id=${this.inputId}
        class="svc-input"
        role="combobox"
        autocomplete="off"
        spellcheck="false"
        aria-autocomplete="list"
        aria-expanded=${this.isOpen}
        aria-controls=${this.#id}
        aria-activedescendant=${this.isOpen && this.at >= 0 ? `${this.#id}-${this.at}` : nothing}
        aria-describedby=${this.describedBy ?? nothing}
        aria-invalid=${this.isWrong ? 'true' : nothing}
        placeholder=${text('reference-search', { name: inSentence(setName(this.set.name)) })}
        .value=${this.typed ?? this.shown}
        @input=${this.#typing}
        @keydown=${this.#keyed}
        @click=${() => void this.#search(this.typed ?? '')}
        @blur=${this.#left}
      />
      <div id=${this.#id} class="svc-popover svc-options" role="listbox" popover="manual" aria-label=${label}>
        ${this.rows.length === 0 ? html`<p class="svc-soft svc-options-none">${text('reference-none')}</p>` : nothing}
        ${this.rows.map((row, index) => this.#option(row, index))}
        ${this.create ? this.#creating() : nothing}
      </div>`;
  }

  #creating(): TemplateResult {
    const kind = inSentence(singular(this.set.name, this.set.type));
    return html`<div
      role="option"
      id="${this.#id}-${this.rows.length}"
      class="svc-options-new"
      aria-selected=${this.at === this.rows.length}
      @pointerdown=${(event: Event) => event.preventDefault()}
      @click=${() => void this.#make()}
    >${icon('plus')}<span>${text('create', { kind })}</span></div>`;
  }

  #option(row: Row, index: number): TemplateResult {
    const extra = Object.entries(row).find(
      ([name, value]) =>
        !name.startsWith('@') && name !== this.set.key && name !== this.set.title && typeof value === 'string',
    )?.[1];
    return html`<div
      role="option"
      id="${this.#id}-${index}"
      aria-selected=${index === this.at}
      @pointerdown=${(event: Event) => event.preventDefault()}
      @click=${() => this.#pick(row)}
    >
      <span>${String(row[this.set.title] ?? '')}</span>${typeof extra === 'string' ? html`<span class="svc-soft">${extra}</span>` : nothing}
    </div>`;
  }
}
define('svc-reference', SvcReference);
