/** Start menu and search in one panel: type, and results replace the apps. */
import { rankAny } from '../core/ranking.ts';
import { effect, scope, signal, type Dispose } from '../core/signal.ts';
import { t } from '../i18n.ts';
import type { AppDefinition } from '../types.ts';
import type { Desk } from './desk.ts';
import { consume, giveFocus, h, listen, nearestTowards, newId, pressedAt, takeOut, together, trapTab } from './dom.ts';
import { closeButton, glyph } from './glyphs.ts';
import { SearchResults } from './results.ts';
import { layScrim } from './scrim.ts';
import { sessionButton } from './login.ts';
import { appPlate, badge } from './tiles.ts';
import type { Taskbar } from './taskbar.ts';

/** What the keys of the panel move between. */
interface Parts {
  panel: HTMLElement;
  input: HTMLInputElement;
  results: SearchResults;
  apps: HTMLElement;
  clear(): void;
}

/** The panel above the start button. */
export class StartMenu {
  readonly isOpen = signal(false);
  taskbar: Taskbar | undefined;
  readonly #desk: Desk;
  #panel: HTMLElement | undefined;
  #dispose: Dispose | undefined;
  #returnTo: Element | null = null;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** Opens or closes; `search` opens with the caret in the search field in any case. */
  toggle(search = false): void {
    if (this.isOpen.peek() && !search) this.close();
    else if (this.isOpen.peek()) this.#panel?.querySelector('input')?.focus();
    else this.#open(search);
  }

