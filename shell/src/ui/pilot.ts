/**
 * Pilot view: all windows of the current webtop side by side, all webtops as cards above. The windows are the real ones,
 * moved and scaled; each has a button over it that takes clicks, drags and keys instead.
 */
import { toHex } from '../core/colour.ts';
import { clamp, contains, packRows, type Rect, type Slot } from '../core/geometry.ts';
import { MAX_WEBTOPS, WEBTOP_GRID } from '../core/grid.ts';
import type { Webtop } from '../core/profile.ts';
import { effect, onDispose, scope, signal, untracked, type Dispose } from '../core/signal.ts';
import { addWebtop, deleteWebtop } from '../core/workspace.ts';
import { t } from '../i18n.ts';
import { endAssist } from './assist.ts';
import type { Desk } from './desk.ts';
import {
  consume,
  followPointer,
  giveFocus,
  h,
  listen,
  nearestTowards,
  newId,
  shift,
  size,
  swallowClick,
  takeOut,
  trapTab,
} from './dom.ts';
import { closeButton, glyph } from './glyphs.ts';
import { plate } from './tiles.ts';
import { plateColour, type ShellWindow } from './window.ts';

const DRAG_START = 6;
/** The longer side of a window that is held over the cards. */
const CARRIED_PX = 110;

/** Between two windows, and below each for its name. */
const GAP = { x: 28, y: 56 } as const;
/** A name takes this width even where its window is narrower. */
const NAME_PX = 120;

