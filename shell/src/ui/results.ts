/** What search found: apps, shortcuts and settings at once, providers' hits as they come. */
import { WORD_START, rank, rankAny } from '../core/ranking.ts';
import { effect, signal, type Signal } from '../core/signal.ts';
import { allItems } from '../core/workspace.ts';
import { t } from '../i18n.ts';
import type { SearchResult } from '../types.ts';
import { SECTIONS } from './apps/settings.ts';
import type { Desk } from './desk.ts';
import { h, newId } from './dom.ts';
import { glyph, type GlyphName } from './glyphs.ts';
import { matchApps } from './start.ts';
import { appPlate, itemTitle, plate } from './tiles.ts';

interface Option {
  key: string;
  title: string;
  subtitle?: string | undefined;
  picture: () => Element;
  run(): void;
}

interface Group {
  title: string;
  options: Option[];
}

const DEBOUNCE_MS = 120;
const PER_GROUP = 8;

function glyphPlate(name: GlyphName): HTMLElement {
  return h('span.shell-plate', {}, glyph(name));
}

/** A list box of results. */
export class SearchResults {
  readonly listId = newId('shell-results');
  readonly element: HTMLElement;
  readonly activeOption = signal<string | undefined>(undefined);
  readonly #desk: Desk;
  readonly #close: () => void;
  readonly #hits = signal<readonly SearchResult[]>([]);
  readonly #pending = signal(false);
  #options: { id: string; key: string; option: Option }[] = [];

  constructor(desk: Desk, query: Signal<string>, close: () => void) {
    this.#desk = desk;
    this.#close = close;
    const list = h('div.shell-results', { role: 'listbox', id: this.listId, 'aria-label': () => t('search.results') });
    const status = h('p.shell-results-status', { role: 'status' });
    this.element = h('div', {}, list, status);
    effect(() => this.#searchProviders(query()));
    effect(() => {
      const text = query();
      const groups = text ? [...this.#local(text), ...this.#provided()] : [];
      this.#draw(list, groups);
      const nothing = text !== '' && groups.length === 0;
      status.textContent = this.#pending()
        ? t('search.searching')
        : nothing
          ? t('search.nothing', { query: text })
          : '';
    });
  }

  #searchProviders(query: string): (() => void) | undefined {
    this.#hits.set([]);
    this.#pending.set(query !== '' && this.#desk.runtime.providers().length > 0);
    if (!this.#pending.peek()) return undefined;
    const control = new AbortController();
    const timer = setTimeout(async () => {
      const found = await this.#desk.runtime.search(query, {
        signal: control.signal,
        onHits: (hits) => this.#hits.set(hits),
      });
      if (control.signal.aborted) return;
      this.#hits.set(found);
      this.#pending.set(false);
    }, DEBOUNCE_MS);
    return () => {
      clearTimeout(timer);
      control.abort();
    };
  }

  #local(query: string): Group[] {
    const desk = this.#desk;
    const apps = matchApps(desk, query).map(({ app }) => ({
      key: `app ${app.id}`,
      title: app.title,
      picture: () => appPlate(desk, app),
      run: () => void desk.runtime.openApp(app.id),
    }));
    const shortcuts = [...allItems(desk.webtops())]
      .map(({ item }) => ({ item, score: rankAny(query, [itemTitle(desk, item)]) }))
      .filter(
        ({ item, score }) =>
          score > 0 &&
          (item.kind === 'folder' || (desk.usableApp(item.appId) && (item.title || item.state !== undefined))),
      )
      .sort((a, b) => b.score - a.score)
      .map(({ item }) => this.#shortcut(item));
    const settings = SECTIONS.map((section) => ({
      section,
      score: Math.max(rank(query, t(section.title)), ...this.#hidden(query, t(section.words).split(','))),
    }))
      .filter(({ score }) => score > 0)
      .map(({ section }) => ({
        key: `setting ${section.id}`,
        title: t(section.title),
        subtitle: t('settings.title'),
        picture: () => glyphPlate(section.icon),
        run: () => void desk.runtime.openApp('shell.settings', { section: section.id }),
      }));
    return [
      { title: t('start.apps'), options: apps },
      { title: t('search.shortcuts'), options: shortcuts },
      { title: t('settings.title'), options: settings },
    ].filter((group) => group.options.length > 0);
  }

  /** Words that nobody sees count from their beginning only: what `no` has to do with `snow` can't be understood. */
  #hidden(query: string, words: readonly string[]): number[] {
    return words.map((word) => rank(query, word)).filter((score) => score >= WORD_START);
  }

