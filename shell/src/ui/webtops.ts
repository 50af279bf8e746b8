/** The webtops on screen: one grid each, of which the active one is shown. */
import { WEBTOP_GRID } from '../core/grid.ts';
import type { WebtopItem } from '../core/profile.ts';
import { effect, signal, untracked } from '../core/signal.ts';
import { addItem, changeItem, dissolveFolder, findItem, putItem } from '../core/workspace.ts';
import { t } from '../i18n.ts';
import type { Desk } from './desk.ts';
import { askText } from './dialog.ts';
import { animate, h, newId, whenIdle } from './dom.ts';
import { FolderPanel } from './folder.ts';
import { GridDrag } from './grid-drag.ts';
import { GridView, type GridActions } from './grid-view.ts';
import type { MenuAnchor, MenuEntries } from './menu.ts';
import { itemTitle } from './tiles.ts';

/** When the next grid that nobody sees is drawn at the latest. */
const AHEAD_LATEST_MS = 300;

/** Shows and changes webtops. */
export class Webtops {
  readonly element: HTMLElement;
  readonly folder: FolderPanel;
  readonly drag: GridDrag;
  readonly #desk: Desk;
  readonly #views = new Map<string, GridView>();
  #shown: string | undefined;
  /** How many of the grids that nobody sees are drawn; they wait until the first one stands, and come one a task. */
  readonly #ahead = signal(0);

