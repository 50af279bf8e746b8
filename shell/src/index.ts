/**
 * `@svc/shell`: a desktop in the browser. This page is the whole public API.
 *
 * ```ts
 * import { Shell } from '@svc/shell';
 * Shell.registerApp({ id: 'hello', title: 'Hello', icon: 'app.svg', render: () => 'Hello' });
 * document.body.append(document.createElement('shell-desktop'));
 * ```
 */
import { MANAGE_IDENTITY } from './access.ts';
import { createCookieProvider } from './auth/cookie.ts';
import { localAuthProvider } from './auth/local.ts';
import { createOidcProvider } from './auth/oidc.ts';
import { addMessages as addOwnMessages, setLocale as setOwnLocale } from './i18n.ts';
import { httpIdentityStore, localIdentityStore } from './identity.ts';
import { loadRemote } from './remote.ts';
import { ShellRequestError } from './request.ts';
import { runtime } from './runtime.ts';
import { httpProfileStore, localProfileStore } from './stores.ts';
import type {
  Access,
  AppDefinition,
  AuthProvider,
  Intent,
  Notice,
  Permission,
  RemoteManifest,
  RemoteReport,
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
  /** Adds what a manifest brings, by URL or inline. Rejects when it can't be had; parts that are wrong are in the report. */
  loadRemote(source: string | URL | RemoteManifest): Promise<RemoteReport>;
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
  /** Adds a way to sign in, and with it the login screen. Returns the undo. */
  registerAuthProvider(provider: AuthProvider): () => void;
  /** Signs in; `undefined` when the page leaves for another one. Rejects when the attempt failed. */
  login(id: string, values?: Record<string, string>): Promise<Session | undefined>;
  /** Saves the profile and ends the session, here, in other tabs and at its provider. */
  logout(): Promise<void>;
  /** Shows the login screen to a guest. */
  showLogin(): void;
  /** The session, when there's one. */
  readonly session: Session | undefined;
  /** Signs in with a session obtained elsewhere; `undefined` ends it. */
  setSession(session: Session | undefined): Promise<void>;
  /** An authenticated request relative to `serverBaseUrl`: parsed JSON or text, `undefined` for 204. `Answer` is the caller's word for it, unchecked. */
  request<Answer = unknown>(path: string, init?: RequestInit): Promise<Answer>;
  /** Subscribes. Returns the undo. */
  on<Name extends keyof ShellEvents>(event: Name, handler: (argument: ShellEvents[Name]) => void): () => void;
  readonly addMessages: typeof addOwnMessages;
  readonly setLocale: typeof setOwnLocale;
  readonly createOidcProvider: typeof createOidcProvider;
  readonly createCookieProvider: typeof createCookieProvider;
  readonly localAuthProvider: typeof localAuthProvider;
  readonly localIdentityStore: typeof localIdentityStore;
  readonly httpIdentityStore: typeof httpIdentityStore;
  readonly localProfileStore: typeof localProfileStore;
  readonly httpProfileStore: typeof httpProfileStore;
  readonly MANAGE_IDENTITY: typeof MANAGE_IDENTITY;
  readonly VERSION: string;
}

const own: ShellApi = Object.freeze({
  configure: (options) => runtime.configure(options),
  registerApp: (app) => runtime.registerApp(app),
  registerApps: (apps) => runtime.registerApps(apps),
  unregisterApp: (id) => runtime.unregisterApp(id),
  loadRemote: (source) => loadRemote(runtime, source),
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
  registerAuthProvider: (provider) => runtime.auth.register(provider),
  login: (id, values) => runtime.auth.login(id, values),
  logout: () => runtime.auth.logout(),
  showLogin: () => runtime.auth.asked.set(true),
  get session() {
    return runtime.auth.current;
  },
  setSession: (session) => runtime.setSession(session),
  request: <Answer>(path: string, init?: RequestInit) => runtime.request(path, init) as Promise<Answer>,
  on: (event, handler) => runtime.on(event, handler),
  addMessages: addOwnMessages,
  setLocale: setOwnLocale,
  createOidcProvider,
  createCookieProvider,
  localAuthProvider,
  localIdentityStore,
  httpIdentityStore,
  localProfileStore,
  httpProfileStore,
  MANAGE_IDENTITY,
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

/**
 * The shell of this page; script tags find the same object as `window.Shell`. A further copy of this module, such as one
 * that a remote app brings along, hands out the first one's: a page has one desktop.
 */
export const Shell: ShellApi = customElements.get('shell-desktop') && window.Shell ? window.Shell : own;
/** Adds texts for a locale, or replaces some. */
export const addMessages: ShellApi['addMessages'] = Shell.addMessages;
/** Chooses the language. */
export const setLocale: ShellApi['setLocale'] = Shell.setLocale;

if (Shell === own) {
  window.Shell = own;
  customElements.define('shell-desktop', ShellDesktopElement);
} else if (Shell.VERSION !== VERSION) {
  console.warn(`svc-shell: this page runs version ${Shell.VERSION}; the copy of version ${VERSION} is not used`);
}

export {
  createCookieProvider,
  createOidcProvider,
  httpIdentityStore,
  httpProfileStore,
  localAuthProvider,
  localIdentityStore,
  localProfileStore,
  MANAGE_IDENTITY,
  ShellDesktopElement,
  ShellRequestError,
  VERSION,
};
export type { IdentitySeed } from './identity.ts';
export type * from './types.ts';
