/**
 * What a person's desktop consists of, as it is stored: webtops with shortcuts and folders, settings, open windows.
 *
 * A profile carries the version of its shape. `readProfile` brings older ones up to date, drops single entries that make
 * no sense, and throws `UnreadableProfile` when the whole isn't a profile, so that the caller can set it aside.
 */
import { isObject } from './check.ts';
import { FOLDER_GRID, MAX_WEBTOPS, WEBTOP_GRID, firstFree, pageSize } from './grid.ts';
import type { Rect } from './geometry.ts';
import { PLACEMENTS, type Placement, type Split } from './snap.ts';

/** The shape that this release writes. */
export const PROFILE_VERSION = 1;

/** The sides a taskbar may lie on. */
export const SIDES = ['bottom', 'top', 'left', 'right'] as const;

/** One of them. */
export type TaskbarPosition = (typeof SIDES)[number];

/** A reference to an app, with what the person made of it. */
export interface Shortcut {
  kind: 'shortcut';
  id: string;
  cell: number;
  appId: string;
  /** Overrides the app's title. */
  title?: string;
  /** Overrides the app's icon. */
  icon?: string;
  /** Overrides the app's accent. */
  accent?: string;
  /** What the app reported with `setState` when the shortcut was made; arrives as `intent`. */
  state?: unknown;
}

/** A folder of shortcuts. Folders don't nest. */
export interface Folder {
  kind: 'folder';
  id: string;
  cell: number;
  title: string;
  items: Shortcut[];
}

/** Something on a webtop. */
export type WebtopItem = Shortcut | Folder;

/** One of up to nine desktops. */
export interface Webtop {
  id: string;
  title?: string;
  /** Where the seams between its snapped windows lie; in the middle when absent. */
  split?: Split;
  items: WebtopItem[];
}

/** Looks that may be chosen; `auto` is the system's. */
export const THEMES = ['auto', 'light', 'dark'] as const;

/** A picture that the person brought along as wallpaper; `image` is a data URL. */
export interface OwnPicture {
  id: string;
  image: string;
}

/** What the person chose; what's absent follows the defaults. */
export interface SettingValues {
  theme: (typeof THEMES)[number];
  wallpaper: string;
  systemColor: string;
  taskbarPosition: TaskbarPosition;
  taskbarAutoHide: boolean;
  effect: string;
  locale: string;
  /** Ids of apps that stay on the taskbar and come first in the start menu, in this order. */
  pins: string[];
  /** Ids of the apps opened last, the latest first. */
  recent: string[];
  /** Own wallpapers, the latest first. */
  pictures: OwnPicture[];
}

/** An open window, as far as it can be opened again. */
export interface StoredWindow {
  id: string;
  appId: string;
  webtop: string;
  bounds: Rect;
  placement: Placement;
  minimized: boolean;
  title?: string;
  state?: unknown;
  /** Id of the shortcut it was opened from. */
  link?: string;
}

/** All of it. */
export interface Profile {
  version: number;
  webtops: Webtop[];
  activeWebtop: string;
  settings: Partial<SettingValues>;
  /** From bottom to top. */
  windows: StoredWindow[];
}

/** The stored value isn't a profile that this release can read. */
export class UnreadableProfile extends Error {
  override name = 'UnreadableProfile';
}

/** Brings a profile from one version to the next. */
export type Migration = (profile: Record<string, unknown>) => Record<string, unknown>;

/** `MIGRATIONS[n]` turns version `n` into `n + 1`. Version 1 is the first that was released. */
export const MIGRATIONS: Readonly<Record<number, Migration>> = {};

/** Lifts a stored profile to `target`, one version at a time. */
export function migrate(
  stored: Record<string, unknown>,
  migrations: Readonly<Record<number, Migration>> = MIGRATIONS,
  target = PROFILE_VERSION,
): Record<string, unknown> {
  let profile = stored;
  const version = profile.version;
  if (typeof version !== 'number' || !Number.isInteger(version) || version < 1) {
    throw new UnreadableProfile(
      `the profile has the version \`${String(version)}\`; a whole number from 1 is expected`,
    );
  }
  if (version > target) {
    throw new UnreadableProfile(
      `the profile has version ${version}, but this release reads up to ${target}; update it`,
    );
  }
  for (let at = version; at < target; at += 1) {
    const step = migrations[at];
    if (!step) throw new UnreadableProfile(`no migration leads from version ${at} of the profile to ${at + 1}`);
    profile = { ...step(profile), version: at + 1 };
  }
  return profile;
}

/** The first webtop's id. It isn't random: tabs that start for the first time at once mean the same one. */
const FIRST_WEBTOP = 'webtop-first';

/** A profile for a first start. */
export function emptyProfile(): Profile {
  return {
    version: PROFILE_VERSION,
    webtops: [{ id: FIRST_WEBTOP, items: [] }],
    activeWebtop: FIRST_WEBTOP,
    settings: {},
    windows: [],
  };
}

/** The most pins and recent apps that are kept. */
const MOST_IDS = 40;

/** The most own pictures that are kept. */
export const MOST_PICTURES = 4;

/** The most characters of one, so that a profile with it can still be sent while the page goes. */
export const PICTURE_LENGTH = 45_000;

/** Of the latest pictures as many as take no more room than `full` of the largest. */
export function fitting(pictures: readonly OwnPicture[], full = MOST_PICTURES): OwnPicture[] {
  let length = 0;
  return pictures.slice(0, MOST_PICTURES).filter(({ image }) => {
    length += image.length;
    return length <= full * PICTURE_LENGTH;
  });
}

