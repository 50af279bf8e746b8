/**
 * Keyboard shortcuts of the desktop. Apps come first: an event that one has handled (`preventDefault`) is left alone,
 * and so is every snapping key in a field that takes text.
 */
import type { Arrow } from '../core/snap.ts';
import type { Desk } from './desk.ts';
import { isEditable, listen } from './dom.ts';
import { openWindowMenu, snapWithKey } from './window-menu.ts';

/** The shortcuts, for the list in Settings: the key to the text, and the keys. */
export const SHORTCUTS = [
  ['keys.snap', 'Ctrl + ← → ↑ ↓'],
  ['keys.snapMac', 'Alt + Shift + ← → ↑ ↓'],
  ['keys.search', 'Ctrl + K'],
  ['keys.pilot', 'F9'],
  ['keys.nextWindow', 'Ctrl + `'],
  ['keys.regions', 'F6'],
  ['keys.windowMenu', 'Alt + Shift + M'],
  ['keys.close', 'Alt + Shift + W'],
  ['keys.webtop', 'Alt + Shift + 1 … 9'],
  ['keys.stepWebtop', 'Alt + Shift + Page ↑ ↓'],
  ['keys.tileMenu', 'F2'],
  ['keys.tileMove', 'Ctrl + ← → ↑ ↓'],
  ['keys.tileRemove', 'Delete'],
] as const;

const ARROWS: Record<string, Arrow> = { ArrowLeft: 'Left', ArrowRight: 'Right', ArrowUp: 'Up', ArrowDown: 'Down' };

/** Listens for the shortcuts on the whole page. */
export function connectKeys(desk: Desk): () => void {
  return listen(document, 'keydown', (event) => {
    if (event.defaultPrevented || event.isComposing || desk.menus.isOpen) return;
    if (handle(desk, event)) {
      event.preventDefault();
      event.stopPropagation();
    }
  });
}

function handle(desk: Desk, event: KeyboardEvent): boolean {
  const own = event.target instanceof Node && (desk.root.contains(event.target) || event.target === document.body);
  if (!own) return false;
  const ctrl = event.ctrlKey && !event.altKey && !event.metaKey;
  const altShift = event.altKey && event.shiftKey && !event.ctrlKey && !event.metaKey;
  const arrow = ARROWS[event.key];
  if (arrow && (altShift || (ctrl && !event.shiftKey))) return snap(desk, event, arrow);
  if (desk.popOut) return false;
  if (ctrl && !event.shiftKey && event.key.toLowerCase() === 'k') {
    desk.start.toggle(true);
    return true;
  }
  if (ctrl && event.code === 'Backquote') {
    desk.windows.step(event.shiftKey ? -1 : 1);
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

function snap(desk: Desk, event: KeyboardEvent, arrow: Arrow): boolean {
  const win = desk.windows.active;
  const inWindow =
    win && event.target instanceof Node && (win.element.contains(event.target) || event.target === document.body);
  if (!win || !inWindow || desk.compact.peek() || desk.popOut || desk.pilot.isOpen || isEditable(event.target))
    return false;
  snapWithKey(desk, win, arrow);
  return true;
}

function handleAltShift(desk: Desk, event: KeyboardEvent): boolean {
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

/** Moves the focus around active window, taskbar and webtop. */
function stepRegion(desk: Desk, direction: 1 | -1): void {
  const taskbar = desk.root.querySelector<HTMLElement>('.shell-taskbar');
  const regions: { element: Element | null | undefined; focus(): void }[] = [
    {
      element: desk.windows.active?.element,
      focus: () => desk.windows.active && desk.windows.focusInside(desk.windows.active),
    },
    { element: taskbar, focus: () => taskbar?.querySelector<HTMLElement>('button')?.focus() },
    { element: desk.grids.element, focus: () => desk.grids.focus() },
  ];
  const present = regions.filter((region) => region.element);
  const at = present.findIndex((region) => region.element?.contains(document.activeElement));
  present[(at + direction + present.length) % present.length]?.focus();
}
