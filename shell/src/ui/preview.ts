/**
 * Previews of an app's windows above its task button. The real windows fly into the cards, so what one sees lives; an
 * outline stays where each one was.
 */
import { listen } from './dom.ts';
import { h } from './dom.ts';
import { t } from '../i18n.ts';
import { clamp } from '../core/geometry.ts';
import type { Desk } from './desk.ts';
import { glyph } from './glyphs.ts';
import type { ShellWindow } from './window.ts';

const CARD = { width: 216, height: 136, gap: 12, head: 34 } as const;
const HOVER_MS = 450;
const LEAVE_MS = 250;
const MAX_CARDS = 12;

interface Shown {
  win: ShellWindow;
  outline: HTMLElement | undefined;
}

/** Shows previews. */
export class Preview {
  readonly #desk: Desk;
  #panel: HTMLElement | undefined;
  #anchor: HTMLElement | undefined;
  #shown: Shown[] = [];
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ends: (() => void)[] = [];

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  get isOpen(): boolean {
    return this.#panel !== undefined;
  }

  /** The pointer came over a task button. */
  hover(anchor: HTMLElement, windows: () => ShellWindow[]): void {
    clearTimeout(this.#timer);
    if (this.#desk.compact.peek() || this.#desk.pilot.isOpen || this.#anchor === anchor) return;
    this.#timer = setTimeout(() => this.#open(anchor, windows(), false), this.isOpen ? 80 : HOVER_MS);
  }

  /** The pointer left; going on to the panel keeps it open. */
  leave(): void {
    clearTimeout(this.#timer);
    if (this.isOpen) this.#timer = setTimeout(() => this.close(), LEAVE_MS);
  }

  /** Opens with the focus inside, or closes. */
  toggle(anchor: HTMLElement, windows: () => ShellWindow[]): void {
    if (this.#anchor === anchor && this.#panel?.contains(document.activeElement)) this.close();
    else this.#open(anchor, windows(), true);
  }

  #open(anchor: HTMLElement, windows: readonly ShellWindow[], focus: boolean): void {
    clearTimeout(this.#timer);
    this.close(false);
    const cards = windows.slice(-MAX_CARDS);
    if (cards.length === 0 || !anchor.isConnected) return;
    this.#anchor = anchor;
    const area = this.#desk.area.peek();
    const columns = clamp(Math.floor((area.width - CARD.gap) / (CARD.width + CARD.gap)), 1, cards.length);
    const panel = h(
      'div.shell-preview',
      {
        role: 'dialog',
        'aria-label': anchor.getAttribute('aria-label') ?? '',
        part: 'preview',
        onpointerenter: () => clearTimeout(this.#timer),
        onpointerleave: () => this.leave(),
        onkeydown: (event: KeyboardEvent) => this.#key(event),
      },
      cards.map((win) => this.#card(win)),
    );
    panel.style.gridTemplateColumns = `repeat(${columns}, ${CARD.width}px)`;
    this.#panel = panel;
    this.#desk.windowLayer.append(panel);
    this.#position(panel, anchor);
    this.#fly(panel, cards);
    this.#ends = [
      listen(
        document,
        'pointerdown',
        (event) => {
          const target = event.target as Node;
          if (!panel.contains(target) && !anchor.contains(target)) this.close(false);
        },
        { capture: true },
      ),
      listen(document, 'keydown', (event) => event.key === 'Escape' && this.close()),
      listen(window, 'resize', () => this.close(false)),
    ];
    if (focus) panel.querySelector<HTMLElement>('.shell-preview-open')?.focus();
  }

  #card(win: ShellWindow): HTMLElement {
    return h(
      'div.shell-preview-card',
      { 'data-window': win.id },
      h('button.shell-preview-open', {
        'aria-label': win.title,
        onclick: () => {
          this.close(false);
          this.#desk.windows.activate(win);
        },
      }),
      h('span.shell-preview-title', { 'aria-hidden': 'true' }, win.title),
      h(
        'button.shell-icon-button',
        {
          'aria-label': t('window.closeNamed', { title: win.title }),
          onclick: async () => {
            const anchor = this.#anchor;
            this.close(false);
            if (await this.#desk.windows.close(win)) {
              const rest = this.#desk.windows.list.peek().filter((one) => one.app.id === win.app.id);
              if (anchor && rest.length > 0) this.#open(anchor, rest, true);
            }
          },
        },
        glyph('close'),
      ),
    );
  }

  #position(panel: HTMLElement, anchor: HTMLElement): void {
    const area = this.#desk.area.peek();
    const root = this.#desk.root.getBoundingClientRect();
    const button = anchor.getBoundingClientRect();
    const { width, height } = panel.getBoundingClientRect();
    const side = this.#desk.setting('taskbarPosition');
    const middleX = button.left - root.left + button.width / 2 - width / 2;
    const middleY = button.top - root.top + button.height / 2 - height / 2;
    const x = side === 'left' ? area.x + 4 : side === 'right' ? area.x + area.width - width - 4 : middleX;
    const y = side === 'top' ? area.y + 4 : side === 'bottom' ? area.y + area.height - height - 4 : middleY;
    panel.style.left = `${clamp(x, area.x + 4, area.x + area.width - width - 4)}px`;
    panel.style.top = `${clamp(y, area.y + 4, area.y + area.height - height - 4)}px`;
  }

  /** Sends the real windows into their cards. */
  #fly(panel: HTMLElement, cards: readonly ShellWindow[]): void {
    const { windows } = this.#desk;
    const root = this.#desk.root.getBoundingClientRect();
    for (const win of cards) {
      const card = panel.querySelector(`[data-window="${CSS.escape(win.id)}"] .shell-preview-open`);
      if (!card) continue;
      const rect = windows.rect(win);
      const slot = card.getBoundingClientRect();
      const wasShown = windows.shown(win);
      const scale = Math.min(slot.width / rect.width, slot.height / rect.height);
      const x = slot.left - root.left + (slot.width - rect.width * scale) / 2;
      const y = slot.top - root.top + (slot.height - rect.height * scale) / 2;
      let outline: HTMLElement | undefined;
      if (wasShown) {
        outline = h('div.shell-outline', { 'aria-hidden': 'true' });
        outline.style.zIndex = win.element.style.zIndex;
        outline.style.transform = `translate(${rect.x}px,${rect.y}px)`;
        outline.style.width = `${rect.width}px`;
        outline.style.height = `${rect.height}px`;
        this.#desk.windowLayer.append(outline);
      }
      win.element.classList.add('shell-flying', ...(wasShown ? ['shell-flying-from'] : []));
      win.element.inert = true;
      win.element.classList.remove('shell-away');
      win.element.style.transform = `translate(${x}px,${y}px) scale(${scale})`;
      this.#shown.push({ win, outline });
    }
  }

  #key(event: KeyboardEvent): void {
    const all = [...(this.#panel?.querySelectorAll<HTMLElement>('.shell-preview-open') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (step) all[(at + step + all.length) % all.length]?.focus();
    else if (event.key === 'Escape') this.close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Sends the windows back. */
  close(restoreFocus = true): void {
    clearTimeout(this.#timer);
    if (!this.#panel) return;
    const anchor = this.#anchor;
    const hadFocus = this.#panel.contains(document.activeElement);
    this.#panel.remove();
    this.#panel = undefined;
    this.#anchor = undefined;
    for (const end of this.#ends.splice(0)) end();
    for (const { win, outline } of this.#shown.splice(0)) {
      outline?.remove();
      win.element.inert = false;
      win.element.classList.remove('shell-flying', 'shell-flying-from');
      this.#desk.windows.refresh(win);
    }
    if (restoreFocus && hadFocus) anchor?.focus();
  }
}
