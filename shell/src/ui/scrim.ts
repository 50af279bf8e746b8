/**
 * A clear sheet under a menu. The press that ends a menu only ends it: what lies below, frames of apps too, gets nothing of it.
 *
 * | State   | Moved by                             | Next                                         |
 * | ------- | ------------------------------------ | -------------------------------------------- |
 * | laid    | a finger, or the main button presses | closing: the menu goes, the sheet waits      |
 * | laid    | another button presses               | gone: the menu of what lies below may come   |
 * | laid    | the menu goes by itself              | gone                                         |
 * | closing | the pointer is lifted, or cancelled  | gone, once the click of the press fell on it |
 */
import type { Dispose } from '../core/signal.ts';
import { h } from './dom.ts';

/** Lays a sheet as the last child of `layer`; `close` ends what it belongs to. Returns what takes it away. */
export function layScrim(layer: HTMLElement, close: () => void): Dispose {
  let closing = false;
  const sheet = h('div.shell-scrim', { 'aria-hidden': 'true' });
  sheet.addEventListener('pointerdown', (event) => {
    if (closing) return;
    closing = event.button === 0;
    if (closing) sheet.setPointerCapture(event.pointerId);
    else sheet.remove();
    close();
  });
  // Comes after the release as well as after a cancelled press; the click of a mouse follows in the same task.
  sheet.addEventListener('lostpointercapture', () => setTimeout(() => sheet.remove()));
  // A finger's late mouse events would fall on what lies below, and a press would take the focus.
  for (const name of ['touchstart', 'mousedown', 'contextmenu']) {
    sheet.addEventListener(name, (event) => event.preventDefault(), { passive: false });
  }
  layer.append(sheet);
  return () => {
    if (!closing) sheet.remove();
  };
}
