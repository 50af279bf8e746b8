/** An open folder: a sheet over the webtop with pages of 4 × 3, a title that can be changed, and dots for the pages. */
import { FOLDER_GRID } from '../core/grid.ts';
import { effect, onDispose, scope, signal, type Dispose } from '../core/signal.ts';
import { changeItem, findFolder, folderPages } from '../core/workspace.ts';
import { t } from '../i18n.ts';
import type { Desk } from './desk.ts';
import { animate, h, listen, takeOut, trapTab } from './dom.ts';
import { closeButton } from './glyphs.ts';
import { GridView } from './grid-view.ts';
import type { Webtops } from './webtops.ts';

/** Shows one folder at a time. */
export class FolderPanel {
  view: GridView | undefined;
  readonly #desk: Desk;
  readonly #webtops: Webtops;
  readonly #page = signal(0);
  #element: HTMLElement | undefined;
  #dispose: Dispose | undefined;
  #id: string | undefined;

  constructor(desk: Desk, webtops: Webtops) {
    this.#desk = desk;
    this.#webtops = webtops;
  }

  get isOpen(): boolean {
    return this.#element !== undefined;
  }

  /** The sheet, to tell whether a pointer is over it. */
  get panel(): Element | null | undefined {
    return this.#element?.querySelector('.shell-folder');
  }

  /** Opens a folder. */
  open(id: string): void {
    this.close(false);
    const [element, dispose] = scope(() => this.#build(id));
    this.#id = id;
    this.#element = element;
    this.#dispose = dispose;
    this.#desk.topLayer.append(element);
    const panel = element.firstElementChild;
    if (panel instanceof HTMLElement) {
      // It grows out of its tile.
      const tile = this.#webtops.current?.tile(id)?.getBoundingClientRect();
      const { left, top } = panel.getBoundingClientRect();
      if (tile)
        panel.style.transformOrigin = `${tile.left + tile.width / 2 - left}px ${tile.top + tile.height / 2 - top}px`;
      animate(
        panel,
        [
          { opacity: 0, scale: tile ? 0.2 : 0.92 },
          { opacity: 1, scale: 1 },
        ],
        180,
      );
    }
    if (!this.#webtops.drag.active.peek() && !this.view?.focus()) element.querySelector('input')?.focus();
  }

  /** Closes the folder; the focus goes back to its tile. */
  close(restoreFocus = true): void {
    if (!this.#element) return;
    const id = this.#id;
    this.#dispose?.();
    takeOut(this.#element);
    this.#element = undefined;
    this.view = undefined;
    if (restoreFocus) this.#webtops.current?.focus(id);
  }

  /** Goes when the person turns to something else: it would lie over it. */
  #followPerson(): void {
    const [webtop, active] = [this.#desk.activeWebtop.peek(), this.#desk.windows.activeId.peek()];
    effect(() => {
      if (this.#desk.activeWebtop() === webtop && this.#desk.windows.activeId() === active) return;
      queueMicrotask(() => {
        const hadFocus = this.#element?.contains(document.activeElement);
        this.close(false);
        if (hadFocus) this.#desk.windows.focusNext();
      });
    });
    const away = listen(document, 'focusin', ({ target }) => {
      // Its own menus, questions and notices lie above it.
      const own = '.shell-folder-backdrop, .shell-menu, .shell-dialog, .shell-toasts';
      if (target instanceof Element && !target.closest(own)) this.close(false);
    });
    onDispose(away);
  }

  /** Turns pages; answers whether there was one. While dragging there's one more page. */
  turn(step: number): boolean {
    const folder = this.#id && findFolder(this.#desk.webtops.peek(), this.#id);
    if (!folder) return false;
    const next = this.#page.peek() + step;
    if (next < 0 || next >= folderPages(folder, this.#webtops.drag.active.peek())) return false;
    this.#page.set(next);
    this.view?.turnTo(next);
    return true;
  }

  #build(id: string): HTMLElement {
    this.#page.set(0);
    const folder = () => findFolder(this.#desk.webtops(), id);
    const view = new GridView(
      this.#desk,
      id,
      FOLDER_GRID,
      () => folder()?.title || t('folder.untitled'),
      this.#webtops.actions((key) => {
        if ((key === 'Left' || key === 'Right') && this.turn(key === 'Left' ? -1 : 1))
          queueMicrotask(() => view.focus());
      }),
    );
    this.view = view;
    this.#followPerson();
    const title = h('input.shell-folder-title', {
      'aria-label': t('folder.name'),
      value: folder()?.title ?? '',
      maxlength: 60,
      onchange: () => {
        this.#desk.webtops.set(
          changeItem(this.#desk.webtops.peek(), id, (old) => ({ ...old, title: title.value.trim() })),
        );
      },
    });
    const dots = h('div.shell-folder-dots');
    effect(() => {
      const current = folder();
      if (!current) {
        queueMicrotask(() => this.close());
        return;
      }
      if (!this.#webtops.drag.active()) view.render(current.items);
    });
    effect(() => {
      const current = folder();
      if (current) this.#drawDots(dots, folderPages(current, this.#webtops.drag.active()));
    });
    const empty = h('p.shell-folder-empty', { hidden: () => (folder()?.items.length ?? 0) > 0 }, () =>
      t('folder.empty'),
    );
    const panel = h(
      'div.shell-folder',
      {
        role: 'dialog',
        'aria-modal': 'true',
        'aria-label': () => folder()?.title || t('folder.untitled'),
        part: 'folder',
      },
      h(
        'div.shell-folder-head',
        {},
        title,
        closeButton(
          () => t('word.close'),
          () => this.close(),
        ),
      ),
      view.element,
      empty,
      dots,
    );
    const backdrop = h(
      'div.shell-folder-backdrop',
      {
        onclick: (event: MouseEvent) => event.target === backdrop && this.close(),
        onkeydown: (event: KeyboardEvent) => {
          if (event.key === 'Escape') {
            event.stopPropagation();
            this.close();
          } else if (event.key === 'Enter' && event.target === title) title.blur();
          else trapTab(panel, event);
        },
      },
      panel,
    );
    return backdrop;
  }

  #drawDots(dots: HTMLElement, pages: number): void {
    const page = Math.min(this.#page(), pages - 1);
    if (page !== this.view?.page) this.view?.turnTo(page);
    // Their place is kept, so that nothing shifts when a drag offers a second page.
    dots.toggleAttribute('data-single', pages < 2);
    const focused = [...dots.children].indexOf(document.activeElement as Element);
    dots.replaceChildren(
      ...Array.from({ length: pages }, (_unused, index) =>
        h('button.shell-dot', {
          'aria-label': t('folder.page', { number: index + 1 }),
          'aria-current': index === page ? 'true' : undefined,
          onclick: () => {
            this.#page.set(index);
            this.view?.turnTo(index);
          },
        }),
      ),
    );
    (dots.children[focused] as HTMLElement | undefined)?.focus();
  }
}
