/**
 * Joins what two tabs made of one profile.
 *
 * `base` is what both started from, `mine` this tab's, `theirs` what the store holds now. Per webtop, item, setting and
 * window: what only one side changed is taken from that side; what both changed is taken from `mine`, the later save.
 * Something removed on one side and changed on the other stays: losing work is worse than keeping a shortcut too many.
 */
import { MAX_WEBTOPS, WEBTOP_GRID, firstFree, pageSize } from './grid.ts';
import { PROFILE_VERSION, type Folder, type Profile, type Shortcut, type Webtop, type WebtopItem } from './profile.ts';

/** Whether two JSON values are equal. */
export function sameJson(a: unknown, b: unknown): boolean {
  return a === b || canonical(a) === canonical(b);
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    part && typeof part === 'object' && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([left], [right]) => (left < right ? -1 : 1)))
      : part,
  );
}

type Entries<T> = ReadonlyMap<string, T>;

/** The three-way merge of keyed entries, in the order of `mine` with what `theirs` added behind. */
export function mergeEntries<T>(base: Entries<T>, mine: Entries<T>, theirs: Entries<T>): Map<string, T> {
  const merged = new Map<string, T>();
  for (const [key, own] of mine) {
    const before = base.get(key);
    const other = theirs.get(key);
    const changed = before === undefined || !sameJson(own, before);
    if (other === undefined) {
      // Gone or never there on the other side: kept when new or changed here.
      if (changed) merged.set(key, own);
    } else {
      merged.set(key, changed ? own : other);
    }
  }
  for (const [key, other] of theirs) {
    if (mine.has(key)) continue;
    const before = base.get(key);
    if (before === undefined || !sameJson(other, before)) merged.set(key, other);
  }
  return merged;
}

interface FlatItem {
  parent: string;
  item: Shortcut | Omit<Folder, 'items'>;
}

function flatten(profile: Profile): Map<string, FlatItem> {
  const flat = new Map<string, FlatItem>();
  for (const webtop of profile.webtops) {
    for (const item of webtop.items) {
      if (item.kind === 'shortcut') {
        flat.set(item.id, { parent: webtop.id, item });
        continue;
      }
      const { items, ...folder } = item;
      flat.set(item.id, { parent: webtop.id, item: folder });
      for (const inner of items) flat.set(inner.id, { parent: item.id, item: inner });
    }
  }
  return flat;
}

function heads(profile: Profile): Map<string, { id: string; title?: string }> {
  return new Map(profile.webtops.map(({ items: _items, ...head }) => [head.id, head]));
}

function seat<T extends WebtopItem>(items: T[], item: T, capacity: number): boolean {
  const cell = items.some((other) => other.cell === item.cell) ? firstFree(items, capacity) : item.cell;
  if (cell === undefined) return false;
  items.push({ ...item, cell });
  return true;
}

function rebuild(webtops: Webtop[], flat: Map<string, FlatItem>): void {
  const capacity = pageSize(WEBTOP_GRID);
  const folders = new Map<string, Folder>();
  const anywhere = (item: WebtopItem): boolean => webtops.some((webtop) => seat(webtop.items, item, capacity));
  for (const { parent, item } of flat.values()) {
    const home = webtops.find((webtop) => webtop.id === parent);
    if (item.kind === 'shortcut' && !home) continue;
    const placed: WebtopItem = item.kind === 'folder' ? { ...item, items: [] } : item;
    if (!(home && seat(home.items, placed, capacity)) && !anywhere(placed)) continue;
    if (item.kind !== 'folder') continue;
    const folder = webtops.flatMap((webtop) => webtop.items).find((other) => other.id === item.id);
    if (folder?.kind === 'folder') folders.set(folder.id, folder);
  }
  for (const { parent, item } of flat.values()) {
    if (item.kind !== 'shortcut' || webtops.some((webtop) => webtop.id === parent)) continue;
    const folder = folders.get(parent);
    if (folder) seat(folder.items, item, Number.MAX_SAFE_INTEGER);
    else anywhere(item);
  }
}

/** Joins two descendants of one profile. */
export function mergeProfiles(base: Profile, mine: Profile, theirs: Profile): Profile {
  const byId = (profile: Profile) => new Map(profile.windows.map((one) => [one.id, one]));
  const byName = (profile: Profile) => new Map(Object.entries(profile.settings));
  const merged = [...mergeEntries(heads(base), heads(mine), heads(theirs)).values()];
  const webtops: Webtop[] = merged.slice(0, MAX_WEBTOPS).map((head) => ({ ...head, items: [] }));
  if (webtops.length === 0) webtops.push(...mine.webtops.map((webtop) => ({ ...webtop, items: [] })));
  rebuild(webtops, mergeEntries(flatten(base), flatten(mine), flatten(theirs)));
  const first = webtops[0]?.id ?? mine.activeWebtop;
  const known = (id: string) => webtops.some((webtop) => webtop.id === id);
  const windows = [...mergeEntries(byId(base), byId(mine), byId(theirs)).values()];
  return {
    version: PROFILE_VERSION,
    webtops,
    activeWebtop: known(mine.activeWebtop) ? mine.activeWebtop : first,
    settings: Object.fromEntries(mergeEntries(byName(base), byName(mine), byName(theirs))) as Profile['settings'],
    windows: windows.map((one) => (known(one.webtop) ? one : { ...one, webtop: first })),
  };
}
