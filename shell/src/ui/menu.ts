/**
 * Menus as the ARIA pattern says: arrow keys, Home, End, first letters, submenus to the side, Escape; focus returns. A press
 * beside them only closes them.
 */
import { clamp } from '../core/geometry.ts';
import { scope, type Dispose } from '../core/signal.ts';
import { consume, giveFocus, h, listen, takeOut, together } from './dom.ts';
import { glyph, type GlyphName } from './glyphs.ts';
import { layScrim } from './scrim.ts';

/** How long the pointer rests on an item before its submenu opens, and how long an open one stays when it leaves. */
const SUBMENU_OPENS_MS = 110;
const SUBMENU_STAYS_MS = 240;

/** An entry of a menu. */
export interface MenuEntry {
  title: string;
  icon?: GlyphName | undefined;
  /** A picture instead of a drawing. */
  picture?: Element | undefined;
  shortcut?: string;
  disabled?: boolean;
  /** Makes it a radio or check entry. */
  checked?: boolean;
  danger?: boolean;
  run?(): void;
  entries?: MenuEntry[];
  /** Shows its entries as a grid of pictures with this many columns; their titles are spoken. */
  columns?: number;
}

/** Entries, with `separator` between groups. */
export type MenuEntries = (MenuEntry | 'separator')[];

/** Where a menu opens: at a point, or beside an element. */
export type MenuAnchor = { x: number; y: number } | Element;

interface OpenMenu {
  element: HTMLElement;
  owner: HTMLElement | undefined;
  dispose: Dispose;
}

/** Opens menus above everything else. */
export class MenuLayer {
  readonly #layer: HTMLElement;
  readonly #giveBack: () => void;
  #stack: OpenMenu[] = [];
  #returnTo: Element | null = null;
  #end: Dispose | undefined;
  #hover: ReturnType<typeof setTimeout> | undefined;
  /** The item under the pointer, until a key moves the focus elsewhere. */
  #pointed: Element | undefined;

  /** `giveBack` takes the focus when where it was is gone, too. */
  constructor(layer: HTMLElement, giveBack: () => void) {
    this.#layer = layer;
    this.#giveBack = giveBack;
  }

  get isOpen(): boolean {
    return this.#stack.length > 0;
  }

