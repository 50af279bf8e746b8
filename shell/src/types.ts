/** The types of the public API. */
import type { TaskbarPosition } from './core/profile.ts';

export type { TaskbarPosition };

/** What one may return or throw away: a value, or a promise of it. */
export type Awaitable<T> = T | PromiseLike<T>;

/** Somebody who is signed in. */
export interface Identity {
  id: string;
  displayName: string;
}

/** A sign-in. */
export interface Session {
  /** Sent as `Authorization: Bearer` by `Shell.request`. */
  token?: string;
  identity?: Identity;
  roles?: string[];
  permissions?: string[];
  /** When the session ends: milliseconds since 1970, or an ISO 8601 string. */
  expiresAt?: number | string;
}

/** Who somebody is and what they may do. */
export interface Access {
  readonly identity?: Identity;
  readonly roles: readonly string[];
  readonly permissions: readonly string[];
}

/** A permission that apps ask for. */
export interface Permission {
  id: string;
  title?: string;
  group?: string;
  description?: string;
}

/** Sends a request relative to `serverBaseUrl`; rejects with `ShellRequestError` on a non-2xx status. */
export type RequestFunction = (path: string, init?: RequestInit) => Promise<unknown>;

/** What a window is asked to show; its shape is the app's own. Anyone can craft a link that carries one: check it like any input. */
export type Intent = unknown;

/** The shortcut a window was opened from. */
export interface ShortcutLink {
  id: string;
  appId: string;
  title?: string;
  icon?: string;
  accent?: string;
  /** The state stored with it. */
  state?: unknown;
}

/** Handed to a render function and to menu entries. */
export interface RenderContext {
  /** The window's body. It's never re-rendered and never moved in the document. */
  readonly host: HTMLElement;
  readonly appId: string;
  readonly windowId: string;
  readonly session: Session | undefined;
  readonly access: Access;
  can(permission: string): boolean;
  /** As `Shell.request`; what it reads is given up when the window closes. */
  request<Answer = unknown>(path: string, init?: RequestInit): Promise<Answer>;
  /** Called before the window closes; `false` (or a promise of it) keeps it open. Returns an undo. */
  onClose(callback: () => Awaitable<unknown>): () => void;
  setTitle(text: string): void;
  setAppearance(appearance: { title?: string; accent?: string; icon?: string }): void;
  /** What the window was opened with. */
  readonly intent: Intent;
  /** Called when the open window gets a further intent. Returns an undo. */
  onIntent(callback: (intent: Intent) => void): () => void;
  /** Reports what would bring somebody back here; shortcuts, duplicates, pop-outs and restored windows get it as intent. */
  setState(state: unknown, title?: string): void;
  readonly link: ShortcutLink | undefined;
}

/** What a render function may give back: an HTML string (trusted as the app is), a node, or nothing. */
// biome-ignore lint/suspicious/noConfusingVoidType: a render function may return nothing at all.
export type Rendered = string | Node | undefined | null | void;

/** Fills a window. */
export type RenderFunction = (context: RenderContext) => Awaitable<Rendered>;

/** An extra entry of a window's menu. */
export interface AppMenuEntry {
  id: string;
  title: string;
  icon?: string;
  run(context: RenderContext): unknown;
}

/** An app. Exactly one of `render`, `url` and `entry` is required. */
export interface AppDefinition {
  id: string;
  title: string;
  /** A file name in the icon folder, or any URL. */
  icon: string;
  /** Colour of window, tile and taskbar. */
  accent?: string;
  width?: number;
  height?: number;
  /** Apps without it are visible to everyone. */
  requiredPermissions?: string[];
  /** Not in start menu and search, still openable through the API. */
  hidden?: boolean;
  render?: RenderFunction;
  /** Shown in an iframe. */
  url?: string;
  /** An ES module imported on first open. */
  entry?: string;
  /** With `entry`: the named export to use instead of the default one. */
  exportName?: string;
  /** Where it stands in the start menu; those without one stand under "Apps". */
  group?: string;
  /** One window only; opening again focuses it. */
  singleInstance?: boolean;
  menu?: AppMenuEntry[];
  /** With `url`: replaces the iframe's `sandbox` tokens. */
  sandbox?: string;
  /** With `url`: the iframe's `allow` list. */
  allow?: string;
}

