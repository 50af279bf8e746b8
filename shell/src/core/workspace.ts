/** Changes to webtops, folders and shortcuts. Every function answers a new list and leaves the old one alone. */
import { FOLDER_GRID, MAX_WEBTOPS, WEBTOP_GRID, firstFree, pageSize, place } from './grid.ts';
import type { Folder, Shortcut, Webtop, WebtopItem } from './profile.ts';

/** Where something stands: a webtop or a folder, and its cell there. */
export interface Spot {
  container: string;
  cell: number;
}

const WEBTOP_CELLS = pageSize(WEBTOP_GRID);
const UNLIMITED = Number.MAX_SAFE_INTEGER;

/** Every item with its container, folders' contents included. */
export function* allItems(webtops: readonly Webtop[]): Generator<{ container: string; item: WebtopItem }> {
  for (const webtop of webtops) {
    for (const item of webtop.items) {
      yield { container: webtop.id, item };
      if (item.kind === 'folder') for (const inner of item.items) yield { container: item.id, item: inner };
    }
  }
}

/** Finds an item anywhere. */
export function findItem(webtops: readonly Webtop[], id: string): { container: string; item: WebtopItem } | undefined {
  for (const found of allItems(webtops)) if (found.item.id === id) return found;
  return undefined;
}

/** Finds a folder. */
export function findFolder(webtops: readonly Webtop[], id: string): Folder | undefined {
  const found = findItem(webtops, id);
  return found?.item.kind === 'folder' ? found.item : undefined;
}

/** Changes an item in place (title, state and so on). */
export function changeItem(webtops: readonly Webtop[], id: string, change: (item: WebtopItem) => WebtopItem): Webtop[] {
  return webtops.map((webtop) => ({
    ...webtop,
    items: webtop.items.map((item) => {
      if (item.id === id) return change(item);
      if (item.kind !== 'folder' || !item.items.some((inner) => inner.id === id)) return item;
      return { ...item, items: item.items.map((inner) => (inner.id === id ? (change(inner) as Shortcut) : inner)) };
    }),
  }));
}

/** Takes an item out. Folders stay when they become empty: they are the person's. */
export function removeItem(webtops: readonly Webtop[], id: string): Webtop[] {
  return webtops.map((webtop) => ({
    ...webtop,
    items: webtop.items
      .filter((item) => item.id !== id)
      .map((item) =>
        item.kind === 'folder' && item.items.some((inner) => inner.id === id)
          ? { ...item, items: item.items.filter((inner) => inner.id !== id) }
          : item,
      ),
  }));
}

/** Puts an item (new or from elsewhere) into a cell; neighbours make room. `undefined` when there's no room or no such place. */
export function putItem(webtops: readonly Webtop[], item: WebtopItem, spot: Spot): Webtop[] | undefined {
  const folder = findFolder(webtops, spot.container);
  if (folder && item.kind === 'folder') return undefined;
  // Something that only moves within its container stays in it, and changes places with whoever stands there.
  const here = findItem(webtops, item.id)?.container === spot.container;
  const rest = here ? [...webtops] : removeItem(webtops, item.id);
  let placed = false;
  const next = rest.map((webtop) => {
    if (webtop.id === spot.container) {
      const items = place(webtop.items, item, spot.cell, WEBTOP_CELLS);
      placed ||= items !== undefined;
      return items ? { ...webtop, items } : webtop;
    }
    const target = webtop.items.find((other) => other.id === spot.container);
    if (target?.kind !== 'folder') return webtop;
    const items = place(target.items, item as Shortcut, spot.cell, UNLIMITED);
    placed ||= items !== undefined;
    return items
      ? { ...webtop, items: webtop.items.map((other) => (other.id === target.id ? { ...target, items } : other)) }
      : webtop;
  });
  return placed ? next : undefined;
}

/** Adds an item at the first free cell of the container, or of the first webtop with room. */
export function addItem(webtops: readonly Webtop[], item: WebtopItem, container: string): Webtop[] | undefined {
  const folder = findFolder(webtops, container);
  if (folder) return putItem(webtops, item, { container, cell: firstFree(folder.items, UNLIMITED) ?? 0 });
  const start = webtops.findIndex((webtop) => webtop.id === container);
  const order = [...webtops.slice(Math.max(0, start)), ...webtops.slice(0, Math.max(0, start))];
  for (const webtop of order) {
    const cell = firstFree(webtop.items, WEBTOP_CELLS);
    if (cell !== undefined) return putItem(webtops, item, { container: webtop.id, cell });
  }
  return undefined;
}

/** Makes a folder of two shortcuts, where the first one stands. */
export function foldTogether(
  webtops: readonly Webtop[],
  targetId: string,
  movingId: string,
  folder: { id: string; title: string },
): Webtop[] | undefined {
  const target = findItem(webtops, targetId);
  const moving = findItem(webtops, movingId)?.item;
  if (target?.item.kind !== 'shortcut' || moving?.kind !== 'shortcut' || targetId === movingId) return undefined;
  if (!webtops.some((webtop) => webtop.id === target.container)) return undefined;
  const made: Folder = {
    kind: 'folder',
    ...folder,
    cell: target.item.cell,
    items: [
      { ...target.item, cell: 0 },
      { ...moving, cell: 1 },
    ],
  };
  const rest = removeItem(removeItem(webtops, movingId), targetId);
  return putItem(rest, made, { container: target.container, cell: made.cell });
}

/** Dissolves a folder: its shortcuts go to the webtop it stands on, and to others when that one is full. */
export function dissolveFolder(webtops: readonly Webtop[], id: string): Webtop[] | undefined {
  const found = findItem(webtops, id);
  if (found?.item.kind !== 'folder') return undefined;
  let next: Webtop[] | undefined = removeItem(webtops, id);
  for (const inner of found.item.items) next = next && addItem(next, inner, found.container);
  return next;
}

/** Adds a webtop; `undefined` when there are nine. */
export function addWebtop(webtops: readonly Webtop[], id: string): Webtop[] | undefined {
  return webtops.length < MAX_WEBTOPS ? [...webtops, { id, items: [] }] : undefined;
}

/**
 * Deletes a webtop. Its items move to the neighbour and on to others; when they don't fit, or it's the last one, nothing
 * happens and the answer is `undefined`. The neighbour is where its windows go.
 */
export function deleteWebtop(
  webtops: readonly Webtop[],
  id: string,
): { webtops: Webtop[]; neighbour: string } | undefined {
  const at = webtops.findIndex((webtop) => webtop.id === id);
  const gone = webtops[at];
  const neighbour = webtops[at - 1] ?? webtops[at + 1];
  if (!gone || !neighbour) return undefined;
  let next: Webtop[] | undefined = webtops.filter((webtop) => webtop.id !== id);
  for (const item of gone.items) next = next && addItem(next, item, neighbour.id);
  return next && { webtops: next, neighbour: neighbour.id };
}

/** Moves a webtop to another position among its siblings. */
export function moveWebtop(webtops: readonly Webtop[], id: string, to: number): Webtop[] {
  const moving = webtops.find((webtop) => webtop.id === id);
  if (!moving) return [...webtops];
  const rest = webtops.filter((webtop) => webtop.id !== id);
  return [...rest.slice(0, to), moving, ...rest.slice(to)];
}

/** Pages of a folder's grid that the person sees: the used ones, and while dragging one more. */
export function folderPages(folder: Folder, dragging: boolean): number {
  const used = folder.items.reduce(
    (most, item) => Math.max(most, Math.floor(item.cell / pageSize(FOLDER_GRID)) + 1),
    1,
  );
  return dragging ? used + 1 : used;
}
