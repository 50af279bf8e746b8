/**
 * `@svc/shell`: a desktop in the browser. This page is the whole public API.
 *
 * ```ts
 * import { Shell } from '@svc/shell';
 * Shell.registerApp({ id: 'hello', title: 'Hello', icon: 'app.svg', render: () => 'Hello' });
 * document.body.append(document.createElement('shell-desktop'));
 * ```
 */
import { addMessages, setLocale } from './i18n.ts';
import { ShellRequestError } from './request.ts';
import { runtime } from './runtime.ts';
import { httpProfileStore, localProfileStore } from './stores.ts';
import type {
  Access,
  AppDefinition,
  Intent,
  Notice,
  Permission,
  SearchOptions,
  SearchProvider,
  SearchResult,
  Session,
  ShellEvents,
  ShellOptions,
} from './types.ts';
import { ShellDesktopElement } from './ui/element.ts';
import { VERSION } from './version.ts';

/** Everything an application does with the shell. */
export interface ShellApi {
  /** Merges options; may be called again at any time. */
  configure(options: ShellOptions): void;
  /** Adds an app. A duplicate id or a wrong definition throws. */
  registerApp(app: AppDefinition): void;
  /** Adds all of the apps or, when one is wrong, none. */
  registerApps(apps: readonly AppDefinition[]): void;
  /** Takes an app away and closes its windows. */
  unregisterApp(id: string): void;
  /** Opens or focuses; `false` when unknown or not permitted. */
  openApp(id: string, intent?: Intent): boolean;
  /** A count or short mark on the app's tiles, start menu entry and task buttons; empty or 0 removes it. */
  setBadge(id: string, value?: number | string | null): void;
  /** Tells people something: shown for a moment, then kept under the bell. Returns what takes it back. */
  notify(notice: Notice): () => void;
  /** Adds a content search. Returns the undo. */
  registerSearchProvider(provider: SearchProvider): () => void;
  /** Asks all search providers. */
  search(query: string, options?: SearchOptions): Promise<SearchResult[]>;
  /** Makes a permission known. */
  registerPermission(permission: Permission): void;
  /** Makes permissions known. */
  registerPermissions(permissions: readonly Permission[]): void;
  /** Whether the permission is held. Hides what can't be used; the server must enforce it. */
  can(permission: string): boolean;
  /** Who is signed in and what they may do. */
  readonly access: Access;
  /** Asks again what the session may do; windows of apps that are no longer allowed close. */
  refreshAccess(): Promise<void>;
  /** The session, when there's one. */
  readonly session: Session | undefined;
  /** Signs in with a session obtained elsewhere; `undefined` ends it. */
  setSession(session: Session | undefined): Promise<void>;
  /** An authenticated request relative to `serverBaseUrl`: parsed JSON or text, `undefined` for 204. */
  request(path: string, init?: RequestInit): Promise<unknown>;
  /** Subscribes. Returns the undo. */
  on<Name extends keyof ShellEvents>(event: Name, handler: (argument: ShellEvents[Name]) => void): () => void;
  readonly addMessages: typeof addMessages;
  readonly setLocale: typeof setLocale;
  readonly localProfileStore: typeof localProfileStore;
  readonly httpProfileStore: typeof httpProfileStore;
  readonly VERSION: string;
}

/** The shell of this page; script tags find the same object as `window.Shell`. */
export const Shell: ShellApi = Object.freeze({
  configure: (options) => runtime.configure(options),
  registerApp: (app) => runtime.registerApp(app),
  registerApps: (apps) => runtime.registerApps(apps),
  unregisterApp: (id) => runtime.unregisterApp(id),
  openApp: (id, intent) => runtime.openApp(id, intent),
  setBadge: (id, value) => runtime.setBadge(id, value),
  notify: (notice) => runtime.notices.add(notice),
  registerSearchProvider: (provider) => runtime.registerSearchProvider(provider),
  search: (query, options) => runtime.search(query, options),
  registerPermission: (permission) => runtime.registerPermissions([permission]),
  registerPermissions: (permissions) => runtime.registerPermissions(permissions),
  can: (permission) => runtime.access.peek().permissions.includes(permission),
  get access() {
    return runtime.access.peek();
  },
  refreshAccess: () => runtime.refreshAccess(),
  get session() {
    return runtime.session.peek();
  },
  setSession: (session) => runtime.setSession(session),
  request: (path, init) => runtime.request(path, init),
  on: (event, handler) => runtime.on(event, handler),
  addMessages,
  setLocale,
  localProfileStore,
  httpProfileStore,
  VERSION,
} satisfies ShellApi);

declare global {
  interface Window {
    Shell: ShellApi;
  }
  interface HTMLElementTagNameMap {
    'shell-desktop': ShellDesktopElement;
  }
}

window.Shell ??= Shell;
if (!customElements.get('shell-desktop')) customElements.define('shell-desktop', ShellDesktopElement);

export { addMessages, setLocale, localProfileStore, httpProfileStore, ShellDesktopElement, ShellRequestError, VERSION };
export type * from './types.ts';