/** A background. */
export interface Wallpaper {
  id: string;
  title: string;
  /** URL of a picture. */
  image?: string;
  /** A CSS background, such as a gradient. */
  background?: string;
  /** Colour of text on it; white when absent. */
  foreground?: string;
}

/** Names and pictures of the product around the shell. */
export interface Brand {
  title?: string;
  logo?: string;
  /** Replaces the logo on the start button. */
  startIcon?: string;
  /** The image bottom right; `false` hides it. */
  cornerLogo?: string | false;
  description?: string;
  version?: string;
}

/** Names of the effects. */
export type EffectName = 'none' | 'logos' | 'snow' | 'starfield' | 'warp' | 'network' | 'aurora';

/** Settings for people without a saved profile. */
export interface DefaultSettings {
  wallpaper?: string;
  systemColor?: string;
  taskbarPosition?: TaskbarPosition;
  effect?: EffectName;
}

/** Where profiles are kept. */
export interface ProfileStore {
  /** The stored profile, or `undefined` or `null` when there's none. */
  load(key: string): Awaitable<unknown>;
  /** `leaving`: the page is about to go, and takes a request with it only when that is sent at once. */
  save(key: string, profile: unknown, how?: { leaving: boolean }): Awaitable<unknown>;
}

/** A backend for users and roles. */
export interface IdentityStore {
  listUsers(): Awaitable<UserRecord[]>;
  saveUser(user: UserRecord): Awaitable<unknown>;
  deleteUser(id: string): Awaitable<unknown>;
  listRoles(): Awaitable<RoleRecord[]>;
  saveRole(role: RoleRecord): Awaitable<unknown>;
  deleteRole(id: string): Awaitable<unknown>;
  listPermissions(): Awaitable<Permission[]>;
}

/** A user of an identity store. */
export interface UserRecord {
  id: string;
  userName: string;
  displayName: string;
  email?: string;
  roles: string[];
  disabled?: boolean;
}

/** A role of an identity store. */
export interface RoleRecord {
  id: string;
  title: string;
  description?: string;
  permissions: string[];
}

/** A field of a provider's form on the login screen. */
export interface AuthField {
  name: string;
  label: string;
  /** Type of the input, such as `password`; default `text`. */
  type?: string;
}

/** A way to sign in. */
export interface AuthProvider {
  id: string;
  title: string;
  /** What the person types in; a provider without fields has a button alone. */
  fields?: AuthField[];
  /** Shown with the provider on the login screen. */
  hint?: string;
  /** Signs in. `undefined` when the page is about to leave for another one; an error's message is shown to the person. */
  login(values: Record<string, string>): Awaitable<Session | undefined>;
  /**
   * Finds the session again: when the page starts, when it comes back from another one, and (with `refresh`) when the
   * session is about to end. `undefined` when there's none; an error when it can't be found out now.
   */
  restore?(options: { refresh: boolean }): Awaitable<Session | undefined | null>;
  logout?(session: Session): Awaitable<unknown>;
  /** Headers for every request to the page's own server, such as one against forgery. */
  headers?: Record<string, string>;
}

/** What the token endpoint of an OpenID provider answers. */
export interface OidcTokens {
  access_token: string;
  id_token?: string;
  refresh_token?: string;
  expires_in?: number;
  token_type?: string;
  scope?: string;
}

/** Options of `createOidcProvider`. */
export interface OidcOptions {
  /** Default `oidc`. */
  id?: string;
  /** What the button on the login screen says; default: host of the authority. */
  title?: string;
  /** URL of the identity provider. */
  authority: string;
  /** Identifier of the public client. */
  clientId: string;
  /** Default `openid profile email`. */
  scope?: string;
  /** Default: the page without query and fragment. */
  redirectUri?: string;
  /** Further parameters of the authorization request. */
  extraParams?: Record<string, string>;
  /** Paths of claims that roles are read from, such as `realm_access.roles`. */
  roleClaims?: string[];
  /** Changes the session; what it returns is laid over the shell's own. */
  mapSession?(claims: Record<string, unknown>, tokens: OidcTokens): Awaitable<Partial<Session>>;
}

