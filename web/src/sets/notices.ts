/** A line at the foot of an app that says what was done and takes it back: ten seconds, a button, Ctrl+Z. */
import { html, nothing, type TemplateResult } from 'lit';
import { asProblem } from '../client/request.ts';
import { icon } from '../parts/icons.ts';
import { define, Part } from '../parts/part.ts';
import { sentence } from '../parts/states.ts';
import { text } from '../text.ts';

/** What was done. */
export interface Done {
  readonly text: string;
  undo?(): Promise<void>;
}

const SHOWN_MS = 10_000;

export class SvcNotices extends Part {
  static override properties = { done: { state: true }, isBad: { state: true } };
  declare done: Done | undefined;
  declare isBad: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor() {
    super();
    this.done = undefined;
    this.isBad = false;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const root = this.closest<HTMLElement>('.svc-app');
    const keyed = (event: KeyboardEvent) => this.#keyed(event);
    root?.addEventListener('keydown', keyed);
    this.atEnd(() => {
      root?.removeEventListener('keydown', keyed);
      clearTimeout(this.#timer);
    });
  }

  /** Says what was done. */
  say(done: Done): void {
    this.done = done;
    this.isBad = false;
    this.#wait();
  }

  /** Says what went wrong, in its own words or in those that are given. */
  complain(error: unknown, said = sentence(asProblem(error))): void {
    this.done = { text: said };
    this.isBad = true;
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#close(), SHOWN_MS);
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.done = undefined;
  }

  async #undo(): Promise<void> {
    const undo = this.done?.undo;
    this.#close();
    try {
      await undo?.();
    } catch (error) {
      this.complain(error);
    }
  }

  #keyed(event: KeyboardEvent): void {
    const isTyping = (event.target as Element).matches('input:not([type=checkbox]), textarea, select');
    if (event.key === 'z' && (event.ctrlKey || event.metaKey) && !event.shiftKey && !isTyping && this.done?.undo) {
      event.preventDefault();
      event.stopPropagation();
      void this.#undo();
    }
  }

  override render(): TemplateResult {
    const { done } = this;
    return html`<div class="svc-notices" role="status">
      ${
        done
          ? html`<div class="svc-notice" ?data-bad=${this.isBad} @pointerenter=${() => clearTimeout(this.#timer)} @pointerleave=${() => this.#wait()}>
            <span>${done.text}</span>
            ${
              done.undo
                ? html`<button type="button" class="svc-button" data-look="plain" @click=${() => void this.#undo()}>${icon('undo')}<span>${text('undo')}</span></button>`
                : nothing
            }
            <button type="button" class="svc-button" data-look="plain" data-wordless aria-label=${text('close')} @click=${() => this.#close()}>${icon('close')}</button>
          </div>`
          : nothing
      }
    </div>`;
  }
}
define('svc-notices', SvcNotices);

/** Finds the line of the app that an element is in. */
export function noticesNear(element: Element): SvcNotices | null {
  return element.closest('.svc-app')?.querySelector('svc-notices') ?? null;
}
