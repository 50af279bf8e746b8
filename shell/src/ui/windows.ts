/**
 * The windows of a desktop.
 *
 * | State     | Moved by                         | Next                              |
 * | --------- | -------------------------------- | --------------------------------- |
 * | (none)    | open                             | shown, on top, focused            |
 * | shown     | minimize, or task button         | minimized; focus to the next one  |
 * | minimized | activate                         | shown as before, on top, focused  |
 * | any       | place                            | shown at that placement           |
 * | any       | close, none of `onClose` refuses | gone                              |
 * | any       | access to its app is lost        | gone, `onClose` can't refuse      |
 *
 * Elements are appended once and never reordered: moving a frame in the document reloads it. Stacking is `z-index`,
 * position is `transform`, other webtops are `display: none`.
 */
import { fitInside, keepInside, overhang, slideAside, type Rect } from '../core/geometry.ts';
import type { StoredWindow } from '../core/profile.ts';
import { effect, signal, untracked } from '../core/signal.ts';
import { placementRect, type Placement } from '../core/snap.ts';
import { raise, remove, topmost } from '../core/stacking.ts';
import { locale, t } from '../i18n.ts';
import type { AppDefinition, Intent } from '../types.ts';
import { ContentLoader } from './content.ts';
import { contextOf } from './context.ts';
import type { Desk } from './desk.ts';
import { animate, focusIsLost, newId, put, shift, takeOut } from './dom.ts';
import { PutAway, enter, newBounds, travel } from './put-away.ts';
import { Seams } from './seams.ts';
import { ShellWindow, plateColour } from './window.ts';

/** How a window is opened. */
export interface OpenOptions {
  intent?: Intent;
  /** Default: one that no other window has. */
  id?: string;
  /** Shortcut it's opened from. */
  link?: string | undefined;
  /** Opens another one although the app has an open one. */
  another?: boolean;
  /** Restores a stored window. */
  stored?: StoredWindow;
}

const PEEK = 36;
/** Windows that come faster than this after each other were opened by a program. */
const IN_A_ROW_MS = 150;
/** Opens, arranges and closes windows. */
export class WindowManager {
  /** Open windows in the order they were opened. */
  readonly list = signal<readonly ShellWindow[]>([]);
  readonly activeId = signal<string | undefined>(undefined);
  /** Changes once a frame when something about windows changed that others show or store. */
  readonly revision = signal(0);
  readonly content: ContentLoader;
  readonly putAway: PutAway;
  readonly seams: Seams;
  readonly #desk: Desk;
  readonly #byId = new Map<string, ShellWindow>();
  readonly #byApp = new Map<string, ShellWindow[]>();
  /** Apps whose windows changed since the taskbar last asked: it draws these alone, however many are open. */
  #touched = new Set<string>();
  readonly #waiting = signal<readonly StoredWindow[]>([]);
  #order: string[] = [];
  /** Depths go up by two: the guide of a drag lies between the dragged window and all others. */
  #depth = 10;
  #openedNow: ShellWindow[] = [];
  /** The window that looks active. */
  #marked: string | undefined;
  #frame = 0;
  /** When a window came in last. */
  #entered = 0;
  /** Whether there is something that those who follow haven't been told. */
  #changed = false;
  /** Whether the active window comes after one that's gone, and takes its focus. */
  #succeeding = false;
  /** Whether one has gone since the last frame: while a row of them goes, looks and focus wait for whoever is left. */
  #going = false;
  /** Whether one was taken out since the last frame. No animation goes on until the next, so others may go without a measure. */
  #upToDate = false;

