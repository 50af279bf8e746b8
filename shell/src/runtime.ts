/**
 * What `Shell` stands for: options, apps, access, events. It exists before and without a desktop; a desktop attaches
 * itself and reads the signals.
 */
import { checkOptions, checkApp, checkPermission, checkSearchProvider, badgeText } from './core/validate.ts';
import { Emitter } from './core/emitter.ts';
import { flush, signal } from './core/signal.ts';
import { formatNumber, locale, setConfiguredLocale } from './i18n.ts';
import { Notices } from './notices.ts';
import { send } from './request.ts';
import { runSearch } from './search.ts';
import type {
  Access,
  AppDefinition,
  Identity,
  Intent,
  Permission,
  SearchOptions,
  SearchProvider,
  SearchResult,
  Session,
  ShellEvents,
  ShellOptions,
} from './types.ts';

/** What the runtime asks of an attached desktop. */
export interface AttachedDesktop {
  open(appId: string, intent: Intent): void;
  dispatch(name: string, detail: unknown): void;
}

const NOBODY: Access = { roles: [], permissions: [] };

let besideModule: string | undefined;

/** Where icons lie unless the options say otherwise: beside the module, wherever it was loaded from. */
function defaultAssetBase(): string {
  besideModule ??= new URL('icons/', import.meta.url).href;
  return besideModule;
}

/** The state behind `Shell`. */
export class Runtime {
  readonly options = signal<ShellOptions>({});
  readonly apps = signal<ReadonlyMap<string, AppDefinition>>(new Map());
  readonly badges = signal<ReadonlyMap<string, string>>(new Map());
  readonly notices = new Notices();
  readonly providers = signal<readonly SearchProvider[]>([]);
  readonly permissions = signal<ReadonlyMap<string, Permission>>(new Map());
  readonly session = signal<Session | undefined>(undefined);
  readonly access = signal<Access>(NOBODY);
  readonly #events = new Emitter<ShellEvents>((error) => reportError(error));
  readonly #waiting: { appId: string; intent: Intent }[] = [];
  #desktop: AttachedDesktop | undefined;
  #accessRun = 0;

  configure(options: ShellOptions): void {
    checkOptions(options);
    this.options.update((old) => {
      const merged = { ...old, ...options };
      if (options.brand) merged.brand = { ...old.brand, ...options.brand };
      if (options.defaults) merged.defaults = { ...old.defaults, ...options.defaults };
      return merged;
    });
    if ('locale' in options) setConfiguredLocale(options.locale);
  }

  registerApp(app: AppDefinition): void {
    this.registerApps([app]);
  }

  /** Registers all of them or, when one is wrong, none. */
  registerApps(apps: readonly AppDefinition[]): void {
    const next = new Map(this.apps.peek());
    for (const app of apps) {
      checkApp(app);
      if (next.has(app.id)) {
        throw new Error(
          `an app with the id \`${app.id}\` is already registered; unregister it first or use another id`,
        );
      }
      next.set(app.id, app);
    }
    this.apps.set(next);
  }

  unregisterApp(id: string): void {
    if (!this.apps.peek().has(id)) return;
    const next = new Map(this.apps.peek());
    next.delete(id);
    this.apps.set(next);
  }

  /** Whether somebody may use an app. */
  allowed(app: AppDefinition): boolean {
    return (app.requiredPermissions ?? []).every((permission) => this.can(permission));
  }

