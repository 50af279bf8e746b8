/**
 * Previews of an app's windows above its task button. Who asks for them by a press gets the real windows, which fly into the
 * cards. A pointer that only rests takes nothing away that's on the desktop: cards of windows in sight show where they are.
 */
import { clamp } from '../core/geometry.ts';
import { Loan, outline, windowCard } from './cards.ts';
import type { Desk } from './desk.ts';
import { arrowStep, consume, h, listen, takeOut, together } from './dom.ts';
import type { ShellWindow } from './window.ts';

const CARD = { width: 216, height: 136, gap: 12, head: 34 } as const;
const HOVER_MS = 450;
const LEAVE_MS = 250;
const MAX_CARDS = 12;
/** Above all windows, below the panel. */
const ABOVE_ALL = '999999';

/** Shows previews. */
export class Preview {
  readonly #desk: Desk;
  #panel: HTMLElement | undefined;
  #anchor: HTMLElement | undefined;
  readonly #loan: Loan;
  #pointed: HTMLElement | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #end: (() => void) | undefined;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.#loan = new Loan(desk);
  }

  get isOpen(): boolean {
    return this.#panel !== undefined;
  }

  /** The pointer came over a task button. */
  hover(anchor: HTMLElement, windows: () => readonly ShellWindow[]): void {
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
  toggle(anchor: HTMLElement, windows: () => readonly ShellWindow[]): void {
    if (this.#anchor === anchor && this.#panel?.contains(document.activeElement)) this.close();
    else this.#open(anchor, windows(), true);
  }

  #open(anchor: HTMLElement, windows: readonly ShellWindow[], focus: boolean): void {
    clearTimeout(this.#timer);
    this.close(false);
    const cards = windows.slice(-MAX_CARDS);
    if (cards.length === 0 || !anchor.isConnected) return;
    this.#anchor = anchor;
    const lent = focus ? cards : cards.filter((win) => !this.#desk.windows.shown(win));
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
      cards.map((win) => this.#card(win, !lent.includes(win))),
    );
    panel.style.gridTemplateColumns = `repeat(${columns}, ${CARD.width}px)`;
    this.#panel = panel;
    this.#desk.windowLayer.append(panel);
    this.#position(panel, anchor);
    this.#loan.take(panel, lent, true);
    this.#end = together(
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
    );
    if (focus) panel.querySelector<HTMLElement>('.shell-preview-open')?.focus();
  }

  #card(win: ShellWindow, points: boolean): HTMLElement {
    const { windows } = this.#desk;
    const card = windowCard(this.#desk, win, {
      pick: () => {
        this.close(false);
        windows.activate(win);
      },
      close: async () => {
        const anchor = this.#anchor;
        this.close(false);
        if (!(await windows.close(win))) return;
        const rest = windows.of(win.app.id);
        if (anchor && rest.length > 0) this.#open(anchor, rest, true);
      },
    });
    if (!points) return card;
    card.addEventListener('pointerenter', () => {
      this.#pointed?.remove();
      this.#pointed = outline(this.#desk, windows.rect(win), ABOVE_ALL);
      this.#pointed.dataset.plain = '';
    });
    card.addEventListener('pointerleave', () => this.#pointed?.remove());
    return card;
  }

  #position(panel: HTMLElement, anchor: HTMLElement): void {
    const area = this.#desk.area.peek();
    const root = this.#desk.root.getBoundingClientRect();
    const button = anchor.getBoundingClientRect();
    const { width, height } = panel.getBoundingClientRect();
    const side = this.#desk.setting('taskbarPosition');
    const middleX = button.left - root.left + button.width / 2 - width / 2;
    const middleY = button.top - root.top + button.height / 2 - height / 2;
    // A bar that hides itself lies over the area.
    const bar = (anchor.closest('.shell-taskbar') ?? anchor).getBoundingClientRect();
    const x =
      side === 'left' ? bar.right - root.left + 8 : side === 'right' ? bar.left - root.left - width - 8 : middleX;
    const y =
      side === 'top' ? bar.bottom - root.top + 8 : side === 'bottom' ? bar.top - root.top - height - 8 : middleY;
    panel.style.left = `${clamp(x, area.x + 4, area.x + area.width - width - 4)}px`;
    panel.style.top = `${clamp(y, area.y + 4, area.y + area.height - height - 4)}px`;
  }

  #key(event: KeyboardEvent): void {
    const all = [...(this.#panel?.querySelectorAll<HTMLElement>('.shell-preview-open') ?? [])];
    const at = all.indexOf(document.activeElement as HTMLElement);
    const step = arrowStep(event);
    if (step) all[(at + step + all.length) % all.length]?.focus();
    else if (event.key === 'Escape') this.close();
    else return;
    consume(event);
  }

  /** Sends the windows back. */
  close(restoreFocus = true): void {
    clearTimeout(this.#timer);
    if (!this.#panel) return;
    const anchor = this.#anchor;
    const hadFocus = this.#panel.contains(document.activeElement);
    takeOut(this.#panel);
    this.#panel = undefined;
    this.#anchor = undefined;
    this.#end?.();
    this.#pointed?.remove();
    this.#loan.end();
    if (restoreFocus && hadFocus) anchor?.focus();
  }
}