  constructor(desk: Desk) {
    this.#desk = desk;
    this.putAway = new PutAway(desk);
    this.seams = new Seams(desk);
    this.content = new ContentLoader({
      context: (win, host) => contextOf(desk, win, host),
      openOutside: (url) => window.open(url, '_blank', 'noopener'),
      hash: (url) => desk.runtime.integrity.get(url),
    });
    effect(() => {
      desk.area();
      desk.compact();
      untracked(() => this.relayout());
    });
    effect(() => {
      desk.activeWebtop();
      untracked(() => this.#showWebtop());
    });
    effect(() => {
      locale();
      untracked(() => {
        for (const win of this.#byId.values()) win.translate();
      });
    });
    effect(() => {
      const ready = this.#waiting().filter((one) => desk.usableApp(one.appId));
      if (ready.length === 0) return;
      untracked(() => {
        this.#waiting.update((waiting) => waiting.filter((one) => !ready.includes(one)));
        for (const one of ready) this.#reopen(one);
        this.#mark();
      });
    });
    effect(() => {
      // A window opens with rights to its app; only a change of rights or apps can take them.
      desk.runtime.apps();
      desk.runtime.access();
      untracked(() => {
        for (const win of [...this.#byId.values()]) if (!desk.usableApp(win.app.id)) this.#drop(win);
      });
    });
  }

  get(id: string | undefined): ShellWindow | undefined {
    return id === undefined ? undefined : this.#byId.get(id);
  }

  get active(): ShellWindow | undefined {
    return this.get(this.activeId.peek());
  }

  /** Window ids from bottom to top. */
  get order(): readonly string[] {
    return this.#order;
  }

  /** The topmost window on screen. */
  get top(): ShellWindow | undefined {
    return this.get(topmost(this.#order, (id) => this.#isShown(id)));
  }

  /** No window is the active one until somebody turns to one. */
  leaveActive(): void {
    this.activeId.set(undefined);
    this.#mark();
    this.changed();
  }

  /** Windows from bottom to top. */
  stacked(): ShellWindow[] {
    return this.#order.map((id) => this.#byId.get(id)).filter((win) => win !== undefined);
  }

  /** Windows of an app in the order they were opened. */
  of(appId: string): readonly ShellWindow[] {
    return this.#byApp.get(appId) ?? [];
  }

  /** The apps whose windows changed since the last call. */
  takeTouched(): Iterable<string> {
    const touched = this.#touched;
    this.#touched = new Set();
    return touched;
  }

  /** Tells those who follow that something about a window changed. */
  changed(win?: ShellWindow): void {
    if (win) this.#touched.add(win.app.id);
    this.#changed = true;
    // A page in the background gets no frames, and keeps what its apps tell all the same.
    if (document.hidden) this.tell();
    this.#soon();
  }

  /** However many windows came, went or changed meanwhile: those who follow look once. */
  tell(): void {
    if (!this.#changed) return;
    this.#changed = false;
    this.revision.update((count) => count + 1);
  }

  /** Opens an app, or focuses its window when it has one that may not be doubled. */
  open(app: AppDefinition, options: OpenOptions = {}): ShellWindow {
    const existing = app.singleInstance ? [...this.#byId.values()].find((win) => win.app.id === app.id) : undefined;
    if (existing && !options.stored) {
      this.activate(existing);
      if (options.intent !== undefined) this.#deliver(existing, options.intent);
      return existing;
    }
    const win = this.#create(app, options);
    this.#byId.set(win.id, win);
    const group = this.#byApp.get(app.id) ?? [];
    group.push(win);
    this.#byApp.set(app.id, group);
    this.#order.push(win.id);
    this.#depth += 2;
    win.element.style.zIndex = String(this.#depth);
    this.#apply(win);
    this.paint(win);
    this.#desk.windowLayer.appendChild(win.element);
    this.content.load(win);
    this.list.update((list) => [...list, win]);
    this.changed(win);
    this.#settle(win, options.stored !== undefined);
    if (!options.stored) this.#desk.remember(app.id);
    this.#desk.runtime.emit('app-opened', { appId: app.id, windowId: win.id });
    return win;
  }

  #create(app: AppDefinition, { intent, id, link, stored }: OpenOptions): ShellWindow {
    const area = this.#desk.area.peek();
    const size = {
      width: app.width ?? Math.min(880, area.width * 0.7),
      height: app.height ?? Math.min(600, area.height * 0.75),
    };
    const win = new ShellWindow({
      id: stored?.id ?? id ?? newId('window'),
      app,
      webtop: stored?.webtop ?? this.#desk.activeWebtop.peek(),
      bounds: stored ? fitInside(stored.bounds, area) : newBounds(this.#desk, size),
      placement: this.#desk.popOut ? 'maximized' : (stored?.placement ?? 'normal'),
      minimized: stored?.minimized ?? false,
      intent: stored ? stored.state : intent,
      link: stored?.link ?? link,
    });
    win.state = stored?.state;
    if (stored?.title) win.title = stored.title;
    const shortcut = this.#desk.shortcut(win.link);
    win.title = stored?.title ?? shortcut?.title ?? app.title;
    win.icon = shortcut?.icon ?? app.icon;
    win.accent = shortcut?.accent ?? app.accent;
    return win;
  }

  /** Focus and entrance wait for the frame: many windows opened or closed in one go cost one of each. */
  #settle(win: ShellWindow, restored: boolean): void {
    if (!restored) {
      this.#openedNow.push(win);
      if (!win.minimized) this.activeId.set(win.id);
    }
    this.#soon();
  }

  #soon(): void {
    this.#frame ||= requestAnimationFrame(() => this.#atFrame());
  }

  /**
   * Does now what waits for the frame: a key or press is meant for what the person sees next, and what it opens mustn't lose the
   * focus to a window that was there before.
   */
  settle(): void {
    if (!this.#frame) return;
    cancelAnimationFrame(this.#frame);
    this.#going = false;
    this.#atFrame();
  }

  #atFrame(): void {
    this.#frame = 0;
    this.#upToDate = false;
    this.tell();
    if (this.#going) {
      this.#going = false;
      this.#soon();
      return;
    }
    const opened = this.#openedNow.splice(0).filter((one) => !one.closed);
    this.#mark();
    const { active } = this;
    // A window that closed with the focus leaves it to nobody; wherever else it is, somebody put it there.
    const lost = this.#succeeding && focusIsLost();
    this.#succeeding = false;
    if (active && (lost || opened.includes(active))) this.focusInside(active);
    else if (lost) this.#desk.grids.focus();
    const docked = [...this.#byId.values()].some((one) => one.placement !== 'normal' && this.shown(one));
    this.#desk.root.toggleAttribute('data-docked', docked);
    const only = opened.length === 1 ? opened[0] : undefined;
    // A row of windows comes as it is: entrances would only be in each other's way.
    const now = performance.now();
    if (only && !this.#desk.popOut && now - this.#entered > IN_A_ROW_MS) enter(only);
    if (opened.length > 0) this.#entered = now;
  }

  #deliver(win: ShellWindow, intent: Intent): void {
    win.intent = intent;
    for (const handler of [...win.hooks.intent]) {
      try {
        handler(intent);
      } catch (error) {
        reportError(error);
      }
    }
  }

  /** The rectangle a window has on screen. */
  rect(win: ShellWindow): Rect {
    const area = this.#desk.area.peek();
    if (this.#desk.compact.peek() || this.#desk.popOut) return area;
    if (win.placement !== 'normal') return placementRect(win.placement, area, this.seams.of(win.webtop));
    // Bounds stay as they are, so that a window grows back with its screen.
    const { width, height } = win.bounds;
    const fitting = { ...win.bounds, width: Math.min(width, area.width), height: Math.min(height, area.height) };
    return keepInside(fitting, area, win.overhang);
  }

  /** Whether a window is on screen. */
  shown(win: ShellWindow): boolean {
    return !win.minimized && win.webtop === this.#desk.activeWebtop.peek();
  }

  /** Writes position, size and visibility. */
  #apply(win: ShellWindow): void {
    const { dataset, classList } = win.element;
    put(win.element, this.rect(win));
    dataset.placement = this.#desk.compact.peek() || this.#desk.popOut ? 'maximized' : win.placement;
    classList.toggle('shell-away', !this.shown(win));
  }

  /** Puts a window back to where it belongs, after a preview or the pilot view borrowed it. */
  refresh(win: ShellWindow): void {
    if (!win.closed) this.#apply(win);
  }

  /** Places every window anew, as after a change of the area. */
  relayout(): void {
    for (const win of this.#byId.values()) this.#apply(win);
  }

  /** Shows title, icon and accent of a window. */
  paint(win: ShellWindow): void {
    const runtime = this.#desk.runtime;
    win.paint(
      runtime.iconUrl(win.icon),
      plateColour(win.accent) ?? (runtime.isIconFile(win.icon) ? undefined : { r: 255, g: 255, b: 255 }),
    );
    if (this.#desk.popOut) document.title = win.title;
  }

  #showWebtop(): void {
    for (const win of this.#byId.values()) win.element.classList.toggle('shell-away', !this.shown(win));
    this.#leadTop();
    this.#soon();
  }

  /** It looks active with the next frame: of windows that close in a row, the last one left alone does. */
  #leadTop(): void {
    this.activeId.set(this.top?.id);
    this.changed();
  }

  #isShown(id: string): boolean {
    const win = this.#byId.get(id);
    return win !== undefined && this.shown(win);
  }

  #mark(): void {
    const active = this.activeId.peek();
    if (active === this.#marked) return;
    this.get(this.#marked)?.element.removeAttribute('data-active');
    this.get(active)?.element.setAttribute('data-active', '');
    this.#marked = active;
  }

  /** Brings a window up, shows it, and makes it the active one. */
  activate(win: ShellWindow, focus = true): void {
    if (win.closed) return;
    const wasMinimized = win.minimized;
    win.minimized = false;
    if (win.webtop !== this.#desk.activeWebtop.peek()) {
      this.#desk.showWebtop(win.webtop);
      this.#showWebtop();
    }
    if (this.#order.at(-1) !== win.id) {
      this.#order = raise(this.#order, win.id);
      this.#depth += 2;
      win.element.style.zIndex = String(this.#depth);
    }
    this.activeId.set(win.id);
    this.#mark();
    if (wasMinimized) {
      this.putAway.forget(win);
      this.#apply(win);
      void travel(this.#desk, win, 'from');
    }
    if (focus) this.focusInside(win);
    this.changed();
  }

  /** Moves the focus to where it was in a window. */
  focusInside(win: ShellWindow): void {
    if (win.element.contains(document.activeElement) && document.activeElement !== win.element) return;
    const wanted = win.lastFocus?.isConnected && win.lastFocus.checkVisibility() ? win.lastFocus : win.element;
    wanted.focus({ preventScroll: true });
  }

  /** Gives the focus to the topmost window left, or to the webtop. */
  focusNext(): void {
    const { top } = this;
    if (top) this.activate(top);
    else {
      this.leaveActive();
      this.#desk.grids.focus();
    }
  }

  /**
   * Another window becomes the active one, and takes the focus with the first frame in which none goes: a row of windows that
   * close costs one move of it. The focus stays in the pilot view while that is open.
   */
  #succeed(): void {
    this.#going = true;
    this.#succeeding = !this.#desk.pilot.isOpen;
    this.#leadTop();
  }

  minimize(win: ShellWindow): void {
    if (win.minimized) return;
    const hadFocus = win.element.contains(document.activeElement) || this.activeId.peek() === win.id;
    win.minimized = true;
    win.lastKey = undefined;
    void travel(this.#desk, win, 'to');
    if (hadFocus) this.focusNext();
    this.#desk.announce(t('say.minimized', { title: win.title }));
    this.changed();
  }

  /** Puts a window into a placement; it glides there from where it is, or from where it was let go. */
  place(win: ShellWindow, placement: Placement, from = this.rect(win)): void {
    win.minimized = false;
    win.placement = placement;
    this.seams.begin(win);
    this.#apply(win);
    win.translate();
    const to = this.rect(win);
    if (this.shown(win)) {
      animate(
        win.element,
        [from, to].map((rect) => ({ transform: shift(rect), width: `${rect.width}px`, height: `${rect.height}px` })),
        160,
      );
    }
    this.#desk.announce(t('say.placed', { title: win.title, place: t(`place.${placement}`) }));
    this.changed();
  }

  /** Gives a normal window new bounds. */
  setBounds(win: ShellWindow, bounds: Rect): void {
    win.bounds = bounds;
    win.overhang = overhang(bounds, this.#desk.area.peek());
    win.placement = 'normal';
    win.lastKey = undefined;
    this.#apply(win);
    win.translate();
    this.changed();
  }

  toggleMaximized(win: ShellWindow): void {
    this.place(win, win.placement === 'maximized' ? 'normal' : 'maximized');
    win.lastKey = undefined;
  }

  /** Moves a window to another webtop. */
  sendTo(win: ShellWindow, webtop: string): void {
    if (win.webtop === webtop) return;
    win.webtop = webtop;
    this.#apply(win);
    if (this.activeId.peek() === win.id && !this.shown(win)) this.#succeed();
    this.changed();
  }

  /** Asks the app and closes; answers whether it's gone. */
  async close(win: ShellWindow): Promise<boolean> {
    if (win.closing || win.closed) return win.closed;
    win.closing = true;
    try {
      for (const callback of [...win.hooks.close]) if ((await callback()) === false) return false;
    } catch (error) {
      // A clean-up that fails mustn't make a window immortal.
      reportError(error);
    } finally {
      win.closing = false;
    }
    this.#remove(win);
    return true;
  }

  /** Closes without asking, as when access was lost; clean-ups still run. */
  #drop(win: ShellWindow): void {
    for (const callback of [...win.hooks.close]) {
      Promise.resolve().then(callback).catch(reportError);
    }
    this.#remove(win);
  }

  #remove(win: ShellWindow): void {
    if (win.closed) return;
    win.closed = true;
    const hadFocus = win.element.contains(document.activeElement) || this.activeId.peek() === win.id;
    for (const end of win.ends) end();
    win.ends.clear();
    win.hooks.close.clear();
    win.hooks.intent.clear();
    this.#byId.delete(win.id);
    const group = this.of(win.app.id).filter((other) => other !== win);
    if (group.length > 0) this.#byApp.set(win.app.id, group);
    else this.#byApp.delete(win.app.id);
    this.#order = remove(this.#order, win.id);
    this.list.update((list) => list.filter((other) => other !== win));
    if (this.#upToDate) win.element.remove();
    else takeOut(win.element);
    this.#upToDate = true;
    win.lastFocus = undefined;
    if (hadFocus) this.#succeed();
    this.changed(win);
  }

  /** Closes all windows without asking, for a change of user. */
  clear(): void {
    this.#waiting.set([]);
    for (const win of [...this.#byId.values()]) this.#drop(win);
  }

  /** Slides the windows on screen out of the way and back. */
  aside(away: boolean): void {
    const area = this.#desk.area.peek();
    for (const win of this.#byId.values()) {
      if (!this.shown(win)) continue;
      win.element.classList.toggle('shell-aside', away);
      const shift = away ? slideAside(this.rect(win), area, PEEK) : undefined;
      win.element.style.translate = shift ? `${shift.x}px ${shift.y}px` : '';
    }
  }

  /** What a window looks like in a profile. */
  store(): StoredWindow[] {
    const open = this.stacked().map((win) => {
      const stored: StoredWindow = {
        id: win.id,
        appId: win.app.id,
        webtop: win.webtop,
        bounds: win.bounds,
        placement: win.placement,
        minimized: win.minimized,
        title: win.title,
      };
      const state = win.state ?? win.intent;
      if (state !== undefined) stored.state = state;
      if (win.link !== undefined) stored.link = win.link;
      return stored;
    });
    return [...this.#waiting.peek(), ...open];
  }

  /**
   * Opens stored windows again, from bottom to top, and leaves the topmost one active. Those whose app isn't there (yet)
   * wait for it, and stay in the profile meanwhile.
   */
  restore(stored: readonly StoredWindow[]): void {
    this.#waiting.set(stored.filter((one) => !this.#reopen(one)));
    this.#showWebtop();
    if (this.active) this.focusInside(this.active);
  }

  #reopen(stored: StoredWindow): boolean {
    const app = this.#desk.usableApp(stored.appId);
    if (app && !this.#byId.has(stored.id)) this.open(app, { stored });
    return app !== undefined;
  }
}