  openApp(appId: string, intent?: Intent): boolean {
    const app = this.apps.peek().get(appId);
    if (!app) return false;
    if (!this.allowed(app)) {
      this.emit('access-denied', { appId, requiredPermissions: [...(app.requiredPermissions ?? [])] });
      return false;
    }
    if (this.#desktop) this.#desktop.open(appId, intent);
    else this.#waiting.push({ appId, intent });
    return true;
  }

  setBadge(appId: string, value?: number | string | null): void {
    const text = badgeText(value, formatNumber);
    const next = new Map(this.badges.peek());
    if (text === undefined) next.delete(appId);
    else next.set(appId, text);
    this.badges.set(next);
  }

  registerSearchProvider(provider: SearchProvider): () => void {
    checkSearchProvider(provider);
    if (this.providers.peek().some((known) => known.id === provider.id)) {
      throw new Error(
        `a search provider with the id \`${provider.id}\` is already registered; call the undo of the first`,
      );
    }
    this.providers.update((known) => [...known, provider]);
    return () => this.providers.update((known) => known.filter((one) => one !== provider));
  }

  search(query: string, options: SearchOptions = {}): Promise<SearchResult[]> {
    return runSearch(this, query, options);
  }

  registerPermissions(permissions: readonly Permission[]): void {
    const next = new Map(this.permissions.peek());
    for (const permission of permissions) {
      checkPermission(permission);
      next.set(permission.id, permission);
    }
    this.permissions.set(next);
  }

  can(permission: string): boolean {
    return this.access().permissions.includes(permission);
  }

  async setSession(session: Session | undefined): Promise<void> {
    const before = this.session.peek();
    this.session.set(session);
    await this.refreshAccess();
    if (this.session.peek() !== session) return;
    if (session) this.emit('login', session);
    else if (before) this.emit('logout', undefined);
  }

  /** Asks again what the session may do; a slower earlier answer doesn't overwrite a later one. */
  async refreshAccess(): Promise<void> {
    this.#accessRun += 1;
    const run = this.#accessRun;
    const session = this.session.peek();
    const provider = this.options.peek().accessProvider;
    const answer = session && provider ? await provider(session) : (session ?? {});
    if (run !== this.#accessRun) return;
    const identity: Identity | undefined = answer.identity ?? session?.identity;
    const access = { roles: [...(answer.roles ?? [])], permissions: [...(answer.permissions ?? [])] };
    const before = this.access.peek();
    this.access.set(Object.freeze(identity ? { identity, ...access } : access));
    flush();
    if (JSON.stringify(before) !== JSON.stringify(this.access.peek())) this.emit('access-changed', access);
  }

  request(path: string, init?: RequestInit): Promise<unknown> {
    const own = this.options.peek().request;
    if (own) return own(path, init);
    return send(this.options.peek().serverBaseUrl ?? '', this.session.peek(), path, init);
  }

  on<Name extends keyof ShellEvents>(name: Name, handler: (argument: ShellEvents[Name]) => void): () => void {
    return this.#events.on(name, handler);
  }

  emit<Name extends keyof ShellEvents & string>(name: Name, argument: ShellEvents[Name]): void {
    this.#events.emit(name, argument);
    this.#desktop?.dispatch(`shell:${name}`, argument);
  }

  /** Called by a desktop when it can open windows. Returns the undo. */
  attach(desktop: AttachedDesktop): () => void {
    if (this.#desktop) throw new Error('a page has one `<shell-desktop>`; remove the second element');
    this.#desktop = desktop;
    for (const { appId, intent } of this.#waiting.splice(0)) desktop.open(appId, intent);
    return () => {
      this.#desktop = undefined;
    };
  }

  /** The URL of an icon: a bare file name lies in the icon folder. */
  iconUrl(icon: string): string {
    if (!this.isIconFile(icon)) return new URL(icon, document.baseURI).href;
    const base = this.options.peek().assetBase;
    if (base === undefined) return new URL(icon, defaultAssetBase()).href;
    return new URL(icon, new URL(base.endsWith('/') ? base : `${base}/`, document.baseURI)).href;
  }

  /** Whether an icon is one of the folder's glyphs rather than a picture of its own. */
  isIconFile(icon: string): boolean {
    return /^[^/:?#]+$/.test(icon);
  }

  /** Apps somebody sees in start menu and search, by title. */
  visibleApps(): AppDefinition[] {
    const collator = new Intl.Collator(locale(), { numeric: true });
    return [...this.apps().values()]
      .filter((app) => !app.hidden && this.allowed(app))
      .sort((a, b) => collator.compare(a.title, b.title));
  }
}

/** The page's one runtime. */
export const runtime = new Runtime();
