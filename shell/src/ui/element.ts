/** The element `<shell-desktop>`: puts the parts together, and takes them apart when it leaves the document. */
import { emptyProfile } from '../core/profile.ts';
import { effect, flush, scope, untracked, type Dispose } from '../core/signal.ts';
import { locale, setLocale, t } from '../i18n.ts';
import { runtime, type Runtime } from '../runtime.ts';
import type { Intent } from '../types.ts';
import { docsApp } from './apps/docs.ts';
import { settingsApp } from './apps/settings.ts';
import { WEBLINK_ID, webLinkApp } from './apps/weblink.ts';
import { connectBridge } from './bridge.ts';
import { Desk } from './desk.ts';
import { append, h, listen, nextTask } from './dom.ts';
import { effectStage } from './effects/stage.ts';
import { connectKeys } from './keys.ts';
import { connectLook, cornerLogo } from './look.ts';
import { MenuLayer } from './menu.ts';
import { MoveController } from './move.ts';
import { Persistence, SLOW_MS } from './persistence.ts';
import { Pilot } from './pilot.ts';
import { readPopOut } from './popout.ts';
import { StartMenu } from './start.ts';
import { Switcher } from './switcher.ts';
import { Taskbar } from './taskbar.ts';
import { Toasts } from './toast.ts';
import { Webtops } from './webtops.ts';
import { connectWindowControls } from './window-menu.ts';
import { WindowManager } from './windows.ts';

/** When the area is measured at the latest. */
const MEASURE_LATEST_MS = 150;
/** How long the first picture waits for the profile. */
const HOLD_MS = 400;

/** The desktop as an element. */
export class ShellDesktopElement extends HTMLElement {
  #dispose: Dispose | undefined;
  #waiting = false;

  /** Starts in a microtask, so that configuration and registrations of the same module come first. */
  connectedCallback(): void {
    if (this.#waiting || this.#dispose) return;
    this.#waiting = true;
    queueMicrotask(() => {
      this.#waiting = false;
      if (this.isConnected && !this.#dispose) void this.#start();
    });
  }

  disconnectedCallback(): void {
    // Being moved within the document is not the end.
    queueMicrotask(() => {
      if (this.isConnected) return;
      this.#dispose?.();
      this.#dispose = undefined;
    });
  }

  /** The parts come one a task: together they'd keep a busy machine's browser from drawing and listening. */
  async #start(): Promise<void> {
    const popOut = readPopOut();
    const ends: Dispose[] = [];
    let ended = false;
    const build = <T>(part: () => T): T => {
      const [result, end] = scope(part);
      ends.push(end);
      return result;
    };
    this.#dispose = () => {
      ended = true;
      for (const end of ends.splice(0).reverse()) end();
      this.replaceChildren();
    };
    const { storageKey } = runtime.options.peek();
    const desk = build(() => lay(runtime, this, popOut !== undefined));
    const parts = [paint, buildGrids, buildTaskbar, finish, () => followUser(desk, popOut, storageKey)];
    for (const part of parts) {
      await nextTask();
      if (ended) return;
      build(() => part(desk));
      flush();
    }
  }
}

/** What the page may count on at once. */
function lay(owner: Runtime, element: HTMLElement, popOut: boolean): Desk {
  const desk = new Desk(owner, element, popOut);
  element.classList.add('shell-root');
  element.toggleAttribute('data-popout', popOut);
  // Nobody should see the defaults turn into what they chose; a store that takes long isn't waited for.
  desk.root.setAttribute('data-starting', '');
  const late = setTimeout(() => reveal(desk), HOLD_MS);
  effect(() => () => clearTimeout(late));
  effect(() => element.setAttribute('lang', locale()));
  registerBuiltIns(owner, desk);
  return desk;
}

/** The ground that all parts stand on: colours, wallpaper, the measured area. */
function paint(desk: Desk): void {
  connectLook(desk);
  append(desk.root, desk.backdrop, desk.stage);
  measure(desk);
}

function buildGrids(desk: Desk): void {
  desk.menus = new MenuLayer(desk.topLayer);
  desk.toasts = new Toasts(() => desk.windows.focusNext());
  desk.pilot = new Pilot(desk);
  desk.switcher = new Switcher(desk);
  desk.start = new StartMenu(desk);
  desk.windows = new WindowManager(desk);
  desk.grids = new Webtops(desk);
  append(desk.root, desk.grids.element, desk.windowLayer);
}

function buildTaskbar(desk: Desk): void {
  const taskbar = new Taskbar(desk);
  desk.start.taskbar = taskbar;
  append(desk.root, taskbar.element, desk.topLayer, desk.toasts.element, desk.shield, desk.live);
}

/** What nobody misses before the rest stands. */
function finish(desk: Desk): void {
  new MoveController(desk);
  connectWindowControls(desk);
  desk.backdrop.append(effectStage(desk), cornerLogo(desk));
  const ends = [connectKeys(desk), connectBridge(desk), watchFrames(desk)];
  effect(() => () => {
    for (const end of ends) end();
  });
}

/** Shows the desktop. */
function reveal(desk: Desk): void {
  desk.root.removeAttribute('data-starting');
}

