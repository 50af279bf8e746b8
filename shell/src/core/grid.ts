/** Cells of webtops and folders: who stands where, and who makes room. */

/** Something in a cell. */
export interface Placed {
  id: string;
  /** Cell number; in a folder it runs over all pages. */
  cell: number;
}

/** Columns and rows of a page. */
export interface GridSize {
  columns: number;
  rows: number;
}

/** A webtop has one page. */
export const WEBTOP_GRID: GridSize = { columns: 5, rows: 3 };
/** A folder has as many pages as needed. */
export const FOLDER_GRID: GridSize = { columns: 4, rows: 3 };
/** The number of webtops a person may have. */
export const MAX_WEBTOPS = 9;

/** Cells of one page. */
export function pageSize(size: GridSize): number {
  return size.columns * size.rows;
}

/** The page a cell lies on. */
export function pageOf(cell: number, size: GridSize): number {
  return Math.floor(cell / pageSize(size));
}

/** Pages needed for the items; at least one. */
export function pageCount(items: readonly Placed[], size: GridSize): number {
  return items.reduce((most, item) => Math.max(most, pageOf(item.cell, size) + 1), 1);
}

/** The first free cell at or after `from`, or `undefined` when `capacity` is used up. */
export function firstFree(items: readonly Placed[], capacity: number, from = 0): number | undefined {
  const taken = new Set(items.map((item) => item.cell));
  for (let cell = from; cell < capacity; cell += 1) if (!taken.has(cell)) return cell;
  return undefined;
}

/**
 * Puts an item into a cell. One that has a cell here changes places with whoever stands there; before one from elsewhere,
 * whoever stands there moves on by one, and so does the next, up to the nearest free cell in either direction. Answers
 * `undefined` when nothing is free.
 */
export function place<T extends Placed>(
  items: readonly T[],
  moving: T,
  cell: number,
  capacity: number,
): T[] | undefined {
  const others = items.filter((item) => item.id !== moving.id);
  if (cell < 0 || cell >= capacity) return undefined;
  const taken = new Set(others.map((item) => item.cell));
  if (!taken.has(cell)) return [...others, { ...moving, cell }];
  const from = items.find((item) => item.id === moving.id)?.cell;
  if (from !== undefined)
    return [...others.map((item) => (item.cell === cell ? { ...item, cell: from } : item)), { ...moving, cell }];
  let after = cell;
  while (after < capacity && taken.has(after)) after += 1;
  let before = cell;
  while (before >= 0 && taken.has(before)) before -= 1;
  const forward = after < capacity && (before < 0 || after - cell <= cell - before);
  if (!forward && before < 0) return undefined;
  const shifted = others.map((item) => {
    if (forward) return item.cell >= cell && item.cell < after ? { ...item, cell: item.cell + 1 } : item;
    return item.cell <= cell && item.cell > before ? { ...item, cell: item.cell - 1 } : item;
  });
  return [...shifted, { ...moving, cell }];
}

/** The neighbour cell an arrow key leads to, staying on the page; `undefined` at its edge. */
export function neighbour(cell: number, key: 'Left' | 'Right' | 'Up' | 'Down', size: GridSize): number | undefined {
  const page = pageOf(cell, size) * pageSize(size);
  const local = cell - page;
  const column = local % size.columns;
  const row = Math.floor(local / size.columns);
  const nextColumn = column + (key === 'Left' ? -1 : key === 'Right' ? 1 : 0);
  const nextRow = row + (key === 'Up' ? -1 : key === 'Down' ? 1 : 0);
  if (nextColumn < 0 || nextColumn >= size.columns || nextRow < 0 || nextRow >= size.rows) return undefined;
  return page + nextRow * size.columns + nextColumn;
}

/** The item an arrow key moves the focus to: the nearest one in that direction. */
export function nearestItem<T extends Placed>(
  items: readonly T[],
  from: number,
  key: 'Left' | 'Right' | 'Up' | 'Down',
  size: GridSize,
): T | undefined {
  const at = (cell: number) => ({ x: cell % size.columns, y: Math.floor((cell % pageSize(size)) / size.columns) });
  const here = at(from % pageSize(size));
  let best: { item: T; distance: number } | undefined;
  for (const item of items) {
    if (pageOf(item.cell, size) !== pageOf(from, size) || item.cell === from) continue;
    const there = at(item.cell % pageSize(size));
    const dx = there.x - here.x;
    const dy = there.y - here.y;
    const along = key === 'Left' ? -dx : key === 'Right' ? dx : key === 'Up' ? -dy : dy;
    if (along <= 0) continue;
    const across = Math.abs(key === 'Left' || key === 'Right' ? dy : dx);
    const distance = along + across * 4;
    if (!best || distance < best.distance) best = { item, distance };
  }
  return best?.item;
}
