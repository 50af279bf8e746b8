/**
 * Menus and small panels beside what opened them, or as a sheet from below on a phone, in the browser's top layer.
 *
 * The browser closes them (Escape, a press beside them) and gives the focus back; this file only says where they stand, and
 * walks menus by arrow keys.
 */
import { html, nothing, type TemplateResult } from 'lit';
import { define, freshId, Part } from './part.ts';
import { icon, type IconName } from './icons.ts';
import { isPhone, sheet } from './sheet.ts';
import { text } from '../text.ts';

const GAP = 4;
const EDGE = 8;

/** Puts a panel below its anchor, or above where there's more room, within the page. */
export function place(panel: HTMLElement, anchor: Element, align: 'start' | 'end' = 'start'): void {
  const box = anchor.getBoundingClientRect();
  const size = panel.getBoundingClientRect();
  const below = innerHeight - box.bottom - GAP - EDGE;
  const above = box.top - GAP - EDGE;
  const isBelow = size.height <= below || below >= above;
  const room = Math.max(isBelow ? below : above, 120);
  const left = align === 'end' ? box.right - size.width : box.left;
  panel.style.maxHeight = `${room}px`;
  panel.style.left = `${Math.max(EDGE, Math.min(left, innerWidth - size.width - EDGE))}px`;
  panel.style.top = isBelow ? `${box.bottom + GAP}px` : 'auto';
  panel.style.bottom = isBelow ? 'auto' : `${innerHeight - box.top + GAP}px`;
}

/** An entry of a menu. */
export interface Entry {
  readonly label: string;
  readonly icon?: IconName;
  /** The key that does the same. */
  readonly hint?: string;
  /** A word beside the label. */
  readonly note?: string;
  readonly danger?: boolean;
  readonly checked?: boolean;
  run(): void;
}

/** A button that opens a panel; what stands in the panel is made when it opens. */
export class SvcPopover extends Part {
  static override properties = {
    label: { attribute: false },
    icon: { attribute: false },
    content: { attribute: false },
    look: { attribute: false },
    align: { attribute: false },
    wordless: { attribute: false },
    kind: { attribute: false },
    isStop: { attribute: false },
    isOpen: { state: true },
    isSheet: { state: true },
  };
  declare label: string;
  declare icon: IconName | undefined;
  declare content: () => TemplateResult;
  declare look: string;
  declare align: 'start' | 'end';
  /** Shows the icon alone. */
  declare wordless: boolean;
  declare kind: 'menu' | 'dialog';
  /** A stop of the Tab key; within a table it's none. */
  declare isStop: boolean;
  declare isOpen: boolean;
  /** Opened as a sheet from below. */
  declare isSheet: boolean;
  #leaveSheet: (() => void) | undefined;
  readonly #id = freshId('popover');

  constructor() {
    super();
    this.icon = undefined;
    this.look = 'plain';
    this.align = 'start';
    this.wordless = false;
    this.kind = 'dialog';
    this.isStop = true;
    this.isOpen = false;
    this.isSheet = false;
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    this.#leaveSheet?.();
  }

  get panel(): HTMLElement | null {
    return this.querySelector(`#${this.#id}`);
  }

  open(): void {
    this.panel?.showPopover();
  }

  close(): void {
    this.panel?.hidePopover();
  }

  /** The panel grew or shrank. */
  placeAgain(): void {
    const button = this.querySelector('button');
    if (this.panel && button && this.isOpen && !this.isSheet) place(this.panel, button, this.align);
  }

