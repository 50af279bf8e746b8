/** A grid of tiles on screen: a webtop, or the pages of a folder. Tiles are kept and changed, not made anew. */
import { clamp } from '../core/geometry.ts';
import { nearestItem, neighbour, pageOf, pageSize, type GridSize } from '../core/grid.ts';
import type { WebtopItem } from '../core/profile.ts';
import { scope, type Dispose } from '../core/signal.ts';
import type { Desk } from './desk.ts';
import { consume, h, pressedAt } from './dom.ts';
import { appPlate, badge, folderPlate, itemTitle } from './tiles.ts';

interface Tile {
  item: WebtopItem;
  /** What the picture was drawn from, to notice when it must be drawn again. */
  drawn: string;
  element: HTMLLIElement;
  button: HTMLButtonElement;
  dispose: Dispose;
}

/** Two presses of a tile within this time, which most systems allow for a double click, are one that was meant once. */
const TWICE_MS = 500;

const ARROWS: Record<string, 'Left' | 'Right' | 'Up' | 'Down'> = {
  ArrowLeft: 'Left',
  ArrowRight: 'Right',
  ArrowUp: 'Up',
  ArrowDown: 'Down',
};

/** What happens to tiles; the grid itself only shows and walks them. */
export interface GridActions {
  open(item: WebtopItem, tile: HTMLElement): void;
  menu(item: WebtopItem, anchor: { x: number; y: number } | Element): void;
  move(item: WebtopItem, cell: number): void;
  remove(item: WebtopItem): void;
  /** Called when an arrow key would leave the page. */
  edge?(key: 'Left' | 'Right' | 'Up' | 'Down'): void;
}

/** Tiles in cells. */
export class GridView {
  readonly element: HTMLUListElement;
  readonly container: string;
  page = 0;
  readonly #desk: Desk;
  readonly #size: GridSize;
  readonly #actions: GridActions;
  readonly #tiles = new Map<string, Tile>();
  #focused: string | undefined;
  /** The tile that was pressed last, and when. */
  #pressed: { id: string; at: number } | undefined;

