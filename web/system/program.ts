/** The program: the settings that it was started with, with where each was written, and the modules that it is made of. */
import {
  asProblem,
  badge,
  define,
  failure,
  find,
  freshId,
  html,
  icon,
  keepState,
  nothing,
  number,
  Part,
  send,
  state,
  tabs,
  text,
  type Problem,
  type PropertyValues,
  type RenderContext,
  type TemplateResult,
} from '@svc/web';
import { permissionWords } from './names.ts';

const ROOT = '/api/v1/system';
const TABS = ['configuration', 'modules'] as const;
const LONGEST = 100;
/** What a value that nobody wrote comes from. */
const DEFAULT = 'default';

type TabName = (typeof TABS)[number];

interface Setting {
  section: string;
  key: string;
  value: string;
  source: string;
  default: string;
  expected: string;
  doc: string;
}

interface Added {
  name: string;
  detail: string;
}

interface Module {
  name: string;
  requires: string[];
  adds: Record<string, Added[]>;
}

/** What the window keeps. */
interface View {
  readonly tab: TabName;
  readonly search: string;
  /** Only settings that somebody has written. */
  readonly written: boolean;
}

function readView(value: unknown): View {
  const { tab, search, written } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  return {
    tab: TABS.find((one) => one === tab) ?? 'configuration',
    search: typeof search === 'string' ? search.slice(0, LONGEST) : '',
    written: written === true,
  };
}

/** What the program says of itself in English, with names and values marked as code. */
function marked(said: string): (TemplateResult | string)[] {
  return said.split('`').map((part, place) => (place % 2 === 1 ? html`<code>${part}</code>` : part));
}

/** Where a value was written, in words. */
function sourceName(source: string): string {
  if (source === 'command line') return text('program-source-command');
  const [, variable] = /^environment variable (.+)$/.exec(source) ?? [];
  if (variable !== undefined) return text('program-source-variable', { name: variable });
  const [, file, line] = /^(.+) line (\d+)$/.exec(source) ?? [];
  return file !== undefined && line !== undefined ? text('program-source-file', { file, line }) : source;
}

/** What the kind of something is called that a module adds; one of an application's own as the server names it. */
function kindName(kind: string): string {
  return find(`program-kind-${kind.replaceAll(' ', '-')}`) ?? kind;
}

/** What is said of what a module adds, in the person's language where somebody has; of all else the server's English tells. */
function wordsOf(kind: string, name: string): string | undefined {
  if (kind === 'permissions') return permissionWords(name);
  if (kind === 'application settings') return find(`setting-${name.replaceAll('.', '-')}`, 'description');
  return kind === 'events' ? find(`event-${name.replaceAll(/[._]/g, '-')}`) : undefined;
}

class ProgramPage extends Part {
  static override properties = {
    view: { attribute: false },
    settings: { state: true },
    environment: { state: true },
    modules: { state: true },
    problem: { state: true },
  };
  declare view: View;
  declare settings: readonly Setting[] | undefined;
  declare environment: string | null;
  declare modules: readonly Module[] | undefined;
  declare problem: Problem | undefined;
  readonly #prefix = freshId('program');

  constructor() {
    super();
    this.view = readView(undefined);
    this.environment = null;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.classList.add('svc-app');
  }

  override willUpdate(changes: PropertyValues): void {
    if (changes.has('view')) void this.#load();
  }

