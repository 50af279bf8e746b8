/**
 * One running desktop: the person's profile as signals, the layers of the page, and the services its parts share.
 * The parts (windows, taskbar, webtops and so on) know this object, not each other, except where one drives another.
 */
import { emptyProfile, type Profile, type SettingValues, type Shortcut, type Webtop } from '../core/profile.ts';
import type { Rect } from '../core/geometry.ts';
import { signal, untracked, type Signal } from '../core/signal.ts';
import { addItem, changeItem, findItem, putItem, removeItem } from '../core/workspace.ts';
import { setLocale, t } from '../i18n.ts';
import type { Runtime } from '../runtime.ts';
import type { AppDefinition } from '../types.ts';
import { h, newId } from './dom.ts';
import type { MenuEntry, MenuLayer } from './menu.ts';
import type { Toasts } from './toast.ts';
import type { WindowManager } from './windows.ts';
import type { Pilot } from './pilot.ts';
import type { Switcher } from './switcher.ts';
import type { StartMenu } from './start.ts';
import type { Webtops } from './webtops.ts';

/** Settings nobody chose. */
const BUILT_IN: SettingValues = {
  theme: 'auto',
  wallpaper: 'fjord',
  systemColor: '#3b6fe0',
  taskbarPosition: 'bottom',
  taskbarAutoHide: false,
  effect: 'none',
  locale: '',
  pins: [],
  recent: [],
  pictures: [],
};

/** How many apps opened last are kept in mind. */
const RECENT_APPS = 5;
/** How many removals can be taken back. */
const UNDO_STEPS = 20;

/** The desktop's state and services. */
export class Desk {
  readonly runtime: Runtime;
  readonly root: HTMLElement;
  /** Wallpaper, effect and logo, behind everything. */
  readonly backdrop = h('div.shell-backdrop', { 'aria-hidden': 'true' });
  /** Marks the area that windows may use; CSS places it, so that taskbar and safe areas have one source. */
  readonly stage = h('div.shell-stage', { 'aria-hidden': 'true' });
  readonly windowLayer = h('section.shell-windows', { part: 'windows', 'aria-label': () => t('windows.region') });
  readonly topLayer = h('div.shell-top', { role: 'region', 'aria-label': () => t('top.region') });
  readonly shield = h('div.shell-shield', { hidden: true });
  readonly live = h('div.shell-sr', { role: 'status', 'aria-live': 'polite' });

  readonly webtops: Signal<Webtop[]>;
  readonly activeWebtop: Signal<string>;
  readonly chosen: Signal<Partial<SettingValues>>;
  /** The usable area in coordinates of the desktop. */
  readonly area = signal<Rect>({ x: 0, y: 0, width: 1024, height: 700 });
  /** Resolves with the first measure of the area. */
  readonly measured = Promise.withResolvers<void>();
  /** Small screens: windows fill the screen. */
  readonly compact = signal(false);
  /** Small screens held upright: grids are three columns wide. */
  readonly upright = signal(false);
  readonly dark = signal(false);
  /** Whether the profile of whoever is signed in is on screen. */
  readonly settled = signal(false);
  /** The single window of a pop-out tab. */
  readonly popOut: boolean;

  // Set by the element in the order in which the parts are made.
  windows!: WindowManager;
  menus!: MenuLayer;
  toasts!: Toasts;
  pilot!: Pilot;
  switcher!: Switcher;
  start!: StartMenu;
  grids!: Webtops;
  /** Saves the profile now, for a tab that is about to read it. */
  keep: () => void = () => undefined;
  /** Take back removals, the latest last. */
  #removals: (() => void)[] = [];

  constructor(runtime: Runtime, root: HTMLElement, popOut: boolean) {
    this.runtime = runtime;
    this.root = root;
    this.popOut = popOut;
    const empty = emptyProfile();
    this.webtops = signal(empty.webtops);
    this.activeWebtop = signal(empty.activeWebtop);
    this.chosen = signal<Partial<SettingValues>>({});
  }

  /** A setting: the person's choice, else the product's default, else the built-in one. */
  setting<Name extends keyof SettingValues>(name: Name): SettingValues[Name] {
    const defaults: Partial<SettingValues> = this.runtime.options().defaults ?? {};
    return this.chosen()[name] ?? defaults[name] ?? BUILT_IN[name];
  }

  /** Stores a choice. */
  choose(change: Partial<SettingValues>): void {
    this.chosen.update((old) => ({ ...old, ...change }));
    if (change.locale !== undefined) setLocale(change.locale || undefined);
  }

  /** Tells screen readers something that sighted people see. */
  announce(text: string): void {
    // The same text twice in a row would not be read again.
    this.live.textContent = this.live.textContent === text ? `${text}\u00a0` : text;
  }