  /** Closes; the focus goes back to where it was. */
  close(restoreFocus = true): void {
    if (!this.#panel) return;
    this.#dispose?.();
    takeOut(this.#panel);
    this.#panel = undefined;
    this.isOpen.set(false);
    if (restoreFocus && !giveFocus(this.#returnTo)) this.#desk.windows.focusNext();
  }

  #open(search: boolean): void {
    this.#returnTo = document.activeElement;
    this.taskbar?.preview.close(false);
    this.#desk.pilot.close();
    const [panel, dispose] = scope(() => this.#build());
    this.#dispose = together(
      dispose,
      // Below the taskbar, which stays in use: whoever turns to a window or a webtop there is done here.
      layScrim(this.#desk.root, () => this.close()),
      listen(this.taskbar?.element ?? this.#desk.root, 'click', ({ target }) => {
        if (target instanceof Element && target.closest('.shell-task, .shell-dot')) this.close(false);
      }),
      listen(window, 'blur', () => document.activeElement instanceof HTMLIFrameElement && this.close(false)),
    );
    this.#panel = panel;
    this.#desk.topLayer.append(panel);
    this.isOpen.set(true);
    // A phone's keyboard would lie over the apps: it comes for whoever wants to search.
    const typing = search || !matchMedia('(pointer: coarse)').matches;
    (typing ? panel.querySelector('input') : panel)?.focus({ preventScroll: true });
  }

  #build(): HTMLElement {
    const query = signal('');
    const apps = this.#apps();
    const results = new SearchResults(this.#desk, query, () => this.close(false));
    const input: HTMLInputElement = h('input.shell-start-input', {
      type: 'search',
      role: 'combobox',
      'aria-label': () => t('search.title'),
      'aria-autocomplete': 'list',
      'aria-controls': results.listId,
      'aria-expanded': () => String(query() !== ''),
      'aria-activedescendant': () => results.activeOption(),
      // On a phone the long text would be cut off.
      placeholder: () => t(this.#desk.compact() ? 'search.title' : 'search.placeholder'),
      autocomplete: 'off',
      spellcheck: 'false',
      oninput: () => query.set(input.value.trim()),
    });
    const clear = () => {
      input.value = '';
      query.set('');
      input.focus();
    };
    // Keys have Escape.
    const clearButton = closeButton(() => t('search.clear'), clear, { tabindex: -1, hidden: () => query() === '' });
    const panel: HTMLElement = h(
      'div.shell-start',
      {
        role: 'dialog',
        tabindex: -1,
        'aria-label': () => t('start.title'),
        part: 'start',
        onkeydown: (event: KeyboardEvent) => this.#key(event, { panel, input, results, apps, clear }),
      },
      h('div.shell-start-search', {}, glyph('search'), input, clearButton),
      h('div.shell-start-body', { hidden: () => query() !== '' }, apps),
      h('div.shell-start-body', { hidden: () => query() === '' }, results.element),
      this.#footer(),
    );
    return panel;
  }

  /** Pinned and recent apps, then all of them by group. */
  #apps(): HTMLElement {
    const desk = this.#desk;
    const sheet = h('div.shell-start-sheet');
    // A finger scrolls here until it carries an app, which the browser would take away from it.
    listen(sheet, 'touchmove', (event) => desk.grids.drag.active.peek() && event.preventDefault(), { passive: false });
    effect(() => {
      const { activeElement } = document;
      const focused = sheet.contains(activeElement) ? (activeElement as HTMLElement).dataset : undefined;
      const all = desk.runtime.visibleApps();
      const known = (ids: readonly string[]) =>
        ids.map((id) => all.find((app) => app.id === id)).filter((app) => app !== undefined);
      const pins = desk.setting('pins');
      const sections: [string, AppDefinition[]][] = [
        [t('start.pinned'), known(pins)],
        [t('start.recent'), known(desk.setting('recent').filter((id) => !pins.includes(id)))],
        ...Map.groupBy(all, (app) => app.group ?? t('start.apps')),
      ];
      sheet.replaceChildren(
        ...sections.filter(([, apps]) => apps.length > 0).map(([title, apps]) => this.#section(title, apps)),
      );
      for (const button of sheet.querySelectorAll<HTMLElement>('[data-app]'))
        if (button.dataset.app === focused?.app && button.dataset.section === focused?.section) button.focus();
    });
    return sheet;
  }

  #section(title: string, apps: readonly AppDefinition[]): HTMLElement {
    const buttons = apps.map((app) => {
      const button = this.#app(app);
      button.dataset.section = title;
      return h('li', {}, button);
    });
    return h(
      'section.shell-start-section',
      {},
      h('h2.shell-start-heading', {}, title),
      h('ul.shell-start-apps', { role: 'list', 'aria-label': title }, buttons),
    );
  }

  #app(app: AppDefinition): HTMLElement {
    const open = () => {
      this.close(false);
      this.#desk.runtime.openApp(app.id);
    };
    const button: HTMLElement = h(
      'button.shell-start-app',
      {
        'data-app': app.id,
        part: 'start-app',
        onclick: open,
        onpointerdown: (event: PointerEvent) => {
          if (event.button !== 0) return;
          const item = { kind: 'shortcut' as const, id: newId('shortcut'), cell: 0, appId: app.id };
          this.#desk.grids.drag.begin(event, item, button, true);
        },
        oncontextmenu: (event: MouseEvent) => {
          event.preventDefault();
          this.#desk.menus.open(
            [
              { title: t('word.open'), icon: 'open', run: open },
              this.#desk.pinEntry(app.id),
              { title: t('start.toWebtop'), icon: 'shortcut', run: () => void this.#desk.addShortcut(app.id) },
            ],
            pressedAt(event) ?? button,
            app.title,
          );
        },
      },
      appPlate(this.#desk, app),
      h('span.shell-tile-label', {}, app.title),
      badge(this.#desk, () => [app.id]),
    );
    return button;
  }

  #footer(): HTMLElement {
    const { runtime } = this.#desk;
    const button = (icon: 'docs' | 'settings', label: () => string, appId: string) =>
      h(
        'button.shell-bar-button',
        {
          'aria-label': label,
          title: label,
          onclick: () => {
            this.close(false);
            runtime.openApp(appId);
          },
        },
        glyph(icon),
      );
    const docs = h(
      'span',
      { hidden: () => !runtime.options().docsUrl },
      button('docs', () => t('docs.title'), 'shell.docs'),
    );
    return h(
      'div.shell-start-footer',
      {},
      h(
        'span.shell-start-who',
        {},
        () => runtime.access().identity?.displayName ?? runtime.options().brand?.title ?? t('start.guest'),
      ),
      docs,
      button('settings', () => t('settings.title'), 'shell.settings'),
      sessionButton(runtime, () => this.close(false)),
    );
  }

  #key(event: KeyboardEvent, { panel, input, results, apps, clear }: Parts): void {
    if (event.key === 'Escape') {
      if (input.value) clear();
      else this.close();
    } else if (event.target === input && input.value && results.key(event.key)) {
      // The results took the key.
    } else if (event.target === input && event.key === 'ArrowDown') apps.querySelector('button')?.focus();
    else if (apps.contains(event.target as Node) && /^(Arrow.+|Home|End)$/.test(event.key))
      this.#walk(event.key, apps, input);
    else {
      // Whoever types means the search, wherever the focus is; the letter follows it.
      if (event.key.length === 1 && event.key !== ' ' && !event.ctrlKey && !event.altKey && !event.metaKey)
        input.focus();
      trapTab(panel, event);
      event.stopPropagation();
      return;
    }
    consume(event);
  }

  /** Arrow keys over the app tiles, by their places on screen; Home and End. */
  #walk(key: string, apps: HTMLElement, input: HTMLInputElement): void {
    const all = [...apps.querySelectorAll<HTMLElement>('button')];
    const at = all.indexOf(document.activeElement as HTMLElement);
    let to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: all.length - 1 }[key];
    const from = all[at];
    if (from && to === undefined) {
      // The nearest in the next row, of whichever section.
      const next = nearestTowards(key, from, all, 1 / 4);
      to = next ? all.indexOf(next) : key === 'ArrowUp' ? -1 : at;
    }
    if (to === undefined) return;
    if (to < 0) input.focus();
    else all[Math.min(all.length - 1, to)]?.focus();
  }
}

/** Apps that answer a query, best first. */
export function matchApps(desk: Desk, query: string): { app: AppDefinition; score: number }[] {
  return desk.runtime
    .visibleApps()
    .map((app) => ({ app, score: rankAny(query, [app.title, app.id]) }))
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}
