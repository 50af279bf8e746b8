/** One window: its record and its elements. The body is filled once and never moves in the document. */
import type { Overhang, Rect } from '../core/geometry.ts';
import { toHex, withContrast, WHITE, type Rgb } from '../core/colour.ts';
import type { Arrow, Placement } from '../core/snap.ts';
import { t } from '../i18n.ts';
import type { AppDefinition, AppMenuEntry, Awaitable, Intent } from '../types.ts';
import { parseColour } from './colour.ts';
import { h } from './dom.ts';

/** Callbacks an app registered on its window. */
export interface WindowHooks {
  close: Set<() => Awaitable<unknown>>;
  intent: Set<(intent: Intent) => void>;
}

/** What identifies and describes a window. */
export interface WindowInit {
  id: string;
  app: AppDefinition;
  webtop: string;
  bounds: Rect;
  placement: Placement;
  minimized: boolean;
  intent: Intent;
  link: string | undefined;
}

let template: HTMLElement | undefined;

/** The elements of a window, built once and cloned: opening many windows is mostly this. */
function cloneFrame(): HTMLElement {
  template ??= h(
    'section.shell-window',
    { role: 'dialog', tabindex: -1, part: 'window' },
    h(
      'header.shell-titlebar',
      { part: 'titlebar' },
      h(
        'button.shell-window-icon',
        { 'aria-haspopup': 'menu', 'data-act': 'menu' },
        h('img', { alt: '', draggable: 'false' }),
      ),
      h('h2.shell-window-title', { part: 'title' }),
      h(
        'div.shell-window-buttons',
        { part: 'window-buttons' },
        h('button.shell-window-button', { 'data-act': 'minimize' }),
        h('button.shell-window-button', { 'data-act': 'maximize' }),
        h('button.shell-window-button', { 'data-act': 'close' }),
      ),
    ),
    h('div.shell-body', { part: 'body' }),
  );
  return template.cloneNode(true) as HTMLElement;
}

/** An open window. */
export class ShellWindow {
  declare readonly id: string;
  declare readonly app: AppDefinition;
  readonly element: HTMLElement;
  readonly body: HTMLElement;
  readonly hooks: WindowHooks = { close: new Set(), intent: new Set() };
  declare webtop: string;
  /** Bounds while `normal`; what restoring goes back to. */
  declare bounds: Rect;
  /** Where its owner left the bounds beyond an edge; else they follow the area. */
  overhang: Overhang = { x: false, y: false };
  declare placement: Placement;
  declare minimized: boolean;
  declare intent: Intent;
  declare link: string | undefined;
  title: string;
  icon: string;
  accent: string | undefined;
  state: unknown = undefined;
  /** Extra entries of its menu. */
  menu: readonly AppMenuEntry[];
  /** The last snapping key, so that the same one again means more. */
  lastKey: Arrow | undefined;
  /** The element inside that had the focus last. */
  lastFocus: HTMLElement | undefined;
  closing = false;
  closed = false;
  /** Ends what the content started: timers of frames, pending loads. */
  readonly ends = new Set<() => void>();
  readonly #title: HTMLElement;
  readonly #image: HTMLImageElement;
  readonly #buttons: NodeListOf<HTMLElement>;

  constructor(init: WindowInit) {
    Object.assign(this, init);
    this.title = init.app.title;
    this.icon = init.app.icon;
    this.accent = init.app.accent;
    this.menu = init.app.menu ?? [];
    this.element = cloneFrame();
    this.element.id = `shell-${init.id}`;
    this.element.dataset.id = init.id;
    this.element.dataset.app = init.app.id;
    // The frame above has them.
    this.body = this.element.lastChild as HTMLElement;
    this.#title = this.element.querySelector('h2') as HTMLElement;
    this.#image = this.element.querySelector('img') as HTMLImageElement;
    this.#buttons = this.element.querySelectorAll('[data-act]');
    this.#title.id = `shell-${init.id}-title`;
    this.element.setAttribute('aria-labelledby', this.#title.id);
    this.translate();
  }

  /** Writes the names of the buttons in the current language. */
  translate(): void {
    const names: Record<string, string> = {
      menu: t('window.menu', { title: this.title }),
      minimize: t('window.minimize'),
      maximize: t(this.placement === 'maximized' ? 'window.restore' : 'window.maximize'),
      close: t('word.close'),
    };
    for (const button of this.#buttons) {
      const name = names[button.dataset.act ?? ''] ?? '';
      if (button.title === name) continue;
      button.setAttribute('aria-label', name);
      button.title = name;
    }
  }

  /** Shows title, icon and accent. */
  paint(iconUrl: string, plate: Rgb | undefined): void {
    this.#title.textContent = this.title;
    if (this.#image.getAttribute('src') !== iconUrl) this.#image.src = iconUrl;
    const style = this.element.style;
    if (this.accent) style.setProperty('--shell-window-accent', this.accent);
    else style.removeProperty('--shell-window-accent');
    if (plate) style.setProperty('--shell-plate', toHex(plate));
    else style.removeProperty('--shell-plate');
  }
}

/** Colours that were asked for; an application uses a few, again and again. */
const plateColours = new Map<string, Rgb | undefined>();

/** The plate behind a white glyph: the accent, darkened until the glyph stands out. */
export function plateColour(accent: string | undefined): Rgb | undefined {
  if (!accent) return undefined;
  if (!plateColours.has(accent)) {
    if (plateColours.size > 200) plateColours.clear();
    const colour = parseColour(accent);
    plateColours.set(accent, colour && withContrast(colour, WHITE, 3));
  }
  return plateColours.get(accent);
}