/** The overview. */
export class Pilot {
  /** Whether it's open, for those who follow. */
  readonly open = signal(false);
  readonly #desk: Desk;
  readonly #revision = signal(0);
  #panel: HTMLElement | undefined;
  #dispose: Dispose | undefined;
  #borrowed = new Set<ShellWindow>();
  #slots = new Map<string, Slot>();
  #returnTo: Element | null = null;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  get isOpen(): boolean {
    return this.open.peek();
  }

  toggle(): void {
    if (this.isOpen) this.close();
    else this.#show();
  }

  #show(): void {
    this.#desk.start.close(false);
    this.#desk.start.taskbar?.preview.close(false);
    this.#desk.menus.close(false);
    endAssist();
    this.#returnTo = document.activeElement;
    this.open.set(true);
    this.#desk.root.setAttribute('data-piloting', '');
    const [panel, dispose] = scope(() => this.#build());
    this.#panel = panel;
    this.#dispose = dispose;
    this.#focusFirst(panel);
    this.#desk.announce(t('pilot.title'));
  }

  /** Closes; `win` becomes the active window, else the focus returns. */
  close(win?: ShellWindow): void {
    if (!this.#panel) return;
    this.#dispose?.();
    takeOut(this.#panel);
    this.#panel = undefined;
    this.open.set(false);
    this.#desk.root.removeAttribute('data-piloting');
    for (const borrowed of this.#borrowed) this.#giveBack(borrowed);
    this.#borrowed.clear();
    const active = win ?? this.#desk.windows.active;
    if (active && !active.closed) this.#desk.windows.activate(active);
    else if (!giveFocus(this.#returnTo)) this.#desk.grids.focus();
  }

  #giveBack(win: ShellWindow): void {
    const { element } = win;
    element.inert = false;
    element.style.clipPath = '';
    element.classList.remove('shell-piloted');
    // The way back is animated too; after that the window is as free as before.
    element.classList.add('shell-landing');
    setTimeout(() => element.classList.remove('shell-landing'), 240);
    this.#desk.windows.refresh(win);
  }

  #build(): HTMLElement {
    const strip = h('div.shell-pilot-strip', { role: 'group', 'aria-label': () => t('webtop.region') });
    const field = h('div.shell-pilot-field', { role: 'group', 'aria-label': () => t('windows.region') });
    const panel: HTMLElement = h(
      'div.shell-pilot',
      {
        role: 'dialog',
        'aria-modal': 'true',
        'aria-label': () => t('pilot.title'),
        part: 'pilot',
        onkeydown: (event: KeyboardEvent) => this.#key(event, panel),
      },
      h('div.shell-pilot-backdrop', { onclick: () => this.close() }),
      strip,
      field,
    );
    this.#desk.windowLayer.append(panel);
    // The focus may be in the taskbar meanwhile.
    onDispose(listen(document, 'keydown', (event) => event.key === 'Escape' && this.close()));
    effect(() => {
      const webtops = this.#desk.webtops();
      const active = this.#desk.activeWebtop();
      this.#desk.windows.list();
      this.#desk.windows.revision();
      this.#desk.area();
      this.#revision();
      untracked(() => this.#draw(panel, strip, field, webtops, active));
    });
    return panel;
  }

  #draw(panel: HTMLElement, strip: HTMLElement, field: HTMLElement, webtops: readonly Webtop[], active: string): void {
    const focused = (document.activeElement as HTMLElement | null)?.dataset.pilot;
    strip.replaceChildren(...webtops.map((webtop) => this.#card(webtop, webtop.id === active)));
    if (webtops.length < MAX_WEBTOPS) strip.append(this.#addButton());
    const root = this.#desk.root.getBoundingClientRect();
    this.#slots.clear();
    for (const webtop of webtops) if (webtop.id !== active) this.#fillCard(strip, webtop, root);
    this.#fillField(field, active, root);
    if (focused)
      panel.querySelector<HTMLElement>(`[data-pilot="${CSS.escape(focused)}"]`)?.focus({ preventScroll: true });
    // What had the focus may be gone with its window.
    if (this.#panel && !panel.contains(document.activeElement)) this.#focusFirst(panel);
  }

  #focusFirst(panel: HTMLElement): void {
    const card = panel.querySelector<HTMLElement>('.shell-pilot-card-open[aria-current]');
    const first = panel.querySelector<HTMLElement>('.shell-pilot-window') ?? card;
    first?.focus({ preventScroll: true });
    card?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  #card(webtop: Webtop, current: boolean): HTMLElement {
    const title = this.#desk.webtopTitle(webtop);
    const screen = h('div.shell-pilot-screen', { 'aria-hidden': 'true' });
    const columns = this.#desk.upright.peek() ? 3 : WEBTOP_GRID.columns;
    for (const item of webtop.items) {
      const dot = h('i.shell-pilot-item');
      dot.style.gridColumnStart = String((item.cell % columns) + 1);
      dot.style.gridRowStart = String(Math.floor(item.cell / columns) + 1);
      screen.append(dot);
    }
    // The windows of the current webtop lie below, so that its card has drawings of them.
    if (current) screen.append(...this.#drawings(webtop));
    return h(
      'div.shell-pilot-card',
      { 'data-webtop': webtop.id, 'data-current': current },
      h(
        'button.shell-pilot-card-open',
        {
          'data-pilot': `card ${webtop.id}`,
          'aria-current': current ? 'true' : undefined,
          'aria-label': title,
          onclick: () => (current ? this.close() : this.#desk.showWebtop(webtop.id)),
        },
        screen,
        h('span.shell-pilot-title', { 'aria-hidden': 'true' }, title),
      ),
      this.#desk.webtops.peek().length > 1 &&
        closeButton(t('webtop.delete', { title }), () => this.#delete(webtop), {
          class: 'shell-icon-button shell-pilot-delete',
          'data-pilot': `delete ${webtop.id}`,
        }),
    );
  }

  #drawings(webtop: Webtop): HTMLElement[] {
    const area = this.#desk.area.peek();
    return this.#of(webtop.id)
      .filter((win) => !win.minimized)
      .map((win) => {
        const rect = this.#desk.windows.rect(win);
        const drawing = h('i.shell-pilot-drawing');
        drawing.style.left = `${((rect.x - area.x) / area.width) * 100}%`;
        drawing.style.top = `${((rect.y - area.y) / area.height) * 100}%`;
        drawing.style.width = `${(rect.width / area.width) * 100}%`;
        drawing.style.height = `${(rect.height / area.height) * 100}%`;
        const colour = plateColour(win.accent);
        if (colour) drawing.style.borderTopColor = toHex(colour);
        return drawing;
      });
  }

  #addButton(): HTMLElement {
    return h(
      'button.shell-pilot-add',
      {
        'data-pilot': 'add',
        'aria-label': t('webtop.add'),
        title: t('webtop.add'),
        onclick: () => this.#desk.setWebtops(addWebtop(this.#desk.webtops.peek(), newId('webtop'))),
      },
      glyph('plus'),
    );
  }

  /** Deletes a webtop; its windows and items go to the neighbour. */
  #delete(webtop: Webtop): void {
    const result = deleteWebtop(this.#desk.webtops.peek(), webtop.id);
    if (!result) {
      this.#desk.toasts.show(t('webtop.noRoom'), 'warning');
      return;
    }
    for (const win of this.#desk.windows.list.peek()) {
      if (win.webtop === webtop.id) this.#desk.windows.sendTo(win, result.neighbour);
    }
    if (this.#desk.activeWebtop.peek() === webtop.id) this.#desk.activeWebtop.set(result.neighbour);
    this.#desk.webtops.set(result.webtops);
    this.#panel?.querySelector<HTMLElement>('.shell-pilot-card-open[aria-current]')?.focus();
  }

  #of(webtop: string): ShellWindow[] {
    return this.#desk.windows.stacked().filter((win) => win.webtop === webtop);
  }

  /** Shrinks the windows of another webtop into its card, at their places. */
  #fillCard(strip: HTMLElement, webtop: Webtop, root: DOMRect): void {
    const screen = strip.querySelector(`[data-webtop="${CSS.escape(webtop.id)}"] .shell-pilot-screen`);
    if (!screen) return;
    const rect = screen.getBoundingClientRect();
    const area = this.#desk.area.peek();
    const scale = Math.min(rect.width / area.width, rect.height / area.height);
    for (const win of this.#of(webtop.id)) {
      const own = this.#desk.windows.rect(win);
      this.#borrow(win, {
        x: rect.left - root.left + (own.x - area.x) * scale,
        y: rect.top - root.top + (own.y - area.y) * scale,
        scale,
      });
      win.element.style.visibility = win.minimized ? 'hidden' : '';
    }
  }

  #fillField(field: HTMLElement, active: string, root: DOMRect): void {
    const wins = this.#of(active).reverse();
    const bounds = field.getBoundingClientRect();
    const area: Rect = {
      x: bounds.left - root.left,
      y: bounds.top - root.top,
      width: bounds.width,
      height: bounds.height - 32,
    };
    const rects = wins.map((win) => this.#desk.windows.rect(win));
    const places = packRows(rects, area, GAP, 0.85);
    field.replaceChildren(
      ...wins.map((win, index) => {
        const slot = places[index] ?? { x: 0, y: 0, scale: 0.1 };
        const rect = rects[index] ?? area;
        win.element.style.visibility = '';
        this.#borrow(win, slot);
        return this.#handle(win, slot, rect, area);
      }),
    );
    if (wins.length === 0) field.append(h('p.shell-pilot-empty', {}, t('pilot.empty')));
  }

  #borrow(win: ShellWindow, slot: Slot): void {
    this.#borrowed.add(win);
    this.#slots.set(win.id, slot);
    const { element } = win;
    element.classList.add('shell-piloted');
    element.inert = true;
    element.classList.remove('shell-away');
    element.style.transform = shift(slot, slot.scale);
  }

  /** The button over a window. */
  #handle(win: ShellWindow, slot: Slot, rect: Rect, field: Rect): HTMLElement {
    const handle: HTMLElement = h(
      'div.shell-pilot-slot',
      {},
      h(
        'button.shell-pilot-window',
        {
          'data-pilot': `window ${win.id}`,
          'aria-label': win.minimized ? t('pilot.minimized', { title: win.title }) : win.title,
          'aria-keyshortcuts': 'Delete',
          onclick: () => this.close(win),
          onpointerdown: (event: PointerEvent) => this.#press(event, win, handle),
          onkeydown: (event: KeyboardEvent) => event.key === 'Delete' && this.#desk.windows.close(win),
        },
        h(
          'span.shell-pilot-name',
          { 'aria-hidden': 'true' },
          plate(this.#desk, win.icon, win.accent),
          h('span', {}, win.title),
        ),
      ),
      closeButton(t('window.closeNamed', { title: win.title }), () => void this.#desk.windows.close(win), {
        class: 'shell-icon-button shell-pilot-close',
      }),
    );
    const { style } = handle;
    style.left = `${slot.x - field.x}px`;
    style.top = `${slot.y - field.y}px`;
    size(handle, { width: rect.width * slot.scale, height: rect.height * slot.scale });
    style.setProperty('--shell-name', `${Math.max(NAME_PX, rect.width * slot.scale)}px`);
    return handle;
  }

  /** Drags a window to the card of another webtop. */
  #press(event: PointerEvent, win: ShellWindow, handle: HTMLElement): void {
    if (event.button !== 0) return;
    const slot = this.#slots.get(win.id);
    if (!slot) return;
    let dragging = false;
    let over: Element | null = null;
    const carried = this.#carried(win, slot, event);
    // Measured once: the cards stay where they are while something is carried to them.
    const cards = [...(this.#panel?.querySelectorAll('.shell-pilot-card') ?? [])].map((card) => ({
      card,
      rect: card.getBoundingClientRect(),
    }));
    const mark = (card: Element | null) => {
      if (card === over) return;
      over?.removeAttribute('data-drop');
      over = card;
      over?.setAttribute('data-drop', '');
    };
    const move = (now: PointerEvent) => {
      const travel = Math.hypot(now.clientX - event.clientX, now.clientY - event.clientY);
      if (!dragging && travel < DRAG_START) return;
      if (!dragging) {
        dragging = true;
        handle.classList.add('shell-pilot-dragging');
        win.element.classList.add('shell-pilot-carried');
      }
      win.element.style.transform = carried(now);
      mark(cards.find(({ rect }) => contains(rect, { x: now.clientX, y: now.clientY }))?.card ?? null);
    };
    followPointer(move, (lifted) => {
      const target = over instanceof HTMLElement ? over.dataset.webtop : undefined;
      mark(null);
      if (!dragging) return;
      handle.classList.remove('shell-pilot-dragging');
      win.element.classList.remove('shell-pilot-carried');
      swallowClick(lifted !== undefined);
      if (lifted && target) this.#desk.windows.sendTo(win, target);
      this.#revision.update((count) => count + 1);
    });
  }

  /** Where a carried window is: under the pointer, and the smaller the nearer the cards it may be dropped on. */
  #carried(win: ShellWindow, slot: Slot, start: PointerEvent): (now: PointerEvent) => string {
    const root = this.#desk.root.getBoundingClientRect();
    const strip = this.#panel?.querySelector('.shell-pilot-strip')?.getBoundingClientRect();
    const rect = this.#desk.windows.rect(win);
    const small = Math.min(slot.scale, CARRIED_PX / Math.max(rect.width, rect.height));
    const [inX, inY] = [
      (start.clientX - root.left - slot.x) / slot.scale,
      (start.clientY - root.top - slot.y) / slot.scale,
    ];
    const way = Math.max(1, start.clientY - (strip?.bottom ?? 0));
    return (now) => {
      const near = clamp((start.clientY - now.clientY) / way, 0, 1);
      const scale = slot.scale + (small - slot.scale) * near;
      return shift({ x: now.clientX - root.left - inX * scale, y: now.clientY - root.top - inY * scale }, scale);
    };
  }

  #key(event: KeyboardEvent, panel: HTMLElement): void {
    const arrows = ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown'];
    if (arrows.includes(event.key)) {
      const all = panel.querySelectorAll<HTMLElement>('[data-pilot]');
      nearestTowards(event.key, document.activeElement ?? panel, all)?.focus({ preventScroll: true });
      consume(event);
    } else trapTab(panel, event);
  }
}