type Fields = Record<string, unknown>;

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function cellOf(value: unknown, capacity: number, taken: readonly { id: string; cell: number }[]): number | undefined {
  const wanted = typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < capacity ? value : 0;
  if (!taken.some((item) => item.cell === wanted)) return wanted;
  return firstFree(taken, capacity);
}

function readShortcut(value: Fields, cell: number): Shortcut | undefined {
  const id = text(value.id);
  const appId = text(value.appId);
  if (!id || !appId) return undefined;
  const shortcut: Shortcut = { kind: 'shortcut', id, appId, cell };
  for (const key of ['title', 'icon', 'accent'] as const) {
    const own = text(value[key]);
    if (own) shortcut[key] = own;
  }
  if (value.state !== undefined) shortcut.state = value.state;
  return shortcut;
}

function readItems(values: unknown, capacity: number, folders: boolean, seen: Set<string>): WebtopItem[] {
  const items: WebtopItem[] = [];
  for (const value of Array.isArray(values) ? values : []) {
    if (!isObject(value)) continue;
    const id = text(value.id);
    const cell = cellOf(value.cell, capacity, items);
    if (!id || seen.has(id) || cell === undefined) continue;
    const item: WebtopItem | undefined =
      value.kind === 'folder' && folders
        ? {
            kind: 'folder',
            id,
            cell,
            title: text(value.title) ?? '',
            items: readItems(value.items, Number.MAX_SAFE_INTEGER, false, seen) as Shortcut[],
          }
        : readShortcut(value, cell);
    if (!item) continue;
    seen.add(id);
    items.push(item);
  }
  return items;
}

function readRect(value: unknown): Rect | undefined {
  if (!isObject(value)) return undefined;
  const { x, y, width, height } = value;
  const numbers = [x, y, width, height].every((part) => typeof part === 'number' && Number.isFinite(part));
  return numbers ? { x: x as number, y: y as number, width: width as number, height: height as number } : undefined;
}

function readSplit(value: unknown): Split | undefined {
  if (!isObject(value)) return undefined;
  const share = (part: unknown) => typeof part === 'number' && part > 0 && part < 1;
  return share(value.x) && share(value.y) ? { x: value.x as number, y: value.y as number } : undefined;
}

function readWindow(value: unknown): StoredWindow | undefined {
  if (!isObject(value)) return undefined;
  const id = text(value.id);
  const appId = text(value.appId);
  const bounds = readRect(value.bounds);
  if (!id || !appId || !bounds) return undefined;
  const placement = PLACEMENTS.find((known) => known === value.placement) ?? 'normal';
  const stored: StoredWindow = {
    id,
    appId,
    webtop: text(value.webtop) ?? '',
    bounds,
    placement,
    minimized: value.minimized === true,
  };
  if (text(value.title)) stored.title = value.title as string;
  if (text(value.link)) stored.link = value.link as string;
  if (value.state !== undefined) stored.state = value.state;
  return stored;
}

function isPicture(value: unknown): value is OwnPicture {
  return isObject(value) && !!text(value.id) && !!text(value.image)?.startsWith('data:image/');
}

function readSettings(value: unknown): Partial<SettingValues> {
  if (!isObject(value)) return {};
  const settings: Partial<SettingValues> = {};
  for (const key of ['wallpaper', 'systemColor', 'effect', 'locale'] as const) {
    const own = text(value[key]);
    if (own) settings[key] = own;
  }
  const theme = THEMES.find((known) => known === value.theme);
  if (theme) settings.theme = theme;
  const side = SIDES.find((known) => known === value.taskbarPosition);
  if (side) settings.taskbarPosition = side;
  for (const key of ['pins', 'recent'] as const) {
    const ids = value[key];
    if (Array.isArray(ids)) settings[key] = [...new Set(ids.filter((id) => text(id) !== undefined))].slice(0, MOST_IDS);
  }
  if (Array.isArray(value.pictures)) settings.pictures = fitting(value.pictures.filter(isPicture));
  if (typeof value.taskbarAutoHide === 'boolean') settings.taskbarAutoHide = value.taskbarAutoHide;
  return settings;
}

/** Reads what a store returned. */
export function readProfile(stored: unknown): Profile {
  if (!isObject(stored)) throw new UnreadableProfile('the profile is not a JSON object');
  const fields = migrate(stored);
  if (!Array.isArray(fields.webtops)) throw new UnreadableProfile('the profile has no list of `webtops`');
  const seen = new Set<string>();
  const webtops: Webtop[] = [];
  for (const value of fields.webtops.slice(0, MAX_WEBTOPS)) {
    if (!isObject(value)) continue;
    const id = text(value.id);
    if (!id || seen.has(id)) continue;
    seen.add(id);
    const webtop: Webtop = { id, items: readItems(value.items, pageSize(WEBTOP_GRID), true, seen) };
    const title = text(value.title);
    if (title) webtop.title = title;
    const split = readSplit(value.split);
    if (split) webtop.split = split;
    webtops.push(webtop);
  }
  const first = webtops[0];
  if (!first) throw new UnreadableProfile('the profile has no webtop');
  const windows = (Array.isArray(fields.windows) ? fields.windows : [])
    .map(readWindow)
    .filter((one) => one !== undefined);
  for (const one of windows) if (!webtops.some((webtop) => webtop.id === one.webtop)) one.webtop = first.id;
  return {
    version: PROFILE_VERSION,
    webtops,
    activeWebtop: webtops.find((webtop) => webtop.id === fields.activeWebtop)?.id ?? first.id,
    settings: readSettings(fields.settings),
    windows,
  };
}

/** Pages of a folder have this many cells; exported for those who lay folders out. */
export const FOLDER_PAGE = pageSize(FOLDER_GRID);
