/**
 * Moving and resizing windows with mouse, pen and touch.
 *
 * A gesture begins on a title bar or a resize handle, becomes a drag after 5 px, and ends with release, Escape,
 * `pointercancel` or lost capture. While it lasts, one element changes per frame, and a shield keeps frames from
 * swallowing the pointer. A move reads nothing from the page and lays nothing out, however many windows are open.
 */
import { clamp, resize, type Edge, type Point, type Rect } from '../core/geometry.ts';
import { placementRect, seams, snapAt, type Placement, type Split } from '../core/snap.ts';
import type { Desk } from './desk.ts';
import { consume, h, listen, put, shift, size } from './dom.ts';
import type { ShellWindow } from './window.ts';
import { snapTo } from './window-menu.ts';

const DRAG_START = 5;
const DOUBLE_TAP_MS = 350;
const EDGES: Edge[] = ['n', 's', 'e', 'w', 'ne', 'nw', 'se', 'sw'];

interface Gesture {
  win: ShellWindow;
  pointerId: number;
  start: Point;
  startRect: Rect;
  last: Point;
  edge: Edge | undefined;
  dragging: boolean;
  guide: Placement | undefined;
  rect: Rect;
  area: Rect;
  /** Where the seams were, when one is moved. */
  split: Split | undefined;
  /** What carries the window while it's moved. */
  carrier: Carrier | undefined;
  before: { bounds: Rect; placement: Placement };
}

