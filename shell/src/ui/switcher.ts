/**
 * Steps through the windows of the webtop, the most recent first. A short press goes back to the window before; who holds
 * Ctrl sees all of them as pictures, walks on with each press, and lands on release.
 */
import { clamp } from '../core/geometry.ts';
import { t } from '../i18n.ts';
import { Loan, windowCard } from './cards.ts';
import type { Desk } from './desk.ts';
import { arrowStep, consume, focusIsLost, h, listen } from './dom.ts';
import type { ShellWindow } from './window.ts';

/** How long Ctrl is held before the pictures come. */
const SHOW_AFTER_MS = 180;
const MOST = 12;
const CARD_PX = 228;

/** Goes from window to window. */
export class Switcher {
  readonly #desk: Desk;
  readonly #loan: Loan;
  #round: ShellWindow[] = [];
  #at = 0;
  #panel: HTMLElement | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #ends: (() => void)[] = [];

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#loan = new Loan(desk);
  }

  /** A press of the key: the next one, or the one before. */
  step(direction: 1 | -1): void {
    const { windows } = this.#desk;
    if (this.#round.length === 0) {
      const here = windows.stacked().filter((win) => win.webtop === this.#desk.activeWebtop.peek());
      this.#round = here.reverse().slice(0, MOST);
      if (this.#round.length === 0) return;
      // Without an active window the first step leads to the most recent one.
      this.#at = this.#round[0]?.id === windows.activeId.peek() ? 0 : -1;
      this.#timer = setTimeout(() => this.#show(), SHOW_AFTER_MS);
      this.#ends = [
        listen(document, 'keyup', (event) => event.key === 'Control' && this.#land(), { capture: true }),
        listen(document, 'keydown', (event) => this.#key(event), { capture: true }),
        listen(document, 'pointerdown', (event) => {
          if (!(event.target instanceof Node && this.#panel?.contains(event.target))) this.#land();
        }),
        listen(window, 'blur', () => this.#land()),
      ];
    }
    const { length } = this.#round;
    this.#at = (this.#at + direction + length) % length;
    this.#mark();
  }

  #key(event: KeyboardEvent): void {
    if (event.key === 'Control' || event.key === 'Shift') return;
    const step = arrowStep(event);
    if (step) this.step(step);
    else if (event.key === 'Escape') {
      this.#end();
      // A window that was lent lost the focus with it.
      const { active } = this.#desk.windows;
      if (active && focusIsLost()) this.#desk.windows.focusInside(active);
    } else if (event.code === 'Backquote') return;
    else this.#land();
    consume(event);
  }

  #show(): void {
    const round = this.#round.filter((win) => !win.closed);
    const area = this.#desk.area.peek();
    const columns = clamp(Math.floor((area.width - 48) / CARD_PX), 1, round.length);
    const panel = h(
      'div.shell-preview.shell-switcher',
      { role: 'group', 'aria-label': t('keys.nextWindow'), part: 'switcher' },
      round.map((win) => windowCard(this.#desk, win, { pick: () => this.#land(win) })),
    );
    panel.style.gridTemplateColumns = `repeat(${columns}, 216px)`;
    this.#panel = panel;
    this.#desk.windowLayer.append(panel);
    const { width, height } = panel.getBoundingClientRect();
    panel.style.left = `${area.x + (area.width - width) / 2}px`;
    panel.style.top = `${area.y + (area.height - height) / 2}px`;
    this.#loan.take(panel, round);
    this.#mark();
  }

  #mark(): void {
    const win = this.#round[this.#at];
    if (!win) return;
    this.#desk.announce(win.title);
    for (const card of this.#panel?.children ?? [])
      card.toggleAttribute('data-chosen', card.getAttribute('data-window') === win.id);
  }

  #land(win = this.#round[this.#at]): void {
    this.#end();
    if (win && !win.closed) this.#desk.windows.activate(win);
  }

  #end(): void {
    clearTimeout(this.#timer);
    for (const off of this.#ends.splice(0)) off();
    this.#panel?.remove();
    this.#panel = undefined;
    this.#loan.end();
    this.#round = [];
  }
}
