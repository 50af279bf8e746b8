/** Moving and resizing a window with the arrow keys: Enter keeps, Escape takes back. */
import { MIN_WINDOW, keepReachable, type Rect } from '../core/geometry.ts';
import { seams } from '../core/snap.ts';
import { t } from '../i18n.ts';
import type { Desk } from './desk.ts';
import { consume, listen } from './dom.ts';
import type { ShellWindow } from './window.ts';

const STEP = 24;
const FINE_STEP = 4;

function changed(rect: Rect, key: string, step: number, mode: 'move' | 'resize'): Rect | undefined {
  const dx = key === 'ArrowLeft' ? -step : key === 'ArrowRight' ? step : 0;
  const dy = key === 'ArrowUp' ? -step : key === 'ArrowDown' ? step : 0;
  if (dx === 0 && dy === 0) return undefined;
  if (mode === 'move') return { ...rect, x: rect.x + dx, y: rect.y + dy };
  return {
    ...rect,
    width: Math.max(MIN_WINDOW.width, rect.width + dx),
    height: Math.max(MIN_WINDOW.height, rect.height + dy),
  };
}

/** A snapped window is resized at its seams, and so are its neighbours. */
function moveSeam(desk: Desk, win: ShellWindow, { key, shiftKey }: KeyboardEvent): boolean {
  const area = desk.area.peek();
  const { x, y } = desk.windows.seams.of(win.webtop);
  const step = shiftKey ? FINE_STEP : STEP;
  const [dx, dy] =
    { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[key] ?? [];
  if (dx === undefined || dy === undefined) return false;
  desk.windows.seams.move(win.webtop, { x: x + dx / area.width, y: y + dy / area.height }, true);
  return true;
}

/** Lets the arrow keys move or resize a window until Enter, Escape or a click. */
export function adjustByKeys(desk: Desk, win: ShellWindow, mode: 'move' | 'resize'): void {
  const { windows } = desk;
  const before = { bounds: win.bounds, overhang: win.overhang, placement: win.placement };
  const split = mode === 'resize' && seams(win.placement) ? windows.seams.of(win.webtop) : undefined;
  if (!split) windows.setBounds(win, windows.rect(win));
  windows.activate(win, false);
  win.element.focus({ preventScroll: true });
  win.element.classList.add('shell-adjusting');
  const hideHint = desk.toasts.show(t(mode === 'move' ? 'say.moveByKeys' : 'say.resizeByKeys'));
  const finish = () => {
    for (const end of ends) end();
    win.element.classList.remove('shell-adjusting');
    hideHint();
  };
  const key = (event: KeyboardEvent) => {
    if (split && moveSeam(desk, win, event)) {
      consume(event);
      return;
    }
    const rect = split ? undefined : changed(win.bounds, event.key, event.shiftKey ? FINE_STEP : STEP, mode);
    if (rect) windows.setBounds(win, keepReachable(rect, desk.area.peek()));
    else if (event.key === 'Escape') {
      finish();
      if (split) windows.seams.move(win.webtop, split, true);
      win.bounds = before.bounds;
      win.overhang = before.overhang;
      windows.place(win, before.placement);
    } else if (event.key === 'Enter' || event.key === 'Tab') finish();
    else return;
    consume(event);
  };
  const ends = [
    listen(document, 'keydown', key, { capture: true }),
    listen(document, 'pointerdown', finish, { capture: true }),
    listen(window, 'blur', finish),
  ];
  win.ends.add(finish);
}
