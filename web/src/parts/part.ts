/**
 * The base of every element of the client: Lit without a shadow root.
 *
 * One stylesheet serves all, labels reach their fields across elements, and the shell's tokens are inherited. An element shows
 * itself anew when the language changes, or what the person may do.
 */
import { LitElement } from 'lit';
import { onRights } from '../client/rights.ts';
import { onTexts } from '../text.ts';

export class Part extends LitElement {
  readonly #ends: (() => void)[] = [];

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    const update = () => this.requestUpdate();
    this.#ends.push(onTexts(update), onRights(update));
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    for (const end of this.#ends.splice(0)) end();
  }

  /** Runs when the element leaves the page. */
  protected atEnd(end: () => void): void {
    this.#ends.push(end);
  }

  /** Tells whoever is outside. */
  protected tell<T>(name: string, detail: T): void {
    this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true }));
  }
}

/** The focus goes to the head of what is shown, where an action has taken away what had it. */
export async function keepFocus(part: Part): Promise<void> {
  await part.updateComplete;
  if (document.activeElement === document.body) part.querySelector<HTMLElement>('.svc-pane h2')?.focus();
}

/** The focus goes on to what an action has led to, unless the person has gone elsewhere meanwhile: into another window, or into the search over everything. */
export function leadFocus(part: Element, to: HTMLElement | null): void {
  const at = document.activeElement;
  const isHere = at === null || at === document.body || (part.closest('.svc-app') ?? part).contains(at);
  if (isHere) to?.focus();
}

let lastId = 0;

/** An id that nothing else on the page has. */
export function freshId(prefix: string): string {
  lastId += 1;
  return `svc-${prefix}-${lastId}`;
}

/** Registers an element once, whichever chunk comes first. */
export function define(name: string, element: CustomElementConstructor): void {
  if (!customElements.get(name)) customElements.define(name, element);
}
