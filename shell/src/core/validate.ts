/** What options, apps and search providers may contain. */
import { checkFields, describe, listOf, need, nested, oneOf, rule, withMethods, type FieldRule } from './check.ts';
import { SIDES } from './profile.ts';

/** Ids of the effects. */
export const EFFECTS = ['none', 'logos', 'snow', 'starfield', 'warp', 'network', 'aurora'] as const;

const DEFAULTS: Record<string, FieldRule> = {
  wallpaper: rule.filled,
  systemColor: rule.filled,
  taskbarPosition: oneOf(...SIDES),
  effect: oneOf(...EFFECTS),
};

const BRAND: Record<string, FieldRule> = {
  title: rule.text,
  logo: rule.text,
  startIcon: rule.text,
  cornerLogo: rule.textOrFalse,
  description: rule.text,
  version: rule.text,
};

const WALLPAPER: Record<string, FieldRule> = {
  id: rule.filled,
  title: rule.filled,
  image: rule.filled,
  background: rule.filled,
  foreground: rule.filled,
};

const OPTIONS: Record<string, FieldRule> = {
  assetBase: rule.text,
  locale: rule.filled,
  serverBaseUrl: rule.text,
  request: rule.run,
  loginHint: rule.text,
  requireLogin: rule.flag,
  accessProvider: rule.run,
  identityStore: withMethods(
    'listUsers',
    'saveUser',
    'deleteUser',
    'listRoles',
    'saveRole',
    'deleteRole',
    'listPermissions',
  ),
  brand: nested('brand', BRAND),
  defaults: nested('defaults', DEFAULTS),
  wallpapers: listOf('wallpaper', WALLPAPER),
  docsUrl: rule.text,
  webLinks: rule.flag,
  storageKey: rule.filled,
  profileStore: withMethods('load', 'save'),
  initialShortcuts: rule.texts,
  initialApps: rule.texts,
};

/** Checks what was passed to `configure`. */
export function checkOptions(options: unknown): void {
  checkFields('the options', options, OPTIONS);
  const wallpapers = (options as { wallpapers?: { id: string; image?: string; background?: string }[] }).wallpapers;
  for (const one of wallpapers ?? []) {
    if ((one.image === undefined) === (one.background === undefined)) {
      throw new TypeError(`wallpaper \`${one.id}\` needs either \`image\` or \`background\``);
    }
  }
}

const MENU_ENTRY: Record<string, FieldRule> = {
  id: rule.filled,
  title: rule.filled,
  icon: rule.text,
  run: rule.run,
};

const APP: Record<string, FieldRule> = {
  id: rule.filled,
  title: rule.filled,
  icon: rule.filled,
  accent: rule.filled,
  width: rule.size,
  height: rule.size,
  requiredPermissions: rule.texts,
  hidden: rule.flag,
  group: rule.filled,
  render: rule.run,
  url: rule.filled,
  entry: rule.filled,
  exportName: rule.filled,
  singleInstance: rule.flag,
  menu: listOf('menu entry', MENU_ENTRY),
  sandbox: rule.text,
  allow: rule.text,
};

/** Checks an app definition. */
export function checkApp(app: unknown): void {
  const id = (app as { id?: unknown } | null | undefined)?.id;
  const what = typeof id === 'string' && id ? `app \`${id}\`` : 'the app';
  checkFields(what, app, APP);
  const fields = app as Record<string, unknown>;
  need(what, app, 'id', 'title', 'icon');
  const sources = ['render', 'url', 'entry'].filter((key) => fields[key] !== undefined);
  if (sources.length !== 1) {
    const found = sources.length === 0 ? 'none' : sources.map((key) => `\`${key}\``).join(' and ');
    throw new TypeError(`${what} needs exactly one of \`render\`, \`url\` and \`entry\`, but has ${found}`);
  }
  if (fields.exportName !== undefined && fields.entry === undefined) {
    throw new TypeError(`${what} has \`exportName\`, which only goes with \`entry\``);
  }
}

/** Checks what an `entry` module exported as a partial definition. */
export function checkPartialApp(appId: string, value: unknown): void {
  checkFields(`what the module of app \`${appId}\` exports`, value, APP);
}

/** Checks a search provider. */
export function checkSearchProvider(provider: unknown): void {
  checkFields('the search provider', provider, { id: rule.filled, title: rule.filled, search: rule.run });
  need('the search provider', provider, 'id', 'title', 'search');
}

/** Checks a notice. */
export function checkNotice(notice: unknown): void {
  checkFields('the notice', notice, {
    title: rule.filled,
    text: rule.text,
    appId: rule.filled,
    intent: rule.anything,
  });
  need('the notice', notice, 'title');
}

/** Checks a permission. */
export function checkPermission(permission: unknown): void {
  checkFields('the permission', permission, {
    id: rule.filled,
    title: rule.text,
    group: rule.text,
    description: rule.text,
  });
  need('the permission', permission, 'id');
}

const AUTH_FIELD: Record<string, FieldRule> = { name: rule.filled, label: rule.filled, type: rule.text };

/** Checks an auth provider. */
export function checkAuthProvider(provider: unknown): void {
  checkFields('the auth provider', provider, {
    id: rule.filled,
    title: rule.filled,
    fields: listOf('field', AUTH_FIELD),
    hint: rule.text,
    login: rule.run,
    restore: rule.run,
    logout: rule.run,
    headers: rule.object,
  });
  need('the auth provider', provider, 'id', 'title', 'login');
}

/** Checks and shapes a badge: a count or a short mark; nothing and 0 remove it. */
export function badgeText(value: unknown, format: (count: number) => string = String): string | undefined {
  if (value === undefined || value === null || value === '' || value === 0) return undefined;
  if (typeof value === 'number' && Number.isFinite(value)) return value > 99 ? `${format(99)}+` : format(value);
  if (typeof value === 'string') return [...value].slice(0, 4).join('');
  throw new TypeError(`a badge is a number or a short string, not ${describe(value)}`);
}