  #shortcut(item: ReturnType<typeof allItems> extends Generator<{ item: infer Item }> ? Item : never): Option {
    const desk = this.#desk;
    const app = item.kind === 'shortcut' ? desk.usableApp(item.appId) : undefined;
    return {
      key: `item ${item.id}`,
      title: itemTitle(desk, item),
      subtitle: app?.title,
      picture: () => (app && item.kind === 'shortcut' ? appPlate(desk, app, item) : glyphPlate('folder')),
      run: () => desk.grids.openItem(item),
    };
  }

  #provided(): Group[] {
    const desk = this.#desk;
    const byProvider = Map.groupBy(this.#hits(), (hit) => hit.group ?? hit.providerTitle);
    return [...byProvider].map(([title, hits]) => ({
      title,
      options: hits.map((hit) => ({
        key: `hit ${hit.providerId} ${hit.id}`,
        title: hit.title,
        subtitle: hit.subtitle,
        picture: () => {
          const app = desk.usableApp(hit.appId);
          return hit.icon || !app ? plate(desk, hit.icon ?? 'app.svg', app?.accent) : appPlate(desk, app);
        },
        run: () => void desk.runtime.openApp(hit.appId, hit.intent),
      })),
    }));
  }

  #draw(list: HTMLElement, groups: readonly Group[]): void {
    const before = this.#options.find((one) => one.id === this.activeOption.peek())?.key;
    this.#options = [];
    list.replaceChildren(
      ...groups.map((group, index) => {
        const headId = `${this.listId}-group-${index}`;
        return h(
          'div.shell-results-group',
          { role: 'group', 'aria-labelledby': headId },
          h('h2.shell-start-heading', { id: headId, role: 'presentation' }, group.title),
          group.options.slice(0, PER_GROUP).map((option) => this.#drawOption(option)),
        );
      }),
    );
    // What was chosen stays chosen while further hits come in.
    const keep = this.#options.find((one) => one.key === before) ?? this.#options[0];
    this.#select(keep?.id);
  }

  #drawOption(option: Option): HTMLElement {
    const id = `${this.listId}-${this.#options.length}`;
    this.#options.push({ id, key: option.key, option });
    return h(
      'div.shell-result',
      { role: 'option', id, onclick: () => this.#run(option), onpointermove: () => this.#select(id) },
      option.picture(),
      h(
        'span.shell-result-text',
        {},
        h('span.shell-result-title', {}, option.title),
        option.subtitle && h('span.shell-result-sub', {}, option.subtitle),
      ),
    );
  }

  #select(id: string | undefined): void {
    this.activeOption.set(id);
    for (const one of this.#options) {
      const element = this.element.querySelector(`#${CSS.escape(one.id)}`);
      element?.setAttribute('aria-selected', String(one.id === id));
      if (one.id === id) element?.scrollIntoView?.({ block: 'nearest' });
    }
  }

  #run(option: Option): void {
    this.#close();
    option.run();
  }

  /** Handles a key typed in the search field; answers whether it was one for the list. */
  key(key: string): boolean {
    const at = this.#options.findIndex((one) => one.id === this.activeOption.peek());
    const count = this.#options.length;
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      if (count > 0) this.#select(this.#options[(at + (key === 'ArrowDown' ? 1 : -1) + count) % count]?.id);
      return true;
    }
    if (key !== 'Enter') return false;
    const chosen = this.#options[at];
    if (chosen) this.#run(chosen.option);
    return true;
  }
}