  /** Neither changes while the program runs: each is asked for once. */
  async #load(): Promise<void> {
    this.problem = undefined;
    try {
      if (this.view.tab === 'modules') {
        this.modules ??= (await send<{ modules: Module[] }>(`${ROOT}/modules`)).body.modules;
      } else if (!this.settings) {
        const { body } = await send<{ environment: string | null; settings: Setting[] }>(`${ROOT}/configuration`);
        this.environment = body.environment;
        this.settings = body.settings;
      }
    } catch (error) {
      this.problem = asProblem(error);
    }
  }

  #go(change: Partial<View>): void {
    this.view = { ...this.view, ...change };
    this.tell('view', this.view);
  }

  /** Whether all words that are sought stand in one of the texts. */
  #matches(...texts: readonly string[]): boolean {
    const all = texts.join('\n').toLowerCase();
    return this.view.search
      .toLowerCase()
      .split(/\s+/)
      .every((word) => all.includes(word));
  }

  #setting({ section, key, value, source, default: usual, expected, doc }: Setting): TemplateResult {
    const isWritten = source !== DEFAULT;
    return html`<div class="svc-config">
      <div><code>${key.slice(section.length + 1)}</code><p class="svc-note" lang="en">${marked(doc)}</p></div>
      <div>
        <code class="svc-config-value">${value === '' ? '–' : value}</code>
        ${isWritten ? badge(sourceName(source), 'info') : html`<span class="svc-soft">${text('program-default')}</span>`}
        <p class="svc-note">${isWritten && usual !== value ? text('program-usual', { value: usual === '' ? '–' : usual }) : nothing} ${marked(text('program-expected', { expected }))}</p>
      </div>
    </div>`;
  }

  #configuration(settings: readonly Setting[]): TemplateResult {
    const shown = settings.filter(
      ({ key, value, source, doc }) =>
        (!this.view.written || source !== DEFAULT) && this.#matches(key, value, source, sourceName(source), doc),
    );
    const sections = Map.groupBy(shown, ({ section }) => section);
    return html`<div class="svc-filter-row">
        <label class="svc-choice"><input type="checkbox" class="svc-check" .checked=${this.view.written} @change=${(event: Event) => this.#go({ written: (event.target as HTMLInputElement).checked })} /><span>${text('program-written')}</span></label>
        ${this.environment === null ? nothing : html`<span class="svc-soft">${text('program-environment', { name: this.environment })}</span>`}
      </div>
      ${shown.length === 0 ? this.#none() : [...sections].map(([section, of]) => html`<section class="svc-configs"><h2>${section}</h2>${of.map((one) => this.#setting(one))}</section>`)}`;
  }

  #none(): TemplateResult {
    return state(
      'search',
      text('program-none'),
      text('program-none-text'),
      html`<button type="button" class="svc-button" @click=${() => this.#go({ search: '', written: false })}>${text('no-hits-clear')}</button>`,
    );
  }

  #added(kind: string, { name, detail }: Added): TemplateResult {
    const words = wordsOf(kind, name);
    return html`<div><dt><code>${name}</code></dt><dd lang=${words === undefined ? 'en' : nothing}>${words ?? marked(detail)}</dd></div>`;
  }

  #module({ name, requires, adds }: Module): TemplateResult {
    const kinds = Object.entries(adds);
    const count = kinds.reduce((sum, [, of]) => sum + of.length, 0);
    return html`<li><details ?open=${this.view.search !== ''}>
      <summary><code>${name}</code><span class="svc-soft">${requires.length > 0 ? text('program-requires', { names: requires.join(', ') }) : nothing}</span>
        <span class="svc-grow"></span><span class="svc-soft">${text('program-adds', { count: number(count, 0) })}</span></summary>
      ${kinds.map(([kind, of]) => html`<h2>${kindName(kind)}</h2><dl class="svc-adds">${of.map((one) => this.#added(kind, one))}</dl>`)}
    </details></li>`;
  }

  #modules(modules: readonly Module[]): TemplateResult {
    const shown = modules.flatMap((module) => {
      if (this.view.search === '' || this.#matches(module.name)) return [module];
      const adds = Object.entries(module.adds)
        .map(
          ([kind, of]) =>
            [
              kind,
              of.filter(({ name, detail }) =>
                this.#matches(kind, kindName(kind), name, detail, wordsOf(kind, name) ?? ''),
              ),
            ] as const,
        )
        .filter(([, of]) => of.length > 0);
      return adds.length > 0 ? [{ ...module, adds: Object.fromEntries(adds) }] : [];
    });
    return shown.length === 0
      ? this.#none()
      : html`<ul class="svc-types">${shown.map((one) => this.#module(one))}</ul>`;
  }

  #body(): TemplateResult {
    const { problem, settings, modules } = this;
    if (problem) return failure(problem, () => void this.#load());
    if (this.view.tab === 'modules' && modules) return this.#modules(modules);
    if (this.view.tab === 'configuration' && settings) return this.#configuration(settings);
    return html`<div class="svc-skeleton" aria-busy="true"></div>`;
  }

  override render(): TemplateResult {
    const { tab, search } = this.view;
    const list = TABS.map((id) => ({ id, title: text(`program-${id}`) }));
    const type = (event: Event) => this.#go({ search: (event.target as HTMLInputElement).value });
    return html`<header class="svc-head"><h1>${text('program-app')}</h1><span class="svc-grow"></span>
        <label class="svc-search">${icon('search')}<span class="shell-sr">${text('program-search')}</span><input type="search" class="svc-input" maxlength=${LONGEST} placeholder=${text('search')} .value=${search} @input=${type} /></label>
      </header>
      ${tabs(list, tab, (id) => this.#go({ tab: readView({ tab: id }).tab }), this.#prefix, text('program-app'))}
      <div class="svc-page" role="tabpanel" id="${this.#prefix}-panel" aria-labelledby="${this.#prefix}-tab-${tab}" tabindex="0">${this.#body()}</div>`;
  }
}
define('system-program', ProgramPage);

export default (context: RenderContext) => {
  const page = document.createElement('system-program') as ProgramPage;
  page.view = readView(context.intent);
  keepState(context, page, {
    follow: (value) => {
      page.view = readView(value);
    },
    quiet: ['search'],
  });
  return page;
};