  constructor(desk: Desk, container: string, size: GridSize, label: () => string, actions: GridActions) {
    this.#desk = desk;
    this.container = container;
    this.#size = size;
    this.#actions = actions;
    this.element = h('ul.shell-grid', { role: 'list', 'aria-label': label, 'data-container': container });
    this.element.addEventListener('click', (event) => this.#click(event));
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.element.addEventListener('contextmenu', (event) => this.#context(event));
    this.element.addEventListener('focusin', (event) => {
      this.#focused = this.#itemOf(event.target)?.id ?? this.#focused;
      this.#rove();
    });
  }

  /** Columns and rows as laid out: small screens held upright have three columns. */
  get size(): GridSize {
    if (!this.#desk.upright.peek()) return this.#size;
    return { columns: 3, rows: pageSize(this.#size) / 3 };
  }

  /** Shows the items; call inside an effect so that access, badges and language are followed. */
  render(items: readonly WebtopItem[]): void {
    this.#desk.upright();
    const { columns, rows } = this.size;
    this.element.style.setProperty('--shell-columns', String(columns));
    this.element.style.setProperty('--shell-rows', String(rows));
    const gone = new Set(this.#tiles.keys());
    for (const item of items) {
      gone.delete(item.id);
      this.#place(this.#draw(item), columns);
    }
    for (const id of gone) this.#drop(id);
    this.#rove();
  }

  #drop(id: string): void {
    const tile = this.#tiles.get(id);
    const hadFocus = tile?.button === document.activeElement;
    tile?.dispose();
    tile?.element.remove();
    this.#tiles.delete(id);
    if (hadFocus) queueMicrotask(() => this.focus());
  }

  #draw(item: WebtopItem): Tile {
    const app = item.kind === 'shortcut' ? this.#desk.usableApp(item.appId) : undefined;
    const title = itemTitle(this.#desk, item);
    const key = JSON.stringify([
      item,
      title,
      app?.icon,
      app?.accent,
      item.kind === 'folder' && this.#usable(item.items),
    ]);
    const old = this.#tiles.get(item.id);
    if (old?.drawn === key) return old;
    const [inner, dispose] = scope(() => [
      item.kind === 'folder' ? folderPlate(this.#desk, item) : app && appPlate(this.#desk, app, item),
      h('span.shell-tile-label', {}, title),
      badge(this.#desk, () => (item.kind === 'folder' ? item.items.map((one) => one.appId) : [item.appId])),
    ]);
    const button = old?.button ?? h('button.shell-tile', { 'data-item': item.id, tabindex: -1, part: 'tile' });
    const element = old?.element ?? h('li.shell-cell', {}, button);
    old?.dispose();
    button.replaceChildren(...inner.filter((node) => node !== undefined));
    button.toggleAttribute('data-folder', item.kind === 'folder');
    if (item.kind === 'folder') button.setAttribute('aria-haspopup', 'dialog');
    element.hidden = item.kind === 'shortcut' && !app;
    if (!old) this.element.append(element);
    const tile = { item, drawn: key, element, button, dispose };
    this.#tiles.set(item.id, tile);
    return tile;
  }

  #usable(items: readonly { appId: string }[]): boolean[] {
    return items.map((one) => this.#desk.usableApp(one.appId) !== undefined);
  }

  #place(tile: Tile, columns: number): void {
    const local = tile.item.cell % pageSize(this.#size);
    tile.element.style.gridColumnStart = String((local % columns) + 1);
    tile.element.style.gridRowStart = String(Math.floor(local / columns) + 1);
    tile.element.classList.toggle('shell-other-page', pageOf(tile.item.cell, this.#size) !== this.page);
  }

  /** Shows a page without drawing anything anew. */
  turnTo(page: number): void {
    this.page = page;
    for (const tile of this.#tiles.values()) this.#place(tile, this.size.columns);
    this.#rove();
  }

  /** Tiles that Tab and arrows reach. */
  #reachable(): Tile[] {
    return [...this.#tiles.values()].filter(
      (tile) => !tile.element.hidden && pageOf(tile.item.cell, this.#size) === this.page,
    );
  }

  #rove(): void {
    const reachable = this.#reachable().sort((a, b) => a.item.cell - b.item.cell);
    const current = reachable.find((tile) => tile.item.id === this.#focused) ?? reachable[0];
    for (const tile of this.#tiles.values()) tile.button.tabIndex = tile === current ? 0 : -1;
  }

  /** Focuses an item, or the one that had the focus last. Answers whether there was one. */
  focus(id?: string): boolean {
    const tile = id ? this.#tiles.get(id) : [...this.#tiles.values()].find((one) => one.button.tabIndex === 0);
    tile?.button.focus({ preventScroll: true });
    return tile !== undefined;
  }

  /** The tile of an item. */
  tile(id: string): HTMLElement | undefined {
    return this.#tiles.get(id)?.button;
  }

  /** The item an event happened on. */
  #itemOf(target: EventTarget | null): WebtopItem | undefined {
    const button = target instanceof Element ? target.closest<HTMLElement>('[data-item]') : null;
    return this.#tiles.get(button?.dataset.item ?? '')?.item;
  }

  /** The cell under a point, and how near its middle the point is (0 middle, 1 rim). */
  cellAt(x: number, y: number, rect: DOMRect): { cell: number; rim: number; item: WebtopItem | undefined } {
    const { columns, rows } = this.size;
    // Beside the block the nearest cell is meant.
    const column = clamp(Math.floor(((x - rect.left) / rect.width) * columns), 0, columns - 1);
    const row = clamp(Math.floor(((y - rect.top) / rect.height) * rows), 0, rows - 1);
    const [width, height] = [rect.width / columns, rect.height / rows];
    const dx = Math.abs(x - rect.left - (column + 0.5) * width) / (width / 2);
    const dy = Math.abs(y - rect.top - (row + 0.5) * height) / (height / 2);
    const cell = this.page * pageSize(this.#size) + row * columns + column;
    const item = [...this.#tiles.values()].find((tile) => tile.item.cell === cell && !tile.element.hidden)?.item;
    return { cell, rim: Math.max(dx, dy), item };
  }

  #click(event: MouseEvent): void {
    const item = this.#itemOf(event.target);
    const tile = item && this.tile(item.id);
    if (!item || !tile) return;
    // Many press twice; the second press means the first. Not every engine counts presses over a tile that has
    // opened a window meanwhile.
    const again = event.detail > 1 || (item.id === this.#pressed?.id && event.timeStamp - this.#pressed.at < TWICE_MS);
    this.#pressed = { id: item.id, at: event.timeStamp };
    // A key presses without counting, and means what it does.
    if (!again || event.detail === 0) this.#actions.open(item, tile);
  }

  #context(event: MouseEvent): void {
    const item = this.#itemOf(event.target);
    if (!item) return;
    consume(event);
    this.#actions.menu(item, pressedAt(event) ?? this.tile(item.id) ?? this.element);
  }

  #key(event: KeyboardEvent): void {
    const item = this.#itemOf(event.target);
    const arrow = ARROWS[event.key];
    if (!item || event.altKey || event.metaKey) return;
    if (arrow && event.ctrlKey) {
      const cell = neighbour(item.cell, arrow, { ...this.size });
      if (cell === undefined) this.#actions.edge?.(arrow);
      else this.#actions.move(item, cell);
    } else if (arrow) {
      const next = nearestItem(
        this.#reachable().map((tile) => tile.item),
        item.cell,
        arrow,
        this.size,
      );
      if (next) this.focus(next.id);
      else this.#actions.edge?.(arrow);
    } else if (event.key === 'Home' || event.key === 'End') {
      const inOrder = this.#reachable().sort((a, b) => a.item.cell - b.item.cell);
      this.focus(inOrder.at(event.key === 'Home' ? 0 : -1)?.item.id);
    } else if (event.key === 'Delete') this.#actions.remove(item);
    else if (event.key === 'F2' || (event.key === 'F10' && event.shiftKey)) {
      this.#actions.menu(item, this.tile(item.id) ?? this.element);
    } else return;
    consume(event);
  }

  /** Ends what the tiles started. */
  dispose(): void {
    for (const id of [...this.#tiles.keys()]) this.#drop(id);
    this.element.remove();
  }
}
