/**
 * Dragging tiles with mouse, pen and touch.
 *
 * | State   | Moved by                                         | Next                                     |
 * | ------- | ------------------------------------------------ | ---------------------------------------- |
 * | idle    | press on a tile                                  | pressed                                  |
 * | pressed | 5 px of travel (mouse, pen); 500 ms still (touch) | dragging: ghost, windows slide aside     |
 * | pressed | 8 px of travel (touch)                           | idle; sideways it turns the page         |
 * | dragging| rest at an edge for 600 ms                       | dragging, next webtop or page            |
 * | dragging| rest on a folder for 700 ms                      | dragging, folder opens                   |
 * | dragging| release                                          | idle, item placed                        |
 * | dragging| Escape, `pointercancel`, lost capture            | idle, nothing changed                    |
 *
 * Nothing is rendered while dragging: the ghost and one marker move, by `transform`, once per frame.
 */
import { signal } from '../core/signal.ts';
import type { Shortcut, WebtopItem } from '../core/profile.ts';
import { addItem, findItem, foldTogether, putItem } from '../core/workspace.ts';
import { t } from '../i18n.ts';
import type { Desk } from './desk.ts';
import { consume, followPointer, h, listen, newId, put, shift, size, swallowClick } from './dom.ts';
import type { GridView } from './grid-view.ts';
import { itemTitle } from './tiles.ts';
import type { Webtops } from './webtops.ts';

const START_PX = 5;
const TOUCH_TOLERANCE_PX = 8;
/** How far a finger goes for a swipe. */
const SWIPE_PX = 48;
const PRESS_MS = 500;
const EDGE_PX = 28;
const EDGE_MS = 600;
const OPEN_MS = 700;
const FOLD_MS = 450;
/** Largest side of the marker over the cell that a drop would hit. */
const MARKER_PX = 180;
/** A press nearer to the middle than this share of the cell means the item, not its place. */
const MIDDLE = 0.5;

type Target =
  | { kind: 'cell'; view: GridView; cell: number }
  | { kind: 'folder'; id: string }
  | { kind: 'fold'; id: string };

interface Drag {
  item: WebtopItem;
  isNew: boolean;
  source: HTMLElement;
  pointerId: number;
  touch: boolean;
  startX: number;
  startY: number;
  x: number;
  y: number;
  dragging: boolean;
  ghost: HTMLElement | undefined;
  offsetX: number;
  offsetY: number;
  target: Target | undefined;
  startWebtop: string;
}

/** Drags items between cells, webtops and folders. */
export class GridDrag {
  /** Whether a drag is under way; grids wait with rendering while it is. */
  readonly active = signal(false);
  readonly #desk: Desk;
  readonly #webtops: Webtops;
  readonly #word = h('span.shell-drop-word');
  readonly #marker = h('div.shell-drop', { 'aria-hidden': 'true', hidden: true }, this.#word);
  #drag: Drag | undefined;
  #ends: (() => void)[] = [];
  #press: ReturnType<typeof setTimeout> | undefined;
  #dwell: ReturnType<typeof setTimeout> | undefined;
  #dwellKey = '';
  #frame = 0;
  #rects = new Map<GridView, DOMRect>();