  constructor(desk: Desk) {
    this.#desk = desk;
    this.element = h('main.shell-main', { part: 'webtop', tabindex: -1, 'aria-label': () => this.#label() });
    this.folder = new FolderPanel(desk, this);
    this.drag = new GridDrag(desk, this);
    // Whoever turns to the webtop has no window to work in.
    this.element.addEventListener('pointerdown', () => desk.windows.leaveActive());
    this.element.addEventListener('contextmenu', (event) => {
      event.preventDefault();
      this.menu({ x: event.clientX, y: event.clientY });
    });
    effect(() => {
      if (!this.drag.active()) this.#render();
    });
    effect(() => this.#show(desk.activeWebtop()));
    effect(() => {
      if (this.#ahead() >= desk.webtops().length) return undefined;
      return whenIdle(() => this.#ahead.update((count) => count + 1), AHEAD_LATEST_MS);
    });
  }

  #label(): string {
    const webtop = this.#desk.currentWebtop();
    return webtop ? this.#desk.webtopTitle(webtop) : '';
  }

  #render(): void {
    const gone = new Set(this.#views.keys());
    for (const [index, webtop] of this.#desk.webtops().entries()) {
      gone.delete(webtop.id);
      let view = this.#views.get(webtop.id);
      if (!view) {
        view = untracked(() => this.#makeView(webtop.id));
        this.#views.set(webtop.id, view);
        this.element.append(view.element);
        view.element.classList.toggle('shell-away', webtop.id !== this.#shown);
      }
      if (index < this.#ahead() || webtop.id === this.#desk.activeWebtop()) view.render(webtop.items);
    }
    for (const id of gone) {
      this.#views.get(id)?.dispose();
      this.#views.delete(id);
    }
  }

  #makeView(id: string): GridView {
    const label = () => {
      const webtop = this.#desk.webtops().find((one) => one.id === id);
      return webtop ? this.#desk.webtopTitle(webtop) : '';
    };
    return new GridView(this.#desk, id, WEBTOP_GRID, label, this.actions());
  }

  /** What tiles do, on webtops and in folders alike. */
  actions(edge?: GridActions['edge']): GridActions {
    return {
      open: (item) => this.openItem(item),
      menu: (item, anchor) => this.itemMenu(item, anchor),
      move: (item, cell) => this.moveItem(item, cell),
      remove: (item) => this.#desk.removeItem(item.id, itemTitle(this.#desk, item)),
      edge:
        edge ??
        ((key) => {
          if (key === 'Left' || key === 'Right') {
            if (this.#desk.stepWebtop(key === 'Left' ? -1 : 1)) queueMicrotask(() => this.focus());
          }
        }),
    };
  }

  #show(id: string): void {
    const order = this.#desk.webtops.peek().map((webtop) => webtop.id);
    const direction = Math.sign(order.indexOf(id) - order.indexOf(this.#shown ?? id));
    this.#shown = id;
    for (const [viewId, view] of this.#views) view.element.classList.toggle('shell-away', viewId !== id);
    // Keys go on where one looks: what had the focus may have stayed behind.
    const { active } = this.#desk.windows;
    const focused = document.activeElement;
    const behind = focused?.closest('.shell-away');
    if (active && (behind || focused === this.element || focused === document.body))
      this.#desk.windows.focusInside(active);
    else if (behind) this.focus();
    const view = this.#views.get(id);
    if (!view || direction === 0) return;
    animate(
      view.element,
      [
        { opacity: 0, transform: `translateX(${direction * 48}px)` },
        { opacity: 1, transform: 'none' },
      ],
      220,
    );
  }

  /** The grid of the active webtop. */
  get current(): GridView | undefined {
    return this.#views.get(this.#desk.activeWebtop.peek());
  }

  /** Focuses an item that is in sight, else the tile that had the focus last, else the webtop. */
  focus(id?: string): void {
    if (id !== undefined && (this.folder.view?.focus(id) || this.current?.focus(id))) return;
    if (!this.current?.focus()) this.element.focus({ preventScroll: true });
  }

  /** Opens a shortcut's app or a folder. */
  openItem(item: WebtopItem): void {
    if (item.kind === 'folder') {
      this.folder.open(item.id);
      return;
    }
    const app = this.#desk.usableApp(item.appId);
    if (!app) return;
    this.folder.close(false);
    this.#desk.windows.open(app, { intent: item.state, link: item.id });
  }

  /** Moves an item to another cell of its container. */
  moveItem(item: WebtopItem, cell: number): void {
    const container = findItem(this.#desk.webtops.peek(), item.id)?.container;
    if (!container || !this.#desk.setWebtops(putItem(this.#desk.webtops.peek(), item, { container, cell }))) return;
    const view = this.#views.get(container) ?? this.folder.view;
    const { columns, rows } = view?.size ?? WEBTOP_GRID;
    const local = cell % (columns * rows);
    this.#desk.announce(
      t('say.moved', {
        title: itemTitle(this.#desk, item),
        row: Math.floor(local / columns) + 1,
        column: (local % columns) + 1,
      }),
    );
    queueMicrotask(() => view?.focus(item.id));
  }

  async #rename(item: WebtopItem): Promise<void> {
    const title = await askText(this.#desk.topLayer, t('word.rename'), t('word.name'), itemTitle(this.#desk, item));
    if (title) this.#desk.webtops.set(changeItem(this.#desk.webtops.peek(), item.id, (old) => ({ ...old, title })));
  }

  #transfer(item: WebtopItem, container: string): void {
    this.#desk.setWebtops(addItem(this.#desk.webtops.peek(), item, container));
  }

  /** The menu of a tile. */
  itemMenu(item: WebtopItem, anchor: MenuAnchor): void {
    const all = this.#desk.webtops.peek();
    const home = findItem(all, item.id)?.container;
    const folders = all.flatMap((webtop) => webtop.items).filter((one) => one.kind === 'folder' && one.id !== home);
    const targets = all.filter((webtop) => webtop.id !== home);
    const entries: MenuEntries = [
      { title: t('word.open'), icon: 'open', run: () => this.openItem(item) },
      { title: t('word.rename'), icon: 'edit', run: () => void this.#rename(item) },
    ];
    if (item.kind === 'shortcut') {
      entries.push({
        title: t('shortcut.toFolder'),
        icon: 'folder',
        entries: [
          ...folders.map((folder) => ({
            title: itemTitle(this.#desk, folder),
            run: () => this.#transfer(item, folder.id),
          })),
          { title: t('folder.new'), icon: 'plus', run: () => this.#intoNewFolder(item) },
        ],
      });
    }
    if (targets.length > 0) {
      entries.push({
        title: t('shortcut.toWebtop'),
        icon: 'webtop',
        entries: targets.map((webtop) => ({
          title: this.#desk.webtopTitle(webtop),
          run: () => this.#transfer(item, webtop.id),
        })),
      });
    }
    entries.push('separator');
    if (item.kind === 'folder') {
      entries.push({
        title: t('folder.dissolve'),
        icon: 'duplicate',
        run: () => void this.#desk.setWebtops(dissolveFolder(this.#desk.webtops.peek(), item.id)),
      });
    }
    entries.push({
      title: t('word.remove'),
      icon: 'trash',
      danger: true,
      run: () => this.#desk.removeItem(item.id, itemTitle(this.#desk, item)),
    });
    this.#desk.menus.open(entries, anchor, itemTitle(this.#desk, item));
  }

  #intoNewFolder(item: WebtopItem): void {
    const id = newId('folder');
    const folder: WebtopItem = { kind: 'folder', id, title: t('folder.untitled'), cell: 0, items: [] };
    const made = addItem(this.#desk.webtops.peek(), folder, this.#desk.activeWebtop.peek());
    this.#desk.setWebtops(made && addItem(made, item, id));
  }

  async #newFolder(): Promise<void> {
    const title = await askText(
      this.#desk.topLayer,
      t('folder.new'),
      t('word.name'),
      t('folder.untitled'),
      t('word.create'),
    );
    if (!title) return;
    const folder: WebtopItem = { kind: 'folder', id: newId('folder'), title, cell: 0, items: [] };
    this.#desk.setWebtops(addItem(this.#desk.webtops.peek(), folder, this.#desk.activeWebtop.peek()));
  }

  /** The menu of the webtop itself. */
  menu(anchor: MenuAnchor): void {
    const webtop = this.#desk.currentWebtop();
    this.#desk.menus.open(
      [
        { title: t('folder.new'), icon: 'folder', run: () => void this.#newFolder() },
        { title: t('webtop.rename'), icon: 'edit', run: () => void this.#renameWebtop() },
        { title: t('pilot.title'), icon: 'pilot', shortcut: 'F9', run: () => this.#desk.pilot.toggle() },
        'separator',
        {
          title: t('settings.wallpaper'),
          icon: 'image',
          run: () => void this.#desk.runtime.openApp('shell.settings', { section: 'appearance' }),
        },
        { title: t('settings.title'), icon: 'settings', run: () => void this.#desk.runtime.openApp('shell.settings') },
      ],
      anchor,
      webtop ? this.#desk.webtopTitle(webtop) : '',
    );
  }

  async #renameWebtop(): Promise<void> {
    const webtop = this.#desk.currentWebtop();
    if (!webtop) return;
    const title = await askText(
      this.#desk.topLayer,
      t('webtop.rename'),
      t('word.name'),
      this.#desk.webtopTitle(webtop),
    );
    if (title) this.#desk.webtops.update((all) => all.map((one) => (one.id === webtop.id ? { ...one, title } : one)));
  }
}