/** Handles pointers on window frames. */
export class MoveController {
  readonly #desk: Desk;
  readonly #guide = h('div.shell-guide', { 'aria-hidden': 'true', part: 'snap-guide' });
  /** One set of handles, in whichever window the pointer is over. */
  readonly #handles = h(
    'div.shell-handles',
    { 'aria-hidden': 'true' },
    EDGES.map((edge) => h('div.shell-handle', { 'data-edge': edge })),
  );
  #gesture: Gesture | undefined;
  #frame = 0;
  #ends: (() => void)[] = [];
  #lastTap = { time: 0, id: '', x: 0, y: 0 };

  constructor(desk: Desk) {
    this.#desk = desk;
    const layer = desk.windowLayer;
    layer.append(this.#guide);
    layer.addEventListener('pointerdown', (event) => this.#down(event));
    layer.addEventListener('pointerover', (event) => this.#over(event));
  }

  #windowOf(target: EventTarget | null): ShellWindow | undefined {
    const element = target instanceof Element ? target.closest<HTMLElement>('.shell-window') : null;
    return this.#desk.windows.get(element?.dataset.id);
  }

  #over(event: PointerEvent): void {
    if (this.#gesture || this.#desk.compact.peek() || this.#desk.popOut) return;
    const win = this.#windowOf(event.target);
    const resizable = win && (win.placement === 'normal' || seams(win.placement));
    if (resizable && this.#handles.parentElement !== win.element) win.element.append(this.#handles);
  }

  #down(event: PointerEvent): void {
    const win = this.#windowOf(event.target);
    const target = event.target as Element;
    if (!win || this.#gesture || this.#desk.pilot.isOpen) return;
    const control = target.closest('button');
    if (this.#desk.windows.activeId.peek() !== win.id) {
      this.#desk.windows.activate(win, !control && !win.body.contains(target));
    }
    const edge = target instanceof HTMLElement ? (target.dataset.edge as Edge | undefined) : undefined;
    if (event.button !== 0 || this.#desk.compact.peek() || this.#desk.popOut) return;
    const onSeam = edge !== undefined && [...edge].every((side) => seams(win.placement).includes(side));
    if (edge && (win.placement === 'normal' || onSeam)) this.#begin(win, event, edge);
    else if (!control && target.closest('.shell-titlebar')) this.#begin(win, event, undefined);
  }

  #begin(win: ShellWindow, event: PointerEvent, edge: Edge | undefined): void {
    const rect = this.#desk.windows.rect(win);
    const point = { x: event.clientX, y: event.clientY };
    this.#gesture = {
      win,
      pointerId: event.pointerId,
      start: point,
      startRect: rect,
      last: point,
      edge,
      dragging: false,
      guide: undefined,
      rect,
      area: this.#desk.area.peek(),
      split: edge && win.placement !== 'normal' ? this.#desk.windows.seams.of(win.webtop) : undefined,
      carrier: undefined,
      before: { bounds: win.bounds, placement: win.placement },
    };
    const holder = event.target as HTMLElement;
    holder.setPointerCapture(event.pointerId);
    this.#ends = [
      listen(holder, 'pointermove', (move) => this.#move(move)),
      listen(holder, 'pointerup', (up) => this.#up(up)),
      listen(holder, 'pointercancel', () => this.#cancel()),
      listen(holder, 'lostpointercapture', () => this.#cancel()),
      listen(document, 'keydown', (key) => this.#key(key), { capture: true }),
    ];
  }

  #key(event: KeyboardEvent): void {
    if (event.key !== 'Escape' || !this.#gesture?.dragging) return;
    consume(event);
    this.#cancel();
  }

  #move(event: PointerEvent): void {
    const gesture = this.#gesture;
    if (!gesture || event.pointerId !== gesture.pointerId) return;
    const point = { x: event.clientX, y: event.clientY };
    gesture.last = point;
    if (!gesture.dragging) {
      if (Math.hypot(point.x - gesture.start.x, point.y - gesture.start.y) < DRAG_START) return;
      this.#startDrag(gesture);
    }
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      if (this.#gesture) this.#draw(this.#gesture);
    });
  }

  #startDrag(gesture: Gesture): void {
    gesture.dragging = true;
    const { win, startRect, start } = gesture;
    if (!gesture.edge && win.placement !== 'normal') {
      // The window shrinks back under the pointer, which keeps its relative place on the title bar.
      const share = clamp((start.x - startRect.x) / startRect.width, 0, 1);
      const width = Math.min(win.bounds.width, gesture.area.width);
      const height = Math.min(win.bounds.height, gesture.area.height);
      gesture.startRect = { x: start.x - width * share, y: startRect.y, width, height };
      win.element.dataset.placement = 'normal';
      size(win.element, gesture.startRect);
    }
    if (!gesture.edge) gesture.carrier = new Carrier(win.element, gesture.startRect);
    win.element.classList.add('shell-dragging');
    this.#desk.shield.hidden = false;
    this.#desk.shield.style.cursor = gesture.edge ? `${gesture.edge}-resize` : 'grabbing';
  }

  #draw(gesture: Gesture, keep = false): void {
    const { win, start, last, startRect, area } = gesture;
    const [dx, dy] = [last.x - start.x, last.y - start.y];
    if (gesture.edge && gesture.split) {
      const { x, y } = gesture.split;
      const [sideways, upright] = [/[ew]/.test(gesture.edge), /[ns]/.test(gesture.edge)];
      const seam = { x: sideways ? x + dx / area.width : x, y: upright ? y + dy / area.height : y };
      this.#desk.windows.seams.move(win.webtop, seam, keep);
    } else if (gesture.edge) {
      gesture.rect = resize(startRect, gesture.edge, dx, dy, area);
      put(win.element, gesture.rect);
    } else {
      gesture.rect = { ...startRect, x: startRect.x + dx, y: Math.max(area.y, startRect.y + dy) };
      gesture.carrier?.to(gesture.rect);
      this.#showGuide(gesture, snapAt(last, area, gesture.guide));
    }
  }

  #showGuide(gesture: Gesture, placement: Placement | undefined): void {
    if (placement === gesture.guide) return;
    const style = this.#guide.style;
    const fresh = gesture.guide === undefined;
    gesture.guide = placement;
    this.#guide.toggleAttribute('data-shown', placement !== undefined);
    if (!placement || placement === 'normal') return;
    const from = gesture.rect;
    const to = placementRect(placement, gesture.area, this.#desk.windows.seams.of(gesture.win.webtop));
    style.zIndex = String(Number(gesture.win.element.style.zIndex) - 1);
    if (fresh) {
      style.transition = 'none';
      put(this.#guide, from);
      this.#guide.getBoundingClientRect();
      style.transition = '';
    }
    put(this.#guide, to);
  }

  #up(event: PointerEvent): void {
    const gesture = this.#gesture;
    if (!gesture || event.pointerId !== gesture.pointerId) return;
    if (!gesture.dragging) {
      this.#finish();
      this.#tap(gesture, event);
      return;
    }
    gesture.last = { x: event.clientX, y: event.clientY };
    this.#draw(gesture, true);
    if (gesture.split) {
      this.#finish();
      return;
    }
    const target = gesture.edge ? undefined : snapAt(gesture.last, gesture.area, gesture.guide);
    this.#finish();
    const { windows } = this.#desk;
    if (target && target !== 'normal') {
      // Restoring later goes back to where the window was before, not to the edge it was dropped at.
      if (gesture.before.placement === 'normal') gesture.win.bounds = gesture.before.bounds;
      snapTo(this.#desk, gesture.win, target, gesture.rect);
      gesture.win.lastKey = undefined;
    } else windows.setBounds(gesture.win, roundRect(gesture.rect));
  }

  #tap(gesture: Gesture, event: PointerEvent): void {
    const tap = { time: event.timeStamp, id: gesture.win.id, x: event.clientX, y: event.clientY };
    const last = this.#lastTap;
    this.#lastTap = tap;
    const twice =
      tap.id === last.id && tap.time - last.time < DOUBLE_TAP_MS && Math.hypot(tap.x - last.x, tap.y - last.y) < 12;
    if (!twice || gesture.edge) return;
    this.#lastTap = { time: 0, id: '', x: 0, y: 0 };
    this.#desk.windows.toggleMaximized(gesture.win);
  }

  #cancel(): void {
    const gesture = this.#gesture;
    if (!gesture) return;
    this.#finish();
    if (!gesture.dragging) return;
    if (gesture.split) {
      this.#desk.windows.seams.move(gesture.win.webtop, gesture.split, true);
      return;
    }
    const { bounds, placement } = gesture.before;
    gesture.win.bounds = bounds;
    this.#desk.windows.place(gesture.win, placement, gesture.rect);
  }

  #finish(): void {
    const gesture = this.#gesture;
    this.#gesture = undefined;
    cancelAnimationFrame(this.#frame);
    this.#frame = 0;
    for (const end of this.#ends.splice(0)) end();
    gesture?.carrier?.end();
    gesture?.win.element.classList.remove('shell-dragging');
    this.#guide.removeAttribute('data-shown');
    this.#desk.shield.hidden = true;
  }
}

/**
 * Carries an element under the pointer by an animation that stands still at the place it's told. Written as a style, a
 * `transform` makes browsers sort the layers of every window anew with each move (most of what a move costs when fifty
 * are open); one that an animation holds only moves its own layer.
 */
class Carrier {
  readonly #animation: Animation;
  readonly #effect: KeyframeEffect;

  constructor(element: HTMLElement, at: Point) {
    this.#effect = new KeyframeEffect(element, holding(at), 1000);
    this.#animation = new Animation(this.#effect);
    this.#animation.pause();
  }

  /** Moves the element; it's drawn with the next frame. */
  to(at: Point): void {
    this.#effect.setKeyframes(holding(at));
  }

  /** Lets go: the element is where its style says. */
  end(): void {
    this.#animation.cancel();
  }
}

function holding(at: Point): PropertyIndexedKeyframes {
  const transform = shift(at);
  return { transform: [transform, transform] };
}

function roundRect(rect: Rect): Rect {
  return {
    x: Math.round(rect.x),
    y: Math.round(rect.y),
    width: Math.round(rect.width),
    height: Math.round(rect.height),
  };
}
