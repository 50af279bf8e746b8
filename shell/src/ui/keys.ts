/**
 * Keyboard shortcuts of the desktop. Apps come first: an event that one has handled (`preventDefault`) is left alone,
 * and so is every snapping key in a field that takes text.
 */
import type { Arrow } from '../core/snap.ts';
import type { Desk } from './desk.ts';
import { consume, isEditable, listen, together } from './dom.ts';
import { openWindowMenu, snapWithKey } from './window-menu.ts';

/** The shortcuts, for the list in Settings: the key to the text, and the keys. */
export const SHORTCUTS = [
  ['keys.snap', 'Ctrl + ← → ↑ ↓'],
  ['keys.snapMac', 'Alt + Shift + ← → ↑ ↓'],
  ['search.title', 'Ctrl + K'],
  ['pilot.title', 'F9'],
  ['keys.nextWindow', 'Ctrl + `'],
  ['keys.desktop', 'Alt + Shift + D'],
  ['keys.regions', 'F6'],
  ['keys.windowMenu', 'Alt + Shift + M'],
  ['keys.close', 'Alt + Shift + W'],
  ['keys.webtop', 'Alt + Shift + 1 … 9'],
  ['keys.stepWebtop', 'Alt + Shift + Page ↑ ↓'],
  ['keys.undo', 'Ctrl + Z'],
  ['keys.tileMenu', 'F2'],
  ['keys.tileMove', 'Ctrl + ← → ↑ ↓'],
  ['keys.tileRemove', 'Delete'],
] as const;

const ARROWS: Record<string, Arrow> = { ArrowLeft: 'Left', ArrowRight: 'Right', ArrowUp: 'Up', ArrowDown: 'Down' };

/** Listens for the shortcuts on the whole page, and in frames of its own origin. */
export function connectKeys(desk: Desk): () => void {
  const key = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing || desk.menus.isOpen) return;
    if (handleKey(desk, event, event.target)) {
      consume(event);
    }
  };
  // It names no frame: a page that the browser keeps after its window closed would keep the window.
  const framed = (event: KeyboardEvent) => {
    if (event.defaultPrevented || event.isComposing) return;
    const frame = (event.currentTarget as Document).defaultView?.frameElement ?? null;
    if (handleKey(desk, event, isEditable(event.target) ? event.target : frame)) event.preventDefault();
  };
  const settle = () => desk.windows.settle();
  return together(
    listen(document, 'keydown', settle, { capture: true }),
    listen(document, 'pointerdown', settle, { capture: true }),
    listen(document, 'keydown', key),
    // `load` doesn't bubble, but it can be caught on its way down.
    listen(
      desk.windowLayer,
      'load',
      ({ target }) => {
        // The desktop's keys come from the frame itself then: its window is where they were pressed.
        if (target instanceof HTMLIFrameElement) target.contentDocument?.addEventListener('keydown', framed);
      },
      { capture: true },
    ),
  );
}

/** What a key press says; a frame of another origin can tell no more. */
export type KeyPress = Pick<KeyboardEvent, 'key' | 'code' | 'ctrlKey' | 'altKey' | 'shiftKey' | 'metaKey'>;

/** Does what a shortcut means; answers whether it was one. `target` is where it was pressed. */
export function handleKey(desk: Desk, event: KeyPress, target: EventTarget | null): boolean {
  const { switcher } = desk;
  const outside = target instanceof Node && target !== document.body && !desk.root.contains(target);
  if (outside || desk.root.hasAttribute('data-locked')) return false;
  const ctrl = event.ctrlKey && !event.altKey && !event.metaKey;
  const altShift = event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey;
  const arrow = ARROWS[event.key];
  if (arrow && (altShift || (ctrl && !event.shiftKey))) return snap(desk, target, arrow, altShift);
  if (desk.popOut) return false;
  if (ctrl && !event.shiftKey && event.key.toLowerCase() === 'k') {
    desk.start.toggle(true);
    return true;
  }
  if (ctrl && !event.shiftKey && event.key.toLowerCase() === 'z' && !isEditable(target) && !inWindow(desk, target)) {
    return desk.undo();
  }
  if (ctrl && event.code === 'Backquote') {
    switcher.step(event.shiftKey ? -1 : 1);
    return true;
  }
  if (event.key === 'F9' && !event.shiftKey && !event.altKey && !event.ctrlKey) {
    desk.pilot.toggle();
    return true;
  }
  if (event.key === 'F6' && !event.altKey && !event.ctrlKey) {
    stepRegion(desk, event.shiftKey ? -1 : 1);
    return true;
  }
  return altShift && handleAltShift(desk, event);
}

