/**
 * What `Shell` stands for: options, apps, access, events. It exists before and without a desktop; a desktop attaches
 * itself and reads the signals.
 */
import { NOBODY, resolveAccess, rightless } from './access.ts';
import { Authentication } from './auth/authentication.ts';
import { describe, oneOf, rule, taken } from './core/check.ts';
import { checkOptions, checkApp, checkPermission, checkSearchProvider, badgeText } from './core/validate.ts';
import { Emitter } from './core/emitter.ts';
import { flush, signal } from './core/signal.ts';
import { formatNumber, locale, setConfiguredLocale } from './i18n.ts';
import { Notices } from './notices.ts';
import { isOwn, isRepeatable, send, ShellRequestError } from './request.ts';
import { runSearch } from './search.ts';
import type {
  Access,
  AppDefinition,
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
}

const EVENTS = ['login', 'logout', 'access-changed', 'app-opened', 'access-denied'];

/** How often something that tells of other rights makes the shell ask for them, at most. */
const ASK_AGAIN_MS = 10_000;

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
  readonly access = signal<Access>(NOBODY);
  /** Whether `access` is what the session may do; not while that is asked for the first time, nor when it failed. */
  readonly resolved = signal(true);
  readonly auth = new Authentication({
    options: () => this.options(),
    leave: (save) => this.onLeave?.(save),
    fall: () => this.#fall(),
    refreshAccess: () => this.refreshAccess(),
    emit: (name: 'login' | 'logout', argument: Session | undefined) => this.emit(name, argument as Session & undefined),
  });
  readonly session = this.auth.session;
  /** Set by a desktop: where events of the page come from. */
  element: HTMLElement | undefined;
  /** Set by a desktop: saves what somebody leaves behind. */
  onLeave: ((save: boolean) => Promise<void> | undefined) | undefined;
  /** Hashes of remote modules, by address. */
  readonly integrity = new Map<string, string>();
  readonly #events = new Emitter<ShellEvents>((error) => reportError(error));
  readonly #waiting: { appId: string; intent: Intent }[] = [];
  #desktop: AttachedDesktop | undefined;
  #accessRun = 0;
  /** When rights were asked for or found out last. */
  #askedAt = 0;
  #told = JSON.stringify(NOBODY);

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
      for (const key of ['url', 'entry'] as const) {
        const address = app[key];
        if (address === undefined) continue;
        if (!URL.canParse(address, document.baseURI) || /^\s*javascript:/i.test(address)) {
          throw new TypeError(
            `\`${key}\` of app \`${app.id}\` must be the address of a page or module, not \`${address}\``,
          );
        }
      }
      if (next.has(app.id)) {
        throw taken(`an app with the id \`${app.id}\``);
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
    // Nothing opens behind the login screen; what the page asks for at its start waits for whoever signs in.
    if (this.#desktop && this.auth.locked()) return false;
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
      throw taken(`a search provider with the id \`${provider.id}\``);
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

  setSession(session: Session | undefined): Promise<void> {
    return this.auth.enter(session);
  }

  /** Rights don't outlive their person: they fall before anybody else's are asked for. */
  #fall(): void {
    this.#accessRun += 1;
    const had = this.access.peek();
    const session = this.session.peek();
    this.access.set(rightless(session?.identity));
    this.resolved.set(!session);
    flush();
    if (had.roles.length + had.permissions.length > 0) this.#tell();
  }

  #tell(): void {
    const access = this.access.peek();
    const now = JSON.stringify(access);
    if (now === this.#told) return;
    this.#told = now;
    this.emit('access-changed', { roles: [...access.roles], permissions: [...access.permissions] });
  }

  /** Asks again what the session may do; a slower earlier answer doesn't overwrite a later one. */
  async refreshAccess(): Promise<void> {
    this.#accessRun += 1;
    const run = this.#accessRun;
    const asked = () => {
      this.#askedAt = performance.now();
    };
    asked();
    const access = await resolveAccess(this.session.peek(), this.options.peek()).finally(asked);
    if (run !== this.#accessRun) return;
    this.access.set(access);
    this.resolved.set(true);
    flush();
    this.#tell();
  }

  /** Rights may have changed on the server: somebody comes back to the page, or was refused what they thought they may. */
  doubtAccess(): void {
    if (!this.auth.current || performance.now() - this.#askedAt < ASK_AGAIN_MS) return;
    // What couldn't be found out leaves things as they are.
    this.refreshAccess().catch(reportError);
  }

  /** Repeats a request once when its session had ended and could be refreshed. */
  async request(path: string, init: RequestInit = {}): Promise<unknown> {
    const own = this.options.peek().request;
    if (own) return own(path, init);
    const base = this.options.peek().serverBaseUrl ?? '';
    const [used, asked, headers] = [this.auth.current, performance.now(), this.auth.headers()];
    try {
      return await send(base, used, path, init, headers);
    } catch (error) {
      const status = error instanceof ShellRequestError && isOwn(base, path) && error.status;
      if (status === 403) this.doubtAccess();
      const renewed = status === 401 && isRepeatable(init) ? await this.auth.renew(used, asked) : undefined;
      if (!renewed) throw error;
      return send(base, renewed, path, init, headers);
    }
  }

  on<Name extends keyof ShellEvents>(name: Name, handler: (argument: ShellEvents[Name]) => void): () => void {
    for (const [what, value, known] of [
      ['the event', name, oneOf(...EVENTS)],
      ['the handler of an event', handler, rule.run],
    ] as const) {
      if (!known.test(value)) throw new TypeError(`${what} must be ${known.expected}, not ${describe(value)}`);
    }
    return this.#events.on(name, handler);
  }

  emit<Name extends keyof ShellEvents & string>(name: Name, argument: ShellEvents[Name]): void {
    this.#events.emit(name, argument);
    this.element?.dispatchEvent(new CustomEvent(`shell:${name}`, { detail: argument, bubbles: true }));
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
    const { assetBase } = this.options.peek();
    let base = document.baseURI;
    if (this.isIconFile(icon))
      base = assetBase === undefined ? defaultAssetBase() : new URL(assetBase.replace(/\/?$/, '/'), base).href;
    // What is no address shows nothing, and harms nothing else.
    return URL.canParse(icon, base) ? new URL(icon, base).href : '';
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
