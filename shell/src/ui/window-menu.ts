/** What the buttons and the menu of a window do. */
import type { Shortcut } from '../core/profile.ts';
import type { Rect } from '../core/geometry.ts';
import { placementRect, snapByKey, type Arrow, type Placement } from '../core/snap.ts';
import { MAX_WEBTOPS } from '../core/grid.ts';
import { addWebtop } from '../core/workspace.ts';
import { keyLabel, t } from '../i18n.ts';
import type { Desk } from './desk.ts';
import { offerOtherHalf } from './assist.ts';
import { contextOf } from './context.ts';
import { h, newId, pressedAt } from './dom.ts';
import type { MenuAnchor, MenuEntries, MenuEntry } from './menu.ts';
import { popOutUrl } from './popout.ts';
import { WEBLINK_ID, webLinkEntries, webLinkUrl } from './apps/weblink.ts';
import { plate } from './tiles.ts';
import type { ShellWindow } from './window.ts';
import { adjustByKeys } from './adjust.ts';

/** What a shortcut may say differently than its app. */
const LOOKS = ['title', 'icon', 'accent'] as const;

/** The snap positions as they lie on the screen, in three columns. */
const SNAPS: Exclude<Placement, 'normal'>[] = [
  'topLeft',
  'top',
  'topRight',
  'left',
  'maximized',
  'right',
  'bottomLeft',
  'bottom',
  'bottomRight',
];

/** A small screen with the place of a window on it. */
function layoutPicture(placement: Exclude<Placement, 'normal'>): HTMLElement {
  const { x, y, width, height } = placementRect(placement, { x: 0, y: 0, width: 100, height: 100 });
  const place = h('i');
  place.style.inset = `${y}% ${100 - x - width}% ${100 - y - height}% ${x}%`;
  return h('span.shell-layout', {}, place);
}

/** Arranges a window as somebody asked, and offers what goes with it. */
export function snapTo(desk: Desk, win: ShellWindow, placement: Placement, from?: Rect): void {
  desk.windows.place(win, placement, from);
  // The change itself is told first; whatever changes after it takes the offer back.
  setTimeout(() => !win.closed && win.placement === placement && offerOtherHalf(desk, win));
}

/** Performs a snapping key. */
export function snapWithKey(desk: Desk, win: ShellWindow, key: Arrow): void {
  const target = snapByKey(win.placement, key, win.lastKey === key);
  if (target === 'minimized') {
    desk.windows.minimize(win);
    return;
  }
  snapTo(desk, win, target);
  win.lastKey = key;
}

/** Listens for the title bar's buttons and context menus. */
export function connectWindowControls(desk: Desk): void {
  const layer = desk.windowLayer;
  const windowOf = (event: Event) =>
    desk.windows.get((event.target as Element).closest<HTMLElement>('.shell-window')?.dataset.id);
  layer.addEventListener('click', (event) => {
    const button = (event.target as Element).closest<HTMLElement>('[data-act]');
    const win = windowOf(event);
    if (!button || !win) return;
    if (button.dataset.act === 'close') desk.windows.close(win);
    else if (button.dataset.act === 'minimize') desk.windows.minimize(win);
    else if (button.dataset.act === 'maximize') desk.windows.toggleMaximized(win);
    else if (button.dataset.act === 'menu') openWindowMenu(desk, win, button);
  });
  layer.addEventListener('contextmenu', (event) => {
    const win = windowOf(event);
    if (!win || !(event.target as Element).closest('.shell-titlebar')) return;
    event.preventDefault();
    openWindowMenu(desk, win, pressedAt(event) ?? win.element);
  });
  layer.addEventListener('focusin', (event) => {
    const win = windowOf(event);
    if (!win) return;
    if (event.target instanceof HTMLElement && win.body.contains(event.target)) win.lastFocus = event.target;
    if (desk.windows.activeId.peek() !== win.id && !desk.pilot.isOpen) desk.windows.activate(win, false);
  });
}

/** Opens a window's menu. */
export function openWindowMenu(desk: Desk, win: ShellWindow, anchor: MenuAnchor): void {
  const entries: MenuEntries = desk.popOut
    ? [...appEntries(desk, win), ...shortcutEntries(desk, win)]
    : [
        ...appEntries(desk, win),
        ...arrangeEntries(desk, win),
        'separator',
        ...shortcutEntries(desk, win),
        desk.pinEntry(win.app.id),
        'separator',
        closeEntry(desk, win),
      ];
  desk.menus.open(entries, anchor, t('window.menu', { title: win.title }));
}