function snap(desk: Desk, target: EventTarget | null, arrow: Arrow, anywhere: boolean): boolean {
  const win = desk.windows.active;
  const elsewhere = target instanceof Element && target !== document.body && !win?.element.contains(target);
  // Ctrl with an arrow moves what the taskbar pins, too.
  const isMeant = !elsewhere || (anywhere && target.closest('.shell-taskbar') !== null);
  if (!win || !isMeant || desk.compact.peek() || desk.popOut || desk.pilot.isOpen) return false;
  // Ctrl with an arrow moves by words where text is typed; Alt with Shift does nothing there.
  if (!anywhere && isEditable(target)) return false;
  snapWithKey(desk, win, arrow);
  return true;
}

function handleAltShift(desk: Desk, event: KeyPress): boolean {
  // In the pilot view no window is the active one to look at.
  const win = desk.pilot.isOpen ? undefined : desk.windows.active;
  const digit = /^Digit([1-9])$/.exec(event.code)?.[1];
  if (digit) {
    const webtop = desk.webtops.peek()[Number(digit) - 1];
    if (webtop) desk.showWebtop(webtop.id);
    return true;
  }
  if (event.key === 'PageUp' || event.key === 'PageDown') {
    desk.stepWebtop(event.key === 'PageUp' ? -1 : 1);
    return true;
  }
  if (event.code === 'KeyD') {
    desk.pilot.close();
    desk.windows.putAway.toggle();
    return true;
  }
  if (event.code === 'KeyM' && win) {
    openWindowMenu(desk, win, win.element.querySelector('.shell-window-icon') ?? win.element);
    return true;
  }
  if (event.code === 'KeyW' && win) {
    desk.windows.close(win);
    return true;
  }
  return false;
}

function inWindow(desk: Desk, target: EventTarget | null): boolean {
  // The event of a frame comes from another document.
  return target instanceof Node ? desk.windowLayer.contains(target) : target !== null;
}

/** Moves the focus around active window, taskbar, webtop and notices. */
function stepRegion(desk: Desk, direction: 1 | -1): void {
  const taskbar = desk.root.querySelector<HTMLElement>('.shell-taskbar');
  const notice = [...desk.toasts.element.querySelectorAll('button')].at(0);
  const regions: { element: Element | null | undefined; focus(): void }[] = [
    {
      element: desk.windows.top?.element,
      focus: () => desk.windows.top && desk.windows.activate(desk.windows.top),
    },
    { element: taskbar, focus: () => taskbar?.querySelector<HTMLElement>('button')?.focus() },
    { element: desk.grids.element, focus: () => desk.grids.focus() },
    { element: notice, focus: () => notice?.focus() },
  ];
  const offer = desk.root.querySelector<HTMLElement>('.shell-assist');
  if (offer) regions.splice(1, 0, { element: offer, focus: () => offer.querySelector('button')?.focus() });
  const present = regions.filter((region) => region.element);
  const { activeElement } = document;
  const at = present.findIndex(
    ({ element }) =>
      element?.contains(activeElement) || (element === notice && desk.toasts.element.contains(activeElement)),
  );
  present[(at + direction + present.length) % present.length]?.focus();
}