/** Keeps the usable area true to what CSS says. The first measure comes with the first frame: asking before would lay the page out twice. */
function measure(desk: Desk): void {
  const read = () => {
    const root = desk.root.getBoundingClientRect();
    const { left, top, width, height } = desk.stage.getBoundingClientRect();
    desk.area.set({ x: left - root.left, y: top - root.top, width, height });
    desk.measured.resolve();
  };
  const observer = new ResizeObserver(read);
  observer.observe(desk.stage);
  effect(() => {
    // A taskbar that changes sides moves the area without changing its size, which no observer tells.
    desk.setting('taskbarPosition');
    desk.setting('taskbarAutoHide');
    desk.compact();
    const frame = requestAnimationFrame(read);
    return () => cancelAnimationFrame(frame);
  });
  // Pages in the background get no frames, and should load all the same.
  const late = setTimeout(read, MEASURE_LATEST_MS);
  effect(() => () => {
    clearTimeout(late);
    observer.disconnect();
  });
}

/** A frame that takes the focus gives the page no event but its own loss of it; the frame's window becomes the active one. */
function watchFrames(desk: Desk): Dispose {
  return listen(window, 'blur', () => {
    const frame = document.activeElement;
    if (!(frame instanceof HTMLIFrameElement)) return;
    const win = desk.windows.get(frame.closest<HTMLElement>('.shell-window')?.dataset.id);
    if (!win) return;
    win.lastFocus = frame;
    if (desk.windows.activeId.peek() !== win.id) desk.windows.activate(win, false);
  });
}

/** Settings, Web link and documentation are apps like any other. */
function registerBuiltIns(owner: Runtime, desk: Desk): void {
  const replace = (id: string, make: (() => ReturnType<typeof settingsApp>) | undefined) => {
    const apps = new Map(owner.apps.peek());
    const known = apps.delete(id);
    if (make) {
      const app = make();
      apps.set(id, app);
    }
    if (make || known) owner.apps.set(apps);
  };
  effect(() => {
    locale();
    const { webLinks, docsUrl } = owner.options();
    untracked(() => {
      replace('shell.settings', () => settingsApp(desk));
      replace(WEBLINK_ID, webLinks === false ? undefined : () => webLinkApp(desk));
      replace('shell.docs', docsUrl ? () => docsApp(docsUrl) : undefined);
    });
  });
  effect(() => () => {
    for (const id of ['shell.settings', WEBLINK_ID, 'shell.docs']) replace(id, undefined);
  });
}

/** Loads the profile of whoever is signed in, and changes it with them. */
function followUser(desk: Desk, popOut: ReturnType<typeof readPopOut>, prefix = 'shell'): void {
  let persistence: Persistence | undefined;
  let detach: Dispose | undefined;
  let userKey: string | undefined;
  desk.keep = () => void persistence?.save();
  const change = async (key: string) => {
    const old = persistence;
    persistence = new Persistence(desk, key);
    const mine = persistence;
    if (old) {
      await old.end();
      desk.windows.clear();
      desk.adopt(emptyProfile());
    }
    const start = () => {
      if (!detach && mine === persistence) detach = begin(desk, popOut);
    };
    // What was asked to open waits for the profile, so that it ends up on top; but not for a store that hangs.
    const patience = setTimeout(start, SLOW_MS);
    const known = await mine.load();
    clearTimeout(patience);
    if (mine !== persistence) return;
    if (known === false) firstStart(desk);
    start();
    // The area is measured anew in the same frame, before this.
    requestAnimationFrame(() => reveal(desk));
  };
  effect(() => {
    const id = desk.runtime.session()?.identity?.id;
    const key = id ? `${prefix}.${id}` : prefix;
    if (key === userKey) return;
    userKey = key;
    untracked(() => void change(key));
  });
  effect(() => () => {
    detach?.();
    const last = persistence;
    persistence = undefined;
    void last?.end();
    desk.windows.clear();
    setLocale(undefined);
  });
}

/** The very first start: shortcuts and apps that the product wants to show. */
function firstStart(desk: Desk): void {
  const { initialShortcuts, initialApps } = desk.runtime.options.peek();
  const webtop = desk.activeWebtop.peek();
  for (const [index, appId] of (initialShortcuts ?? []).entries()) {
    // Ids of their own would double shortcuts and windows when two tabs start for the first time at once.
    desk.addShortcut(appId, { id: `shortcut-first-${index}` }, webtop);
  }
  if (desk.popOut) return;
  for (const [index, appId] of (initialApps ?? []).entries()) {
    const app = desk.usableApp(appId);
    if (app) desk.windows.open(app, { id: `window-first-${index}` });
  }
}

/** Opens what was asked for, and takes requests from now on. */
function begin(desk: Desk, popOut: ReturnType<typeof readPopOut>): Dispose {
  const detach = desk.runtime.attach({
    open(appId: string, intent: Intent) {
      const app = desk.usableApp(appId);
      if (app) desk.windows.open(app, { intent });
    },
    dispatch(name, detail) {
      desk.root.dispatchEvent(new CustomEvent(name, { detail, bubbles: true }));
    },
  });
  if (popOut) openPopOut(desk, popOut);
  return detach;
}

/** A pop-out waits until its app is registered and allowed. */
function openPopOut(desk: Desk, popOut: NonNullable<ReturnType<typeof readPopOut>>): void {
  let opened = false;
  const note = h('p.shell-popout-note', { role: 'status' }, () => t('popout.waiting', { id: popOut.appId }));
  desk.grids.element.append(note);
  effect(() => {
    const app = desk.usableApp(popOut.appId);
    if (!app || opened) return;
    opened = true;
    note.remove();
    untracked(() => desk.windows.open(app, { intent: popOut.intent, link: popOut.link }));
  });
}