  /** Opens a menu and moves the focus into it. */
  open(entries: MenuEntries, anchor: MenuAnchor, label: string): void {
    this.close(false);
    this.#returnTo = document.activeElement;
    this.#end = together(
      layScrim(this.#layer, () => this.close()),
      // A touch that opens a menu may take the focus back to what was touched; Escape closes the menu all the same.
      listen(
        document,
        'keydown',
        (event) => {
          if (event.key !== 'Escape' || this.#stack.some((menu) => menu.element.contains(event.target as Node))) return;
          consume(event);
          this.close();
        },
        { capture: true },
      ),
      listen(window, 'blur', () => this.close(false)),
      listen(window, 'resize', () => this.close()),
    );
    this.#push(entries, anchor, label, undefined);
  }

  /** Closes all menus; the focus goes back to where it was. */
  close(restoreFocus = true): void {
    if (this.#stack.length === 0) return;
    this.#end?.();
    clearTimeout(this.#hover);
    this.#pointed = undefined;
    while (this.#stack.length > 0) this.#pop();
    const back = this.#returnTo;
    this.#returnTo = null;
    if (restoreFocus && !giveFocus(back)) this.#giveBack();
  }

  #pop(): void {
    const menu = this.#stack.pop();
    menu?.owner?.setAttribute('aria-expanded', 'false');
    menu?.dispose();
    takeOut(menu?.element);
  }

  #push(
    entries: MenuEntries,
    anchor: MenuAnchor,
    label: string,
    owner: HTMLElement | undefined,
    focus = true,
    columns?: number,
  ): void {
    const [element, dispose] = scope(() => this.#build(entries, label));
    if (columns) element.dataset.columns = String(columns);
    owner?.setAttribute('aria-expanded', 'true');
    this.#stack.push({ element, owner, dispose });
    this.#layer.append(element);
    place(element, anchor, owner !== undefined);
    if (!focus) return;
    (element.querySelector<HTMLElement>('[role^=menuitem]:not([aria-disabled])') ?? element).focus({
      preventScroll: true,
    });
  }

  #build(entries: MenuEntries, label: string): HTMLElement {
    const menu = h('div.shell-menu', { role: 'menu', 'aria-label': label, tabindex: -1, part: 'menu' });
    for (const entry of entries) {
      menu.append(entry === 'separator' ? h('div.shell-menu-line', { role: 'separator' }) : this.#item(entry));
    }
    menu.addEventListener('keydown', (event) => this.#key(menu, event));
    menu.addEventListener('contextmenu', (event) => event.preventDefault());
    return menu;
  }

  #item(entry: MenuEntry): HTMLElement {
    const icon = entry.checked && !entry.picture ? glyph('check') : entry.icon ? glyph(entry.icon) : undefined;
    const item: HTMLElement = h(
      'button.shell-menu-item',
      {
        role: entry.checked === undefined ? 'menuitem' : 'menuitemradio',
        tabindex: -1,
        'aria-checked': entry.checked === undefined ? undefined : String(entry.checked),
        'aria-disabled': entry.disabled ? 'true' : undefined,
        'aria-haspopup': entry.entries ? 'menu' : undefined,
        'aria-expanded': entry.entries ? 'false' : undefined,
        'data-danger': entry.danger,
        title: entry.picture && entry.checked !== undefined ? entry.title : undefined,
        onclick: () => this.#run(entry, item),
        // Moves, not entering: a menu that opens by keys under a resting pointer isn't pointed at.
        onpointermove: (event: PointerEvent) => {
          if (event.pointerType === 'touch' || this.#pointed === item) return;
          this.#pointed = item;
          item.focus({ preventScroll: true });
          this.#rest(entry, item);
        },
      },
      h('span.shell-menu-icon', {}, entry.picture ?? icon),
      h('span.shell-menu-text', {}, entry.title),
      entry.shortcut && h('kbd.shell-menu-key', { 'aria-hidden': 'true' }, entry.shortcut),
      entry.entries && glyph('chevronRight'),
    );
    return item;
  }

  /**
   * The pointer rests on an item: its submenu opens. A submenu that's open waits a little longer before it goes, since the
   * way into it often leads across other items.
   */
  #rest(entry: MenuEntry, item: HTMLElement): void {
    clearTimeout(this.#hover);
    const owner = this.#stack.at(-1)?.owner;
    const wait = this.#stack.length > 1 && owner !== item && !this.#stack.at(-1)?.element.contains(item);
    this.#hover = setTimeout(
      () => {
        if (!item.isConnected) return;
        this.#closeBelow(item);
        if (entry.entries && !entry.disabled && this.#stack.at(-1)?.owner !== item)
          this.#push(entry.entries, item, entry.title, item, false, entry.columns);
      },
      wait ? SUBMENU_STAYS_MS : SUBMENU_OPENS_MS,
    );
  }

  /** Closes submenus opened from siblings of `item`. */
  #closeBelow(item: Element): void {
    while (this.#stack.length > 1 && !this.#stack.at(-1)?.element.contains(item)) {
      if (this.#stack.at(-1)?.owner === item) return;
      this.#pop();
    }
  }

  #run(entry: MenuEntry, item: HTMLElement): void {
    if (entry.disabled) return;
    if (entry.entries) {
      this.#closeBelow(item);
      const open = this.#stack.at(-1);
      if (open?.owner === item) open.element.querySelector<HTMLElement>('[role^=menuitem]')?.focus();
      else this.#push(entry.entries, item, entry.title, item, true, entry.columns);
      return;
    }
    this.close();
    entry.run?.();
  }

  #key(menu: HTMLElement, event: KeyboardEvent): void {
    const items = [...menu.querySelectorAll<HTMLElement>('[role^=menuitem]')];
    const at = items.indexOf(document.activeElement as HTMLElement);
    this.#pointed = undefined;
    const focus = (index: number) => items[(index + items.length) % items.length]?.focus();
    const submenu = items[at]?.getAttribute('aria-haspopup') === 'menu';
    const columns = Number(menu.dataset.columns ?? 0);
    const step = columns
      ? { ArrowDown: columns, ArrowUp: -columns, ArrowRight: 1, ArrowLeft: -1 }[event.key]
      : undefined;
    // To the left of a grid's first column lies the menu it came from.
    if (step && !(event.key === 'ArrowLeft' && at % columns === 0)) focus(clamp(at + step, 0, items.length - 1));
    else if (event.key === 'ArrowDown') focus(at + 1);
    else if (event.key === 'ArrowUp') focus(at < 0 ? items.length - 1 : at - 1);
    else if (event.key === 'Home') focus(0);
    else if (event.key === 'End') focus(items.length - 1);
    else if (event.key === 'ArrowRight' && submenu) items[at]?.click();
    else if (event.key === 'ArrowLeft' && this.#stack.length > 1) this.#back();
    else if (event.key === 'Escape' && this.#stack.length > 1) this.#back();
    else if (event.key === 'Escape' || event.key === 'Tab') this.close();
    else if (event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.metaKey) {
      const letter = event.key.toLowerCase();
      const order = [...items.slice(at + 1), ...items.slice(0, at + 1)];
      order.find((item) => item.textContent?.trim().toLowerCase().startsWith(letter))?.focus();
    } else return;
    consume(event);
  }

  #back(): void {
    const owner = this.#stack.at(-1)?.owner;
    this.#pop();
    owner?.focus({ preventScroll: true });
  }
}

/** Puts a floating box beside its anchor and inside the window. */
export function place(box: HTMLElement, anchor: MenuAnchor, sideways = false): void {
  const margin = 8;
  const { width, height } = box.getBoundingClientRect();
  const [maxX, maxY] = [innerWidth - width - margin, innerHeight - height - margin];
  let x: number;
  let y: number;
  if (!(anchor instanceof Element)) {
    x = anchor.x;
    y = anchor.y > maxY && anchor.y - height > margin ? anchor.y - height : anchor.y;
  } else {
    const rect = anchor.getBoundingClientRect();
    if (sideways) {
      x = rect.right - 4 > maxX && rect.left - width + 4 > margin ? rect.left - width + 4 : rect.right - 4;
      y = rect.top - 6;
    } else {
      x = rect.left;
      y = rect.bottom + 6 > maxY && rect.top - height - 6 > margin ? rect.top - height - 6 : rect.bottom + 6;
    }
  }
  box.style.left = `${Math.round(clamp(x, margin, Math.max(margin, maxX)))}px`;
  box.style.top = `${Math.round(clamp(y, margin, Math.max(margin, maxY)))}px`;
}
