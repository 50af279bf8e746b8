/** The bell on the taskbar and its list: what apps told, the latest first. */
import { effect, scope, untracked, type Dispose } from '../core/signal.ts';
import { formatDate, formatNumber, t } from '../i18n.ts';
import type { KeptNotice } from '../notices.ts';
import type { Desk } from './desk.ts';
import { h, listen, takeOut, together, trapTab } from './dom.ts';
import { closeButton, glyph } from './glyphs.ts';
import { place } from './menu.ts';
import { plate } from './tiles.ts';

/** Shows notices when they come, and all of them on demand. */
export class NoticeBell {
  readonly element: HTMLButtonElement;
  readonly #desk: Desk;
  #panel: HTMLElement | undefined;
  #dispose: Dispose | undefined;
  /** Take the notices back that are on screen. */
  readonly #told = new Map<number, () => void>();

  constructor(desk: Desk) {
    this.#desk = desk;
    const { notices } = desk.runtime;
    const fresh = () => notices.list().filter((one) => !one.seen).length;
    this.element = h(
      'button.shell-bar-button.shell-bell',
      {
        'aria-label': () => (fresh() > 0 ? t('notices.count', { count: fresh() }) : t('notices.title')),
        title: () => t('notices.title'),
        'aria-haspopup': 'dialog',
        hidden: () => notices.list().length === 0,
        onclick: () => (this.#panel ? this.close() : this.#open()),
      },
      glyph('bell'),
      h('span.shell-badge', { 'aria-hidden': 'true', hidden: () => fresh() === 0 }, () => formatNumber(fresh())),
    );
    let known = 0;
    effect(() => {
      const latest = notices.list().filter((one) => one.id > known);
      known = Math.max(known, ...latest.map((one) => one.id));
      untracked(() => {
        for (const [id, hide] of this.#told) {
          if (notices.list().some((one) => one.id === id)) continue;
          hide();
          this.#told.delete(id);
        }
        for (const notice of latest.reverse()) this.#tell(notice);
      });
    });
    let person = desk.runtime.session.peek()?.identity?.id;
    effect(() => {
      const id = desk.runtime.session()?.identity?.id;
      // What one person was told is nothing for the next.
      if (id !== person) untracked(() => notices.clear());
      person = id;
    });
    effect(() => () => this.close(false));
  }

  #tell(notice: KeptNotice): void {
    if (this.#panel) return;
    const text = notice.text ? `${notice.title}\n${notice.text}` : notice.title;
    const action = notice.appId && { title: t('word.open'), run: () => this.#turnTo(notice) };
    this.#told.set(notice.id, this.#desk.toasts.show(text, 'notice', action || undefined));
  }

  #turnTo(notice: KeptNotice): void {
    this.#desk.runtime.notices.remove(notice.id);
    this.close(false);
    if (notice.appId) this.#desk.runtime.openApp(notice.appId, notice.intent);
  }

  #open(): void {
    this.#desk.start.close(false);
    // All of them are in the list.
    for (const hide of this.#told.values()) hide();
    this.#told.clear();
    const [panel, dispose] = scope(() => this.#build());
    this.#panel = panel;
    this.#desk.topLayer.append(panel);
    place(panel, this.element);
    panel.focus({ preventScroll: true });
    const away = (event: Event) => {
      const inside =
        event.target instanceof Node && (panel.contains(event.target) || this.element.contains(event.target));
      // What is pressed takes the focus from the bell, if it takes any.
      if (!inside) this.close();
    };
    this.#dispose = together(
      dispose,
      listen(document, 'pointerdown', away, { capture: true }),
      listen(window, 'blur', () => this.close(false)),
      listen(window, 'resize', () => this.close(false)),
    );
  }

  /** Closes the list; the focus goes back to the bell. */
  close(restoreFocus = true): void {
    if (!this.#panel) return;
    this.#dispose?.();
    takeOut(this.#panel);
    this.#panel = undefined;
    this.#desk.runtime.notices.see();
    if (!restoreFocus) return;
    if (this.element.hidden) this.#desk.windows.focusNext();
    else this.element.focus({ preventScroll: true });
  }

  #build(): HTMLElement {
    const { notices } = this.#desk.runtime;
    const list = h('ul.shell-notices', { role: 'list' });
    effect(() => {
      const all = notices.list();
      const at = [...list.querySelectorAll('button')].indexOf(document.activeElement as HTMLButtonElement);
      list.replaceChildren(...all.map((notice) => this.#item(notice)));
      if (at >= 0) ([...list.querySelectorAll('button')].at(Math.min(at, all.length * 2 - 1)) ?? panel).focus();
    });
    const panel: HTMLElement = h(
      'div.shell-notice-panel',
      {
        role: 'dialog',
        tabindex: -1,
        'aria-label': () => t('notices.title'),
        part: 'notices',
        onkeydown: (event: KeyboardEvent) => {
          if (event.key === 'Escape') this.close();
          else trapTab(panel, event);
          event.stopPropagation();
        },
      },
      h(
        'div.shell-notice-head',
        {},
        h('h2.shell-dialog-title', {}, () => t('notices.title')),
        h(
          'button.shell-button',
          {
            hidden: () => notices.list().length === 0,
            onclick: () => {
              notices.clear();
              this.close();
            },
          },
          () => t('notices.clear'),
        ),
      ),
      list,
      h('p.shell-hint', { hidden: () => notices.list().length > 0 }, () => t('notices.none')),
    );
    return panel;
  }

  #item(notice: KeptNotice): HTMLElement {
    const app = notice.appId === undefined ? undefined : this.#desk.usableApp(notice.appId);
    const body = [
      plate(this.#desk, app?.icon ?? 'bell.svg', app?.accent),
      h(
        'span.shell-result-text',
        {},
        h('span.shell-result-title', {}, notice.title),
        notice.text && h('span.shell-notice-text', {}, notice.text),
        h(
          'time.shell-result-sub',
          { datetime: notice.at.toISOString() },
          formatDate(notice.at, { hour: '2-digit', minute: '2-digit' }),
        ),
      ),
    ];
    return h(
      'li.shell-notice',
      { 'data-new': !notice.seen },
      app
        ? h('button.shell-notice-open.shell-result', { onclick: () => this.#turnTo(notice) }, body)
        : h('div.shell-notice-open.shell-result', {}, body),
      closeButton(t('window.closeNamed', { title: notice.title }), () => this.#desk.runtime.notices.remove(notice.id)),
    );
  }
}