  constructor(desk: Desk, webtops: Webtops) {
    this.#desk = desk;
    this.#webtops = webtops;
    desk.topLayer.append(this.#marker);
    for (const area of [webtops.element, desk.topLayer]) {
      area.addEventListener('pointerdown', (event) => this.#down(event));
    }
  }

  #down(event: PointerEvent): void {
    const target = event.target instanceof Element ? event.target : null;
    const tile = target?.closest<HTMLElement>('.shell-grid [data-item]');
    const item = tile && findItem(this.#desk.webtops.peek(), tile.dataset.item ?? '')?.item;
    if (event.button !== 0 || this.#drag) return;
    if (tile && item) this.begin(event, item, tile, false);
    else if (event.pointerType === 'touch' && target?.closest('.shell-main')) this.#swipe(event);
  }

  /** A sideways swipe over the webtop turns to the next one; a finger that stays asks for its menu, as not all browsers do. */
  #swipe({ clientX: x, clientY: y }: PointerEvent): void {
    const { menus } = this.#desk;
    onSwipe(
      x,
      y,
      (step) => this.#desk.stepWebtop(step),
      () => menus.isOpen || this.#webtops.menu({ x, y }),
    );
  }

  /** Starts a press that may become a drag; `isNew` adds the item instead of moving it. */
  begin(event: PointerEvent, item: WebtopItem, source: HTMLElement, isNew: boolean): void {
    const touch = event.pointerType === 'touch';
    this.#drag = {
      item,
      isNew,
      source,
      pointerId: event.pointerId,
      touch,
      startX: event.clientX,
      startY: event.clientY,
      x: event.clientX,
      y: event.clientY,
      dragging: false,
      ghost: undefined,
      offsetX: 0,
      offsetY: 0,
      target: undefined,
      startWebtop: this.#desk.activeWebtop.peek(),
    };
    if (touch) {
      // Chromium opens a context menu of its own on a long press; the drag comes first and a still release opens ours.
      this.#press = setTimeout(() => this.#start(), PRESS_MS);
    }
    this.#ends = [
      listen(document, 'pointermove', (move) => this.#move(move)),
      listen(document, 'pointerup', (up) => this.#up(up)),
      listen(document, 'pointercancel', () => this.cancel()),
      listen(document, 'keydown', (key) => this.#key(key), { capture: true }),
      listen(document, 'contextmenu', (menu) => touch && consume(menu), { capture: true }),
      listen(window, 'blur', () => this.cancel()),
    ];
  }

  #key(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !this.#drag?.dragging) return;
    consume(event);
    this.cancel();
  }

  #move(event: PointerEvent): void {
    const drag = this.#drag;
    if (!drag || event.pointerId !== drag.pointerId) return;
    drag.x = event.clientX;
    drag.y = event.clientY;
    if (!drag.dragging) {
      const travel = Math.hypot(drag.x - drag.startX, drag.y - drag.startY);
      if (drag.touch ? travel > TOUCH_TOLERANCE_PX : travel >= START_PX) {
        if (drag.isNew && drag.touch) this.#finish();
        else if (drag.touch) this.#abandon(event);
        else this.#start();
      }
      return;
    }
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#draw();
    });
  }

  /** A finger that moved before the press was long enough swipes. */
  #abandon(event: PointerEvent): void {
    const start = this.#drag;
    this.#finish();
    if (!start) return;
    onSwipe(start.startX, start.startY, (step) => {
      if (this.#webtops.folder.isOpen) this.#webtops.folder.turn(step);
      else this.#desk.stepWebtop(step);
    });
    event.preventDefault();
  }

  #start(): void {
    const drag = this.#drag;
    if (!drag || drag.dragging) return;
    drag.dragging = true;
    this.active.set(true);
    const picture = drag.source.querySelector('.shell-plate') ?? drag.source;
    const rect = picture.getBoundingClientRect();
    // What is carried out of the start menu is measured before that goes.
    this.#desk.start.close(false);
    this.#desk.shield.hidden = false;
    this.#desk.shield.style.cursor = 'grabbing';
    const ghost = h('div.shell-ghost', { 'aria-hidden': 'true' }, picture.cloneNode(true));
    size(ghost, rect);
    drag.ghost = ghost;
    drag.offsetX = Math.min(Math.max(drag.startX - rect.left, 0), rect.width);
    drag.offsetY = Math.min(Math.max(drag.startY - rect.top, 0), rect.height);
    this.#desk.topLayer.append(ghost);
    if (!drag.isNew) drag.source.classList.add('shell-tile-source');
    if (!this.#webtops.folder.isOpen) this.#desk.windows.aside(true);
    if (drag.touch) navigator.vibrate?.(10);
    this.#draw();
  }

  #draw(): void {
    const drag = this.#drag;
    if (!drag?.ghost) return;
    // Over what it would join it becomes small and leaves the other in sight.
    const scale = drag.target && drag.target.kind !== 'cell' ? 0.55 : 1.06;
    drag.ghost.style.transform = shift({ x: drag.x - drag.offsetX, y: drag.y - drag.offsetY }, scale);
    const edge = this.#edgeStep(drag);
    if (edge !== 0) {
      this.#wait(`edge${edge}`, EDGE_MS, () => this.#turn(edge));
      return;
    }
    this.#aim(drag);
  }

  #edgeStep(drag: Drag): number {
    const panel = this.#webtops.folder.panel?.getBoundingClientRect();
    const [left, right] = panel ? [panel.left, panel.right] : [0, innerWidth];
    if (panel && (drag.y < panel.top || drag.y > panel.bottom || drag.x < left - EDGE_PX || drag.x > right + EDGE_PX))
      return 0;
    if (drag.x < left + EDGE_PX) return -1;
    return drag.x > right - EDGE_PX ? 1 : 0;
  }

  #turn(step: number): void {
    const turned = this.#webtops.folder.isOpen ? this.#webtops.folder.turn(step) : this.#desk.stepWebtop(step);
    this.#rects.clear();
    if (turned && !this.#webtops.folder.isOpen) queueMicrotask(() => this.#desk.windows.aside(true));
    this.#dwellKey = '';
    // The pointer may rest at the edge and turn on.
    if (turned && this.#drag) this.#draw();
  }

  /** Finds what the pointer means and marks it. */
  #aim(drag: Drag): void {
    const folder = this.#webtops.folder;
    const panel = folder.panel?.getBoundingClientRect();
    const inPanel =
      panel && drag.x >= panel.left && drag.x <= panel.right && drag.y >= panel.top && drag.y <= panel.bottom;
    if (folder.isOpen && !inPanel) {
      this.#wait('leave', 350, () => {
        folder.close(false);
        this.#rects.clear();
        this.#desk.windows.aside(true);
        this.#draw();
      });
      this.#mark(undefined);
      return;
    }
    const view = folder.isOpen ? folder.view : this.#webtops.current;
    const at = view && this.#cellAt(view, drag);
    if (!view || !at) {
      this.#wait('', 0, () => {});
      this.#mark(undefined);
      return;
    }
    const over = at.item && at.item.id !== drag.item.id && at.rim < MIDDLE ? at.item : undefined;
    if (over?.kind === 'folder' && drag.item.kind === 'shortcut') {
      this.#mark({ kind: 'folder', id: over.id });
      this.#wait(`open${over.id}`, OPEN_MS, () => {
        this.#rects.clear();
        folder.open(over.id);
        this.#desk.windows.aside(false);
      });
    } else if (over?.kind === 'shortcut' && drag.item.kind === 'shortcut' && !folder.isOpen) {
      if (drag.target?.kind !== 'fold' || drag.target.id !== over.id) this.#mark({ kind: 'cell', view, cell: at.cell });
      this.#wait(`fold${over.id}`, FOLD_MS, () => {
        this.#mark({ kind: 'fold', id: over.id });
        this.#draw();
      });
    } else {
      this.#wait('', 0, () => {});
      this.#mark({ kind: 'cell', view, cell: at.cell });
    }
  }

  #cellAt(view: GridView, drag: Drag): ReturnType<GridView['cellAt']> {
    let rect = this.#rects.get(view);
    if (!rect) {
      rect = view.element.getBoundingClientRect();
      this.#rects.set(view, rect);
    }
    return view.cellAt(drag.x, drag.y, rect);
  }

  /** Runs `act` when the pointer stays at the same thing for a while. */
  #wait(key: string, after: number, act: () => void): void {
    if (key === this.#dwellKey) return;
    this.#dwellKey = key;
    clearTimeout(this.#dwell);
    if (key) this.#dwell = setTimeout(act, after);
  }

  #mark(target: Target | undefined): void {
    const drag = this.#drag;
    if (!drag) return;
    drag.target = target;
    this.#marker.hidden = target === undefined;
    if (!target) return;
    this.#marker.dataset.kind = target.kind;
    const view = target.kind === 'cell' ? target.view : this.#webtops.current;
    const rect = view && this.#rects.get(view);
    const { columns, rows } = view?.size ?? { columns: 1, rows: 1 };
    const item = target.kind === 'cell' ? undefined : findItem(this.#desk.webtops.peek(), target.id)?.item;
    this.#word.textContent =
      target.kind === 'fold' ? t('folder.make') : item ? t('folder.into', { title: itemTitle(this.#desk, item) }) : '';
    const cell = (target.kind === 'cell' ? target.cell : (item?.cell ?? 0)) % (columns * rows);
    if (!rect) return;
    const [width, height] = [rect.width / columns, rect.height / rows];
    const mark = { width: Math.min(width, MARKER_PX), height: Math.min(height, MARKER_PX) };
    const x = rect.left + (cell % columns) * width + (width - mark.width) / 2;
    const y = rect.top + Math.floor(cell / columns) * height + (height - mark.height) / 2;
    put(this.#marker, { x, y, ...mark });
  }

  #up(event: PointerEvent): void {
    const drag = this.#drag;
    if (!drag || event.pointerId !== drag.pointerId) return;
    if (!drag.dragging) {
      this.#finish();
      return;
    }
    drag.x = event.clientX;
    drag.y = event.clientY;
    const still = Math.hypot(drag.x - drag.startX, drag.y - drag.startY) < TOUCH_TOLERANCE_PX;
    if (!still) this.#draw();
    swallowClick(true);
    const target = still ? undefined : drag.target;
    this.#finish();
    if (target) this.#drop(drag, target);
    else if (still && drag.touch) this.#menu(drag);
  }

  /** A long press that went nowhere asks for the menu of what lies there. */
  #menu({ item, isNew, source, x, y }: Drag): void {
    if (isNew) source.dispatchEvent(new MouseEvent('contextmenu', { clientX: x, clientY: y, cancelable: true }));
    else this.#webtops.itemMenu(item, { x, y });
  }

  #drop(drag: Drag, target: Target): void {
    const all = this.#desk.webtops.peek();
    const { item } = drag;
    if (target.kind === 'cell')
      this.#desk.setWebtops(putItem(all, item, { container: target.view.container, cell: target.cell }));
    else if (target.kind === 'folder') this.#desk.setWebtops(addItem(all, item, target.id));
    else {
      const withItem = drag.isNew ? addItem(all, item as Shortcut, this.#desk.activeWebtop.peek()) : all;
      this.#desk.setWebtops(
        withItem && foldTogether(withItem, target.id, item.id, { id: newId('folder'), title: t('folder.untitled') }),
      );
    }
    // The tile may be another element now, on another page or webtop; the grids are drawn before this runs.
    queueMicrotask(() => {
      const view = this.#webtops.folder.view ?? this.#webtops.current;
      if (!view?.focus(item.id)) view?.focus();
    });
  }

  /** Ends the drag and leaves everything as it was. */
  cancel(): void {
    const drag = this.#drag;
    this.#finish();
    if (!drag?.dragging) return;
    swallowClick(false);
    this.#desk.showWebtop(drag.startWebtop);
  }

  #finish(): void {
    const drag = this.#drag;
    this.#drag = undefined;
    clearTimeout(this.#press);
    clearTimeout(this.#dwell);
    this.#dwellKey = '';
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    this.#rects.clear();
    for (const end of this.#ends.splice(0)) end();
    if (!drag?.dragging) return;
    drag.ghost?.remove();
    drag.source.classList.remove('shell-tile-source');
    this.#marker.hidden = true;
    this.#desk.shield.hidden = true;
    this.#desk.windows.aside(false);
    this.active.set(false);
  }
}

/** Waits for the finger to be lifted; `turn` learns the direction of a sideways swipe, `stay` of none at all. */
function onSwipe(x: number, y: number, turn: (step: 1 | -1) => void, stay?: () => void): void {
  const press = stay && setTimeout(stay, PRESS_MS);
  followPointer(
    ({ clientX, clientY }) => {
      if (Math.hypot(clientX - x, clientY - y) > TOUCH_TOLERANCE_PX) clearTimeout(press);
    },
    (lifted) => {
      clearTimeout(press);
      const dx = (lifted?.clientX ?? x) - x;
      const dy = (lifted?.clientY ?? y) - y;
      if (Math.abs(dx) > SWIPE_PX && Math.abs(dx) > Math.abs(dy) * 1.5) turn(dx < 0 ? 1 : -1);
    },
  );
}