/** Options of `createCookieProvider`. */
export interface CookieProviderOptions {
  /** Default `cookie`. */
  id?: string;
  title?: string;
  /** Where `login`, `user` and `logout` lie; default `/bff`. */
  basePath?: string;
  /** Sent with every request, so that other pages can't forge one; default `{ 'X-CSRF': '1' }`. */
  headers?: Record<string, string>;
  /** Makes a session of what `user` answers. */
  mapUser?(user: Record<string, unknown>): Session;
}

/** An app of a remote manifest. */
export interface RemoteApp extends Omit<AppDefinition, 'render' | 'menu'> {
  /** Hashes of the module at `entry`, as in `sha384-…`. */
  integrity?: string;
}

/** What a remote manifest says. */
export interface RemoteManifest {
  permissions?: Permission[];
  apps?: RemoteApp[];
  /** Modules that call `Shell` themselves. */
  modules?: (string | { url: string; integrity: string })[];
}

/** What became of a remote manifest. */
export interface RemoteReport {
  /** Ids of the apps that were added. */
  apps: string[];
  /** Ids of the permissions that were made known. */
  permissions: string[];
  /** Modules that ran. */
  modules: string[];
  /** What was refused or failed, each in a sentence. */
  problems: string[];
}

/** Options of `Shell.configure`. Those marked "at start" are read when the desktop initializes. */
export interface ShellOptions {
  /** Base URL of the icon folder; default: `icons/` next to the module. At start. */
  assetBase?: string;
  /** Default: the browser's language. A choice in Settings wins. */
  locale?: string;
  /** Prefix for `Shell.request(path)`. */
  serverBaseUrl?: string;
  /** Replaces the built-in fetch transport completely. */
  request?: RequestFunction;
  /** Text shown on the login screen. */
  loginHint?: string;
  /** `false` allows guests although an auth provider is registered. */
  requireLogin?: boolean;
  /** Effective roles and permissions of a session. */
  accessProvider?: (session: Session) => Awaitable<{ identity?: Identity; roles?: string[]; permissions?: string[] }>;
  identityStore?: IdentityStore;
  brand?: Brand;
  defaults?: DefaultSettings;
  /** Extra wallpapers. */
  wallpapers?: Wallpaper[];
  /** Adds a documentation button to the start menu. */
  docsUrl?: string;
  /** The built-in Web link app; default `true`. */
  webLinks?: boolean;
  /** Prefix for saved profiles; default `shell`. At start. */
  storageKey?: string;
  /** Default: the browser's localStorage. */
  profileStore?: ProfileStore;
  /** Ids of apps placed on the first webtop on the very first start. At start. */
  initialShortcuts?: string[];
  /** Ids of apps opened on the very first start. At start. */
  initialApps?: string[];
}

/** Something an app tells; people find it under the bell until they clear it. */
export interface Notice {
  title: string;
  text?: string;
  /** The app it comes from, whose sign it bears and that opens when somebody turns to it. */
  appId?: string;
  /** Handed to the app then. */
  intent?: Intent;
}

/** One result of a search provider. */
export interface SearchHit {
  id: string;
  title: string;
  subtitle?: string;
  icon?: string;
  /** What it is shown under; without one, its provider's title. */
  group?: string;
  /** 0 to 100; hits without one keep the provider's order. */
  score?: number;
  /** The app that shows the hit. */
  appId: string;
  intent?: Intent;
}

/** Finds content. Hits may come one by one. */
export interface SearchProvider {
  id: string;
  title: string;
  search(
    query: string,
    context: { signal: AbortSignal; access: Access },
  ): Awaitable<SearchHit[]> | AsyncIterable<SearchHit>;
}

/** A hit with the provider it came from. */
export interface SearchResult extends SearchHit {
  providerId: string;
  providerTitle: string;
}

/** Options of `Shell.search`. */
export interface SearchOptions {
  signal?: AbortSignal;
  /** Called with all hits so far whenever further ones came. */
  onHits?(hits: SearchResult[]): void;
}

/** Arguments of `Shell.on` handlers. */
export interface ShellEvents extends Record<string, unknown> {
  login: Session;
  logout: undefined;
  'access-changed': { roles: string[]; permissions: string[] };
  'app-opened': { appId: string; windowId: string };
  'access-denied': { appId: string; requiredPermissions: string[] };
}

/** Translations by the English text; `{name}` stands for a parameter. */
export type MessageMap = Record<string, string>;
