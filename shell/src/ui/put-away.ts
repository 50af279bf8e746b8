/** How windows come and go, and the way to the desktop below them and back. */
import type { Rect } from '../core/geometry.ts';
import { newPlace } from '../core/newcomer.ts';
import { t } from '../i18n.ts';
import type { Desk } from './desk.ts';
import { animate, shift } from './dom.ts';
import type { ShellWindow } from './window.ts';

/** How many windows a new one tries to leave in sight. */
const RECENT = 12;

/** Where a new window goes: a step from the active one, and never over all of another. */
export function newBounds(desk: Desk, size: { width: number; height: number }): Rect {
  const { windows } = desk;
  const inSight: ShellWindow[] = [];
  for (let at = windows.order.length - 1; at >= 0 && inSight.length < RECENT; at -= 1) {
    const win = windows.get(windows.order[at]);
    if (win && windows.shown(win)) inSight.unshift(win);
  }
  const { active } = windows;
  const from = active?.placement === 'normal' && inSight.includes(active) ? windows.rect(active) : undefined;
  const rects = inSight.map((win) => windows.rect(win));
  return newPlace(size, rects, from, desk.area.peek());
}

/** A new window comes in. */
export function enter(win: ShellWindow): void {
  animate(
    win.element,
    [
      { opacity: 0, scale: 0.96 },
      { opacity: 1, scale: 1 },
    ],
    160,
  );
}

/** A minimized window comes from its task button, and goes there. */
export async function travel(desk: Desk, win: ShellWindow, direction: 'from' | 'to'): Promise<void> {
  const { x, y, width, height } = desk.windows.rect(win);
  const task = desk.start.taskbar?.placeOf(win.app.id) ?? { x: x + width / 2, y: y + height / 2 };
  const frames = [
    { opacity: 0, transform: shift(task, 0.06) },
    { opacity: 1, transform: shift({ x, y }) },
  ];
  await animate(win.element, direction === 'from' ? frames : frames.reverse(), 190);
  desk.windows.refresh(win);
}

/** Puts all windows of a webtop out of the way, and brings them back. */
export class PutAway {
  readonly #desk: Desk;
  readonly #away = new WeakSet<ShellWindow>();

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** Somebody brought this one back, or put it away alone. */
  forget(win: ShellWindow): void {
    this.#away.delete(win);
  }

  /** Shows the desktop; when it's shown, brings back what was put away. */
  toggle(): void {
    const { windows } = this.#desk;
    const here = windows.stacked().filter((win) => win.webtop === this.#desk.activeWebtop.peek());
    const shown = here.filter((win) => !win.minimized);
    for (const win of shown) {
      win.minimized = true;
      win.lastKey = undefined;
      this.#away.add(win);
      void travel(this.#desk, win, 'to');
      windows.changed(win);
    }
    if (shown.length > 0) {
      windows.focusNext();
      this.#desk.announce(t('say.desktop'));
      return;
    }
    const back = here.filter((win) => this.#away.delete(win));
    // On a phone the way home leads there and no farther.
    if (this.#desk.compact.peek()) return;
    for (const win of back) windows.activate(win, win === back.at(-1));
  }
}
