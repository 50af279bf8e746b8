/** The taskbar: start, search, one button per running app, webtops, clock. */
import { clamp, type Point } from '../core/geometry.ts';
import { effect, onDispose, scope, signal, untracked, type Dispose } from '../core/signal.ts';
import { dateFormatParts, formatDate, formatNumber, keyLabel, t } from '../i18n.ts';
import type { Desk } from './desk.ts';
import type { AppDefinition } from '../types.ts';
import {
  arrowStep,
  consume,
  followPointer,
  h,
  listen,
  pressedAt,
  swallowClick,
  takeOut,
  together,
  whenIdle,
} from './dom.ts';
import { glyph } from './glyphs.ts';
import { NoticeBell } from './notices.ts';
import { Preview } from './preview.ts';
import { badge, plate } from './tiles.ts';
import type { ShellWindow } from './window.ts';
import { openWindowMenu } from './window-menu.ts';

/** How long the clock leaves the browser to everything else, and then at most waits for it to rest. */
const CLOCK_AFTER_MS = 800;

/** How far a task is pulled before it moves. */
const PULL_PX = 6;

interface TaskButton {
  element: HTMLElement;
  dispose: Dispose;
}

/** Shows what runs and leads everywhere. */
export class Taskbar {
  readonly element: HTMLElement;
  readonly startButton: HTMLButtonElement;
  readonly preview: Preview;
  readonly #desk: Desk;
  readonly #tasks: HTMLElement = h('div.shell-tasks', {
    part: 'tasks',
    // A wheel turns one way; the bar may lie the other.
    onwheel: (event: WheelEvent) => this.#tasks.scrollBy({ left: event.deltaY }),
  });
  #frame = 0;
  /** The button of the active window's app. */
  #active: HTMLElement | undefined;
  readonly #buttons = new Map<string, TaskButton>();

  constructor(desk: Desk) {
    this.#desk = desk;
    this.preview = new Preview(desk);
    this.startButton = h(
      'button.shell-bar-button.shell-start-button',
      {
        'aria-label': () => t('start.title'),
        'aria-haspopup': 'dialog',
        'aria-expanded': () => String(desk.start.isOpen()),
        title: () => t('start.title'),
        part: 'start-button',
        onclick: () => desk.start.toggle(),
      },
      this.#startPicture(),
    );
    this.element = h(
      'nav.shell-taskbar',
      {
        'aria-label': () => t('settings.taskbar'),
        part: 'taskbar',
        oncontextmenu: (event: MouseEvent) => this.#barMenu(event),
        // A press beside the buttons leaves the focus where it is.
        onmousedown: (event: MouseEvent) => (event.target as Element).closest('button') ?? event.preventDefault(),
      },
      this.startButton,
      h(
        'button.shell-bar-button',
        {
          'aria-label': () => t('search.title'),
          title: () => `${t('search.title')} (${keyLabel('Ctrl+K')})`,
          // The start menu has the field on top; a phone's bar has no room to say it twice.
          hidden: () => desk.compact(),
          onclick: () => desk.start.toggle(true),
        },
        glyph('search'),
      ),
      this.#pilotButton(),
      this.#tasks,
      this.#pager(),
      new NoticeBell(desk).element,
      this.#clock(),
      h(
        'button.shell-bar-button.shell-home',
        {
          'aria-label': () => t('desktop.show'),
          title: () => `${t('desktop.show')} (${keyLabel('Alt+Shift+D')})`,
          onclick: () => this.#home(),
        },
        glyph('home'),
      ),
    );
    effect(() => {
      desk.windows.revision();
      untracked(() => {
        for (const appId of desk.windows.takeTouched()) this.#draw(appId);
        this.#markActive(desk.windows.active?.app.id);
      });
    });
    let before: readonly string[] = [];
    effect(() => {
      // Pins come first in their order, the rest as it was opened; apps that one may not use (yet) are left out.
      const pins = desk.setting('pins').filter((appId) => desk.usableApp(appId));
      untracked(() => {
        for (const appId of new Set([...before, ...pins])) this.#draw(appId);
        const first = pins.map((appId) => this.#buttons.get(appId)?.element).filter((element) => element !== undefined);
        const focused = document.activeElement as HTMLElement | null;
        if (first.some((element, at) => this.#tasks.children[at] !== element)) this.#tasks.prepend(...first);
        // Moving an element takes its focus.
        if (this.#tasks.contains(focused)) focused?.focus({ preventScroll: true });
        before = pins;
      });
    });
    effect(() => {
      // Whoever turns to a window wants it in its place, not in a preview; and one stands where the bar was.
      desk.windows.activeId();
      desk.windows.list();
      desk.area();
      untracked(() => this.preview.close(false));
    });
    const observer = new ResizeObserver(() => this.#scroll());
    observer.observe(this.#tasks);
    onDispose(() => observer.disconnect());
    effect(() => {
      desk.runtime.badges();
      for (const [appId, { element }] of this.#buttons) this.#label(appId, element);
    });
    this.element.addEventListener('keydown', (event) => this.#key(event));
    this.#autoHide();
  }

  /** What isn't a task's. */
  #barMenu(event: MouseEvent): void {
    if (event.defaultPrevented) return;
    event.preventDefault();
    this.#desk.menus.open(
      [
        { title: t('desktop.show'), icon: 'home', run: () => this.#home() },
        {
          title: t('settings.title'),
          icon: 'settings',
          run: () => void this.#desk.runtime.openApp('shell.settings', { section: 'taskbar' }),
        },
      ],
      pressedAt(event) ?? this.element,
      t('settings.taskbar'),
    );
  }

  #home(): void {
    this.#desk.pilot.close();
    this.#desk.start.close(false);
    this.preview.close(false);
    this.#desk.windows.putAway.toggle();
  }

  #startPicture(): HTMLElement {
    const holder = h('span.shell-start-picture');
    effect(() => {
      const { startIcon, logo } = this.#desk.runtime.options().brand ?? {};
      const icon = startIcon ?? logo;
      holder.replaceChildren(icon ? h('img', { src: this.#desk.runtime.iconUrl(icon), alt: '' }) : glyph('start'));
    });
    return holder;
  }

  #pilotButton(): HTMLElement {
    const count = h('span.shell-window-count', { 'aria-hidden': 'true' }, () => {
      // Only phones show it.
      const open = this.#desk.compact() ? this.#desk.windows.list().length : 0;
      return open > 0 ? formatNumber(open) : '';
    });
    return h(
      'button.shell-bar-button.shell-pilot-button',
      {
        'aria-label': () =>
          this.#desk.compact() ? t('pilot.count', { count: this.#desk.windows.list().length }) : t('pilot.title'),
        title: () => `${t('pilot.title')} (F9)`,
        'aria-pressed': () => String(this.#desk.pilot.open()),
        onclick: () => this.#desk.pilot.toggle(),
      },
      glyph('pilot'),
      count,
    );
  }

  /** A dot per webtop. */
  #pager(): HTMLElement {
    const pager = h('div.shell-pager', { role: 'group', 'aria-label': () => t('webtop.region'), part: 'pager' });
    effect(() => {
      const all = this.#desk.webtops();
      const active = this.#desk.activeWebtop();
      pager.hidden = all.length < 2;
      const focused = [...pager.children].indexOf(document.activeElement as Element);
      pager.replaceChildren(
        ...all.map((webtop) =>
          h('button.shell-dot', {
            'aria-label': this.#desk.webtopTitle(webtop),
            title: this.#desk.webtopTitle(webtop),
            'aria-current': webtop.id === active ? 'true' : undefined,
            onclick: () => this.#desk.showWebtop(webtop.id),
          }),
        ),
      );
      (pager.children[focused] as HTMLElement | undefined)?.focus();
    });
    return pager;
  }

  #clock(): HTMLElement {
    // A browser's first date format takes long: it waits until the rest stands, and comes a part a task.
    const now = signal<Date | undefined>(undefined);
    const say = (options: Intl.DateTimeFormatOptions) => {
      const date = now();
      return date && formatDate(date, options);
    };
    let timer: ReturnType<typeof setTimeout> | undefined;
    const tick = () => {
      now.set(new Date());
      timer = setTimeout(tick, 60_000 - (Date.now() % 60_000));
    };
    let idle: Dispose | undefined;
    const begin = ([part, ...others]: readonly (() => void)[]) => {
      idle = whenIdle(() => {
        if (!part) return tick();
        part();
        begin(others);
      }, CLOCK_AFTER_MS);
    };
    timer = setTimeout(() => begin(dateFormatParts), CLOCK_AFTER_MS);
    onDispose(() => {
      idle?.();
      clearTimeout(timer);
    });
    return h(
      'time.shell-clock',
      {
        part: 'clock',
        datetime: () => now()?.toISOString().slice(0, 16),
        title: () => say({ dateStyle: 'full' }),
      },
      h('span.shell-clock-time', {}, () => say({ hour: '2-digit', minute: '2-digit' })),
      h('span.shell-clock-date', {}, () => say({ day: 'numeric', month: 'short', weekday: 'short' })),
    );
  }

  /** Draws the button of one app: what the others show is unchanged. */
  #draw(appId: string): void {
    const group = this.#desk.windows.of(appId);
    let button = this.#buttons.get(appId);
    const resting = group.length === 0;
    const app = this.#desk.usableApp(appId);
    if (resting && !(app && this.#desk.pinned(appId))) {
      const focused = button?.element === document.activeElement;
      button?.dispose();
      takeOut(button?.element);
      this.#buttons.delete(appId);
      this.#reveal();
      if (focused) this.#desk.windows.focusNext();
      return;
    }
    if (!button) {
      const [element, dispose] = scope(() => this.#makeButton(appId));
      button = { element, dispose };
      this.#buttons.set(appId, button);
      this.#tasks.append(element);
      this.#reveal();
    }
    button.element.toggleAttribute('data-resting', resting);
    if (resting && app) this.#rest(button.element, app);
    else this.#update(button.element, group);
  }

  /** A pinned app without a window. */
  #rest(element: HTMLElement, app: AppDefinition): void {
    this.#picture(element, app.icon, app.accent);
    element.dataset.name = app.title;
    // No preview says which it is.
    element.title = app.title;
    this.#label(app.id, element);
    element.querySelector('.shell-task-marks')?.replaceChildren();
    element.removeAttribute('aria-haspopup');
  }

  #picture(element: HTMLElement, icon: string, accent: string | undefined): void {
    const key = `${icon} ${accent}`;
    if (element.dataset.look === key) return;
    element.querySelector('.shell-task-icon')?.replaceChildren(plate(this.#desk, icon, accent));
    element.dataset.look = key;
  }

  #makeButton(appId: string): HTMLElement {
    const { preview } = this;
    // A button that appears under a resting pointer is entered, too, but nobody pointed at it.
    let entered = false;
    const element: HTMLElement = h(
      'button.shell-task',
      {
        'data-app': appId,
        part: 'task',
        onclick: () => this.#click(appId, element),
        onauxclick: (event: MouseEvent) => {
          const last = this.#desk.windows.of(appId).at(-1);
          if (event.button === 1 && last) this.#desk.windows.close(last);
        },
        oncontextmenu: (event: MouseEvent) => {
          event.preventDefault();
          preview.close();
          this.#menu(appId, element);
        },
        onpointerdown: (event: PointerEvent) => this.#pull(event, appId, element),
        onpointerenter: () => {
          entered = true;
        },
        onpointermove: (event: PointerEvent) => {
          if (entered && event.pointerType !== 'touch') preview.hover(element, () => this.#desk.windows.of(appId));
          entered = false;
        },
        onpointerleave: () => preview.leave(),
      },
      h('span.shell-task-icon'),
      h('span.shell-task-marks', { 'aria-hidden': 'true' }),
      badge(this.#desk, () => [appId]),
    );
    return element;
  }

  #update(element: HTMLElement, group: readonly ShellWindow[]): void {
    const first = group[0];
    if (!first) return;
    const look = group.length === 1 ? first : { icon: first.app.icon, accent: first.app.accent };
    this.#picture(element, look.icon, look.accent);
    const name = group.length === 1 ? first.title : t('task.several', { title: first.app.title, count: group.length });
    element.dataset.name = name;
    element.removeAttribute('title');
    this.#label(first.app.id, element);
    const marks = element.querySelector('.shell-task-marks');
    if (marks?.childElementCount !== Math.min(3, group.length))
      marks?.replaceChildren(...group.slice(0, 3).map(() => h('i')));
    if (group.length > 1) element.setAttribute('aria-haspopup', 'dialog');
    else element.removeAttribute('aria-haspopup');
  }

  /** The name says the badge too, since it's seen. */
  #label(appId: string, element: HTMLElement): void {
    const mark = this.#desk.runtime.badges.peek().get(appId);
    const name = element.dataset.name ?? '';
    element.setAttribute('aria-label', mark ? t('task.badge', { name, badge: mark }) : name);
  }

  /** The middle of an app's button, where its windows come from and go to. */
  placeOf(appId: string): Point | undefined {
    const button = this.#buttons.get(appId)?.element;
    const root = this.#desk.root.getBoundingClientRect();
    if (!button) return undefined;
    const { left, top, width, height } = button.getBoundingClientRect();
    return { x: left - root.left + width / 2, y: top - root.top + height / 2 };
  }

  #markActive(appId: string | undefined): void {
    const element = appId === undefined ? undefined : this.#buttons.get(appId)?.element;
    if (this.#active !== element) {
      this.#active?.removeAttribute('aria-current');
      element?.setAttribute('aria-current', 'true');
      this.#active = element;
      this.#reveal();
    }
  }

  /** Scrolls to the active task after the frame, since opening windows measures nothing. */
  #reveal(): void {
    this.#frame ||= requestAnimationFrame(() => {
      this.#frame = 0;
      this.#scroll();
    });
  }

  /** Keeps the active task in sight when there are more than fit. */
  #scroll(): void {
    const { scrollWidth, clientWidth, scrollHeight, clientHeight } = this.#tasks;
    if (scrollWidth > clientWidth || scrollHeight > clientHeight)
      this.#tasks.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }

  #click(appId: string, element: HTMLElement): void {
    const group = this.#desk.windows.of(appId);
    const [only] = group;
    if (group.length > 1) {
      this.preview.toggle(element, () => this.#desk.windows.of(appId));
      return;
    }
    this.preview.close(false);
    if (!only) {
      this.#desk.runtime.openApp(appId);
      return;
    }
    const { windows } = this.#desk;
    if (windows.activeId.peek() === only.id && windows.shown(only)) windows.minimize(only);
    else windows.activate(only);
  }

  #menu(appId: string, element: HTMLElement): void {
    const group = this.#desk.windows.of(appId);
    const [only] = group;
    if (group.length === 1 && only) {
      openWindowMenu(this.#desk, only, element);
      return;
    }
    this.#desk.menus.open(
      [
        ...group.map((win) => ({ title: win.title, run: () => this.#desk.windows.activate(win) })),
        { title: t('word.open'), icon: 'open' as const, run: () => void this.#desk.runtime.openApp(appId) },
        this.#desk.pinEntry(appId),
        'separator',
        {
          title: t('task.closeAll'),
          disabled: group.length === 0,
          icon: 'close',
          run: () => {
            for (const win of [...group]) this.#desk.windows.close(win);
          },
        },
      ],
      element,
      element.getAttribute('aria-label') ?? appId,
    );
  }

  /** Moves a pinned app among the pins. */
  #movePin(appId: string | undefined, step: number): void {
    const pins = [...untracked(() => this.#desk.setting('pins'))];
    const at = pins.indexOf(appId ?? '');
    const to = clamp(at + step, 0, pins.length - 1);
    if (appId === undefined || at < 0 || to === at) return;
    pins.splice(to, 0, ...pins.splice(at, 1));
    this.#desk.choose({ pins });
  }

  /** A task that is pulled along the bar takes another place, and is pinned there. */
  #pull(down: PointerEvent, appId: string, element: HTMLElement): void {
    if (down.button !== 0 || down.pointerType === 'touch') return;
    let pulled = false;
    const upright = () => ['left', 'right'].includes(this.#desk.setting('taskbarPosition'));
    const along = (event: PointerEvent) => (upright() ? event.clientY - down.clientY : event.clientX - down.clientX);
    const end = (drop: PointerEvent | undefined) => {
      element.style.translate = '';
      if (!pulled) return;
      swallowClick(drop !== undefined);
      if (!drop) return;
      const others = [...this.#tasks.children].filter((other) => other !== element) as HTMLElement[];
      const before = others.filter((other) => {
        const { left, top, width, height } = other.getBoundingClientRect();
        return upright() ? top + height / 2 < drop.clientY : left + width / 2 < drop.clientX;
      });
      const order = [...before, element, ...others.slice(before.length)].map((one) => one.dataset.app ?? '');
      // What stands before it must stay before it.
      const pins = untracked(() => this.#desk.setting('pins'));
      const last = order.findLastIndex((id) => id === appId || pins.includes(id));
      this.#desk.choose({ pins: order.slice(0, last + 1) });
    };
    followPointer((event) => {
      if (!pulled && Math.abs(along(event)) < PULL_PX) return;
      pulled = true;
      this.preview.close(false);
      element.style.translate = upright() ? `0 ${along(event)}px` : `${along(event)}px 0`;
    }, end);
  }

  /** Arrow keys walk the bar. */
  #key(event: KeyboardEvent): void {
    const step = arrowStep(event);
    if (!step || event.altKey) return;
    if (event.ctrlKey) {
      this.#movePin((document.activeElement as HTMLElement | null)?.dataset.app, step);
      consume(event);
      return;
    }
    const buttons = [...this.element.querySelectorAll<HTMLElement>('button')].filter((button) =>
      button.checkVisibility(),
    );
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    buttons[(at + step + buttons.length) % buttons.length]?.focus();
    event.preventDefault();
  }

  /** A hidden bar comes back when the pointer touches its edge or the focus enters it. */
  #autoHide(): void {
    const { root } = this.#desk;
    effect(() => {
      if (!this.#desk.setting('taskbarAutoHide') || this.#desk.compact()) {
        root.removeAttribute('data-bar-hidden');
        return;
      }
      let timer: ReturnType<typeof setTimeout> | undefined;
      const show = () => {
        clearTimeout(timer);
        timer = undefined;
        root.removeAttribute('data-bar-hidden');
      };
      const hide = () => {
        clearTimeout(timer);
        timer = setTimeout(() => {
          timer = undefined;
          const used = this.element.matches(':hover, :focus-within') || this.preview.isOpen;
          if (used || this.#desk.start.isOpen.peek()) hide();
          else root.setAttribute('data-bar-hidden', '');
        }, 600);
      };
      hide();
      const near = (event: PointerEvent) => {
        const side = this.#desk.setting('taskbarPosition');
        const distance = {
          top: event.clientY,
          left: event.clientX,
          bottom: innerHeight - event.clientY,
          right: innerWidth - event.clientX,
        }[side];
        if (distance <= 4) show();
        else if (distance > 90 && !root.hasAttribute('data-bar-hidden') && timer === undefined) hide();
      };
      const end = together(
        listen(document, 'pointermove', near),
        listen(this.element, 'focusin', show),
        listen(this.element, 'focusout', hide),
        listen(this.element, 'pointerleave', hide),
      );
      return () => {
        clearTimeout(timer);
        end();
      };
    });
  }
}
