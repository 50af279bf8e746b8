/** The element `<shell-desktop>`: puts the parts together, and takes them apart when it leaves the document. */
import { effect, flush, onDispose, scope, untracked, type Dispose } from '../core/signal.ts';
import { locale } from '../i18n.ts';
import { runtime, type Runtime } from '../runtime.ts';
import { docsApp } from './apps/docs.ts';
import { IDENTITY_ID, identityApp } from './apps/identity.ts';
import { settingsApp } from './apps/settings.ts';
import { WEBLINK_ID, webLinkApp } from './apps/weblink.ts';
import { connectBridge } from './bridge.ts';
import { Desk } from './desk.ts';
import { append, listen, nextTask } from './dom.ts';
import { effectStage } from './effects/stage.ts';
import { followPerson, reveal } from './follow.ts';
import { connectKeys } from './keys.ts';
import { connectLogin } from './login.ts';
import { connectLook, cornerLogo } from './look.ts';
import { MenuLayer } from './menu.ts';
import { MoveController } from './move.ts';
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
    const parts = [paint, buildGrids, buildTaskbar, finish, () => followPerson(desk, popOut, storageKey)];
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
  owner.element = element;
  onDispose(() => {
    owner.element = undefined;
  });
  element.classList.add('shell-root');
  element.toggleAttribute('data-popout', popOut);
  // Nobody should see the defaults turn into what they chose; a store that takes long isn't waited for.
  desk.root.setAttribute('data-starting', '');
  const late = setTimeout(() => reveal(desk), HOLD_MS);
  onDispose(() => clearTimeout(late));
  effect(() => element.setAttribute('lang', locale()));
  registerBuiltIns(owner, desk);
  return desk;
}

/** The ground that all parts stand on: colours, wallpaper, the measured area. */
function paint(desk: Desk): void {
  connectLook(desk);
  append(desk.root, desk.backdrop, desk.stage);
  connectLogin(desk);
  measure(desk);
}

function buildGrids(desk: Desk): void {
  const giveBack = () => desk.windows.focusNext();
  desk.menus = new MenuLayer(desk.topLayer, giveBack);
  desk.toasts = new Toasts(giveBack);
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
  const back = listen(document, 'visibilitychange', () => document.hidden || desk.runtime.doubtAccess());
  for (const end of [connectKeys(desk), connectBridge(desk), watchFrames(desk), back]) onDispose(end);
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
  onDispose(() => {
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

/** Settings, Web link, Users and roles and documentation are apps like any other. */
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
    const { webLinks, docsUrl, identityStore } = owner.options();
    untracked(() => {
      replace('shell.settings', () => settingsApp(desk));
      replace(WEBLINK_ID, webLinks === false ? undefined : () => webLinkApp(desk));
      replace(IDENTITY_ID, identityStore ? () => identityApp(desk, identityStore) : undefined);
      replace('shell.docs', docsUrl ? () => docsApp(docsUrl) : undefined);
    });
  });
  onDispose(() => {
    for (const id of ['shell.settings', WEBLINK_ID, IDENTITY_ID, 'shell.docs']) replace(id, undefined);
  });
}
