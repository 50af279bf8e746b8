/**
 * Cards with pictures of windows. The picture is the real window, moved and scaled into the card, so what one sees lives; an
 * outline stays where it was. A window that somebody may be reading is only borrowed on purpose: else its card shows the
 * app's sign.
 */
import type { Rect } from '../core/geometry.ts';
import { t } from '../i18n.ts';
import type { Desk } from './desk.ts';
import { h, put, shift } from './dom.ts';
import { closeButton } from './glyphs.ts';
import { plate } from './tiles.ts';
import type { ShellWindow } from './window.ts';

/** What a card does. */
export interface CardActions {
  pick(): void;
  close?(): void;
}

/** A card: the picture is a button, its name and a way to close stand above. */
export function windowCard(desk: Desk, win: ShellWindow, { pick, close }: CardActions): HTMLElement {
  return h(
    'div.shell-preview-card',
    { 'data-window': win.id },
    h('button.shell-preview-open', { 'aria-label': win.title, onclick: pick }, plate(desk, win.icon, win.accent)),
    h('span.shell-preview-title', { 'aria-hidden': 'true' }, win.title),
    close && closeButton(t('window.closeNamed', { title: win.title }), close),
  );
}

/** Draws a frame around a place on the desktop. */
export function outline(desk: Desk, rect: Rect, depth: string): HTMLElement {
  const element = h('div.shell-outline', { 'aria-hidden': 'true' });
  element.style.zIndex = depth;
  put(element, rect);
  desk.windowLayer.append(element);
  return element;
}

/** Windows that lie in cards, until they're given back. */
export class Loan {
  readonly #desk: Desk;
  #lent: { win: ShellWindow; outline: HTMLElement | undefined }[] = [];

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** Sends windows into their cards in the panel; `marked` leaves an outline where each was. */
  take(panel: Element, windows: readonly ShellWindow[], marked = false): void {
    const root = this.#desk.root.getBoundingClientRect();
    for (const win of windows) {
      const card = panel.querySelector(`[data-window="${CSS.escape(win.id)}"] .shell-preview-open`);
      if (!card) continue;
      const rect = this.#desk.windows.rect(win);
      const slot = card.getBoundingClientRect();
      const shown = this.#desk.windows.shown(win);
      const scale = Math.min(slot.width / rect.width, slot.height / rect.height);
      const x = slot.left - root.left + (slot.width - rect.width * scale) / 2;
      const y = slot.top - root.top + (slot.height - rect.height * scale) / 2;
      const { element } = win;
      this.#lent.push({ win, outline: marked && shown ? outline(this.#desk, rect, element.style.zIndex) : undefined });
      element.classList.add('shell-flying', ...(shown ? ['shell-flying-from'] : []));
      element.inert = true;
      element.classList.remove('shell-away');
      element.style.transform = shift({ x, y }, scale);
      card.toggleAttribute('data-filled', true);
    }
  }

  /** Sends the windows back. */
  end(): void {
    for (const { win, outline: frame } of this.#lent.splice(0)) {
      frame?.remove();
      win.element.inert = false;
      win.element.classList.remove('shell-flying', 'shell-flying-from');
      this.#desk.windows.refresh(win);
    }
  }
}