  async #toggled(event: ToggleEvent): Promise<void> {
    if (event.target !== this.panel) return;
    this.isOpen = event.newState === 'open';
    this.#leaveSheet?.();
    this.isSheet = this.isOpen && isPhone();
    this.#leaveSheet = this.isSheet && this.panel ? sheet(this.panel) : undefined;
    await this.updateComplete;
    if (!this.isOpen) {
      this.tell('popover-closed', undefined);
      return;
    }
    this.placeAgain();
    const first = '[autofocus], [role^=menuitem], input, select, :not(.svc-sheet-head) > button';
    this.panel?.querySelector<HTMLElement>(first)?.focus();
    this.placeAgain();
  }

  #walk(event: KeyboardEvent): void {
    if (this.kind !== 'menu') return;
    const items = [...(this.panel?.querySelectorAll<HTMLElement>('[role^=menuitem]') ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: items.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    items.at(to % items.length)?.focus();
  }

  /** What the sheet is for, and the way out for a thumb; Escape and a press beside it close it, too. A menu holds its entries alone. */
  #sheetHead(): TemplateResult {
    return html`<div class="svc-sheet-head"><b>${this.label}</b>
      ${this.kind === 'menu' ? nothing : html`<button type="button" class="svc-button" data-look="plain" @click=${() => this.close()}>${text('done')}</button>`}</div>`;
  }

  override render(): TemplateResult {
    const label = this.label;
    return html`<button
        type="button"
        class="svc-button"
        data-look=${this.look}
        ?data-wordless=${this.wordless}
        aria-haspopup=${this.kind}
        aria-expanded=${this.isOpen}
        aria-label=${this.wordless ? label : nothing}
        title=${this.wordless ? label : nothing}
        tabindex=${this.isStop ? nothing : -1}
        popovertarget=${this.#id}
      >
        ${this.icon ? icon(this.icon) : nothing}${this.wordless ? nothing : html`<span>${label}</span>`}
      </button>
      <div
        id=${this.#id}
        class="svc-popover"
        popover="auto"
        role=${this.kind}
        aria-label=${label}
        @toggle=${this.#toggled}
        @keydown=${this.#walk}
      >
        ${this.isSheet ? this.#sheetHead() : nothing}${this.isOpen ? this.content() : nothing}
      </div>`;
  }
}
define('svc-popover', SvcPopover);

/** An entry's sign, or room for one, so that all words begin at one place. */
function sign(entry: Entry): TemplateResult {
  const name = entry.checked ? 'check' : entry.checked === undefined ? entry.icon : undefined;
  return name ? icon(name) : html`<span class="svc-icon"></span>`;
}

/** The entries of a menu; a choice closes it. */
export function menu(entries: readonly Entry[]): TemplateResult {
  const hasSigns = entries.some((entry) => entry.icon !== undefined || entry.checked !== undefined);
  return html`<div class="svc-menu">
    ${entries.map(
      (entry) =>
        html`<button
          type="button"
          role=${entry.checked === undefined ? 'menuitem' : 'menuitemcheckbox'}
          aria-checked=${entry.checked ?? nothing}
          tabindex="-1"
          ?data-danger=${entry.danger ?? false}
          @click=${(event: Event) => {
            (event.currentTarget as HTMLElement).closest<SvcPopover>('svc-popover')?.close();
            entry.run();
          }}
        >
          ${hasSigns ? sign(entry) : nothing}
          <span>${entry.label}</span>${entry.note ? html` <span class="svc-soft">${entry.note}</span>` : nothing}${entry.hint ? html`<kbd>${entry.hint}</kbd>` : nothing}
        </button>`,
    )}
  </div>`;
}

/** A button that opens a menu. */
export function menuButton(
  label: string,
  entries: () => readonly Entry[],
  how: { icon?: IconName; align?: 'start' | 'end'; wordless?: boolean; look?: string; isStop?: boolean } = {},
): TemplateResult {
  return html`<svc-popover
    .label=${label}
    .icon=${how.icon ?? 'more'}
    .kind=${'menu'}
    .align=${how.align ?? 'end'}
    .wordless=${how.wordless ?? true}
    .look=${how.look ?? 'plain'}
    .isStop=${how.isStop ?? true}
    .content=${() => menu(entries())}
  ></svc-popover>`;
}