function appEntries(desk: Desk, win: ShellWindow): MenuEntries {
  const host = win.body.querySelector<HTMLElement>('.shell-host') ?? win.body;
  const own = win.menu.map(
    (entry): MenuEntry => ({
      title: entry.title,
      picture: entry.icon ? plate(desk, entry.icon, win.accent) : undefined,
      run: () => {
        try {
          Promise.resolve(entry.run(contextOf(desk, win, host))).catch(reportError);
        } catch (error) {
          reportError(error);
        }
      },
    }),
  );
  const all = [...own, ...webLinkEntries(desk, win)];
  return all.length > 0 ? [...all, 'separator'] : [];
}

function arrangeEntries(desk: Desk, win: ShellWindow): MenuEntries {
  const { windows } = desk;
  const compact = desk.compact.peek();
  const free = win.placement === 'normal';
  const entries: MenuEntries = [{ title: t('window.minimize'), icon: 'minimize', run: () => windows.minimize(win) }];
  if (!compact) {
    entries.push(
      {
        title: t(free ? 'window.maximize' : 'window.restore'),
        icon: free ? 'maximize' : 'restore',
        run: () => windows.place(win, free ? 'maximized' : 'normal'),
      },
      {
        title: t('window.snap'),
        icon: 'snap',
        columns: 3,
        entries: SNAPS.map((placement) => ({
          title: t(`place.${placement}`),
          picture: layoutPicture(placement),
          checked: win.placement === placement,
          run: () => snapTo(desk, win, placement),
        })),
      },
      { title: t('window.move'), icon: 'move', run: () => adjustByKeys(desk, win, 'move') },
      { title: t('window.resize'), icon: 'resize', run: () => adjustByKeys(desk, win, 'resize') },
    );
  }
  entries.push({ title: t('shortcut.toWebtop'), icon: 'webtop', entries: webtopEntries(desk, win) });
  return entries;
}

function webtopEntries(desk: Desk, win: ShellWindow): MenuEntry[] {
  const all = desk.webtops.peek();
  const entries: MenuEntry[] = all.map((webtop) => ({
    title: desk.webtopTitle(webtop),
    checked: webtop.id === win.webtop,
    run: () => desk.windows.sendTo(win, webtop.id),
  }));
  if (all.length < MAX_WEBTOPS) {
    entries.push({
      title: t('webtop.add'),
      icon: 'plus',
      run: () => {
        const id = newId('webtop');
        if (desk.setWebtops(addWebtop(desk.webtops.peek(), id))) desk.windows.sendTo(win, id);
      },
    });
  }
  return entries;
}

/** Keeps what the window shows in the shortcut it came from. */
export function updateShortcut(desk: Desk, win: ShellWindow): void {
  if (!desk.shortcut(win.link) || win.link === undefined) return;
  desk.changeShortcut(win.link, {
    title: win.title,
    icon: win.icon,
    state: win.state ?? win.intent,
    ...(win.accent ? { accent: win.accent } : {}),
  });
  desk.toasts.show(t('shortcut.updated', { title: win.title }));
}

function createShortcut(desk: Desk, win: ShellWindow): void {
  const state = win.state ?? win.intent;
  const own: Partial<Shortcut> = state === undefined ? {} : { state };
  for (const look of LOOKS) {
    const value = win[look];
    if (value && value !== win.app[look]) own[look] = value;
  }
  const shortcut = desk.addShortcut(win.app.id, own);
  if (!shortcut) return;
  win.link = shortcut.id;
  desk.windows.changed();
  desk.toasts.show(t('shortcut.created', { title: win.title }));
}

function shortcutEntries(desk: Desk, win: ShellWindow): MenuEntries {
  const linked = desk.shortcut(win.link) !== undefined;
  const page = win.app.id === WEBLINK_ID ? webLinkUrl(win) : undefined;
  const openOutside: MenuEntry = {
    title: t('window.openOutside'),
    icon: 'external',
    run: () => {
      // The new tab knows the window's shortcut by the profile.
      desk.keep();
      window.open(page ?? popOutUrl(win), '_blank', 'noopener');
    },
  };
  const update: MenuEntry = { title: t('shortcut.update'), icon: 'shortcut', run: () => updateShortcut(desk, win) };
  if (desk.popOut) return linked ? [update, openOutside] : [openOutside];
  const entries: MenuEntries = [];
  if (linked) entries.push(update);
  entries.push({ title: t('shortcut.create'), icon: 'shortcut', run: () => createShortcut(desk, win) });
  if (!win.app.singleInstance) {
    entries.push({
      title: t('window.duplicate'),
      icon: 'duplicate',
      run: () => {
        const copy = desk.windows.open(win.app, { intent: win.state ?? win.intent, link: win.link });
        copy.accent = win.accent;
        copy.icon = win.icon;
        desk.windows.paint(copy);
      },
    });
  }
  entries.push(openOutside);
  return entries;
}

function closeEntry(desk: Desk, win: ShellWindow): MenuEntry {
  return {
    title: t('word.close'),
    icon: 'close',
    shortcut: keyLabel('Alt+Shift+W'),
    run: () => void desk.windows.close(win),
  };
}