  /** The webtop on screen. */
  currentWebtop(): Webtop | undefined {
    return this.webtops().find((webtop) => webtop.id === this.activeWebtop());
  }

  /** What a webtop is called. */
  webtopTitle(webtop: Webtop): string {
    const number = this.webtops().findIndex((other) => other.id === webtop.id) + 1;
    return webtop.title ?? t('webtop.title', { number });
  }

  /** Shows a webtop. */
  showWebtop(id: string): void {
    const webtop = this.webtops.peek().find((other) => other.id === id);
    if (!webtop || id === this.activeWebtop.peek()) return;
    this.activeWebtop.set(id);
    this.announce(this.webtopTitle(webtop));
  }

  /** Shows the webtop before or after the current one; answers whether there was one. */
  stepWebtop(step: number): boolean {
    const all = this.webtops.peek();
    const next = all[all.findIndex((webtop) => webtop.id === this.activeWebtop.peek()) + step];
    if (next) this.showWebtop(next.id);
    return next !== undefined;
  }

  /** Takes over a changed list, or tells that there's no room. */
  setWebtops(next: Webtop[] | undefined): boolean {
    if (next) this.webtops.set(next);
    else this.toasts.show(t('webtop.full'), 'warning');
    return next !== undefined;
  }

  /** Adds a shortcut to a webtop or folder (the current webtop when none is named). */
  addShortcut(
    appId: string,
    extra: Partial<Shortcut> = {},
    container = this.activeWebtop.peek(),
  ): Shortcut | undefined {
    const shortcut: Shortcut = { kind: 'shortcut', id: newId('shortcut'), appId, cell: 0, ...extra };
    return this.setWebtops(addItem(this.webtops.peek(), shortcut, container)) ? shortcut : undefined;
  }

  /** A shortcut by id. */
  shortcut(id: string | undefined): Shortcut | undefined {
    const item = id === undefined ? undefined : findItem(this.webtops(), id)?.item;
    return item?.kind === 'shortcut' ? item : undefined;
  }

  /** Changes a shortcut. */
  changeShortcut(id: string, change: Partial<Shortcut>): void {
    this.webtops.set(changeItem(this.webtops.peek(), id, (item) => ({ ...item, ...change }) as Shortcut));
  }

  /** Removes a shortcut or folder, with an offer to bring it back. */
  removeItem(id: string, title: string): void {
    const before = this.webtops.peek();
    this.webtops.set(removeItem(before, id));
    const undo = () => {
      const found = findItem(before, id);
      if (!found || findItem(this.webtops.peek(), id)) return;
      const { item, container } = found;
      const now = this.webtops.peek();
      this.setWebtops(putItem(now, item, { container, cell: item.cell }) ?? addItem(now, item, container));
      // The grids are drawn before this runs.
      queueMicrotask(() => this.grids.focus(id));
    };
    const hide = this.toasts.show(t('shortcut.removed', { title }), 'info', { title: t('word.undo'), run: undo });
    const withNotice = () => {
      hide();
      undo();
    };
    this.#removals = [...this.#removals.slice(-UNDO_STEPS), withNotice];
  }

  /** Brings back what was removed last; answers whether there was something. */
  undo(): boolean {
    const last = this.#removals.at(-1);
    this.#removals = this.#removals.slice(0, -1);
    last?.();
    return last !== undefined;
  }

  /** An app that may be used and exists. */
  usableApp(appId: string): AppDefinition | undefined {
    const app = this.runtime.apps().get(appId);
    return app && this.runtime.allowed(app) ? app : undefined;
  }

  /** Whether an app stays on the taskbar and comes first in the start menu. */
  pinned(appId: string): boolean {
    return this.setting('pins').includes(appId);
  }

  /** Pins an app, or takes the pin out. */
  togglePin(appId: string): void {
    const pins = this.setting('pins');
    this.choose({ pins: this.pinned(appId) ? pins.filter((id) => id !== appId) : [...pins, appId] });
  }

  /** The menu entry that does so. */
  pinEntry(appId: string): MenuEntry {
    const pinned = untracked(() => this.pinned(appId));
    return { title: t(pinned ? 'pin.remove' : 'pin.add'), icon: 'pin', run: () => this.togglePin(appId) };
  }

  /** Keeps in mind what was opened last. */
  remember(appId: string): void {
    const rest = (this.chosen.peek().recent ?? []).filter((id) => id !== appId);
    if (this.chosen.peek().recent?.[0] !== appId) this.choose({ recent: [appId, ...rest].slice(0, RECENT_APPS) });
  }

  /** Puts a loaded profile on screen. Windows are opened by the caller. */
  adopt(profile: Profile): void {
    this.#removals = [];
    this.webtops.set(profile.webtops);
    this.activeWebtop.set(profile.activeWebtop);
    this.chosen.set(profile.settings);
    setLocale(profile.settings.locale || undefined);
  }
}
