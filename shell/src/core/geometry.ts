/** Rectangles on the desktop, in CSS pixels. */

/** A point. */
export interface Point {
  x: number;
  y: number;
}

/** A rectangle. */
export interface Rect {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The edge or corner a window is resized by. */
export type Edge = 'n' | 's' | 'e' | 'w' | 'ne' | 'nw' | 'se' | 'sw';

/** The smallest window that stays usable. */
export const MIN_WINDOW = { width: 240, height: 140 } as const;

/** How much of a title bar stays reachable when a window is pushed over an edge. */
const REACHABLE = 72;
const TITLE_HEIGHT = 40;

/** Limits a number; the lower bound wins when the bounds cross. */
export function clamp(value: number, low: number, high: number): number {
  return Math.max(low, Math.min(high, value));
}

/** Whether a point lies inside. */
export function contains(rect: Rect, point: Point): boolean {
  return point.x >= rect.x && point.y >= rect.y && point.x < rect.x + rect.width && point.y < rect.y + rect.height;
}

/** Moves a window so far that its title bar can be grabbed; the size stays. */
export function keepReachable(rect: Rect, area: Rect): Rect {
  const reach = Math.min(REACHABLE, rect.width);
  return {
    ...rect,
    x: clamp(rect.x, area.x - rect.width + reach, area.x + area.width - reach),
    y: clamp(rect.y, area.y, area.y + area.height - TITLE_HEIGHT),
  };
}

/** The directions in which somebody left a window beyond an edge of the area. */
export interface Overhang {
  x: boolean;
  y: boolean;
}

/** How far over an edge is still a matter of rounding. */
const ROUNDING = 1;

/** Where a window is beyond the area. */
export function overhang(rect: Rect, area: Rect): Overhang {
  const beyond = (start: number, size: number, from: number, space: number) =>
    start < from - ROUNDING || start + size > from + space + ROUNDING;
  return {
    x: beyond(rect.x, rect.width, area.x, area.width),
    y: beyond(rect.y, rect.height, area.y, area.height),
  };
}

/** Moves a window into the area; where somebody left it over an edge, only so far that its title bar can be grabbed. */
export function keepInside(rect: Rect, area: Rect, over: Overhang): Rect {
  const reachable = keepReachable(rect, area);
  return {
    ...rect,
    x: over.x ? reachable.x : clamp(rect.x, area.x, area.x + area.width - rect.width),
    y: over.y ? reachable.y : clamp(rect.y, area.y, area.y + area.height - rect.height),
  };
}

/** Fits a window into the area: as small as needed, and wholly visible. */
export function fitInside(rect: Rect, area: Rect): Rect {
  const width = clamp(rect.width, Math.min(MIN_WINDOW.width, area.width), area.width);
  const height = clamp(rect.height, Math.min(MIN_WINDOW.height, area.height), area.height);
  return {
    x: clamp(rect.x, area.x, area.x + area.width - width),
    y: clamp(rect.y, area.y, area.y + area.height - height),
    width,
    height,
  };
}

/** The rectangle after an edge was dragged by (dx, dy). The opposite edge stays, the title bar stays below the area's top. */
export function resize(start: Rect, edge: Edge, dx: number, dy: number, area: Rect): Rect {
  let { x, y, width, height } = start;
  if (edge.includes('e')) width = Math.max(MIN_WINDOW.width, start.width + dx);
  if (edge.includes('s')) height = Math.max(MIN_WINDOW.height, start.height + dy);
  if (edge.includes('w')) {
    width = Math.max(MIN_WINDOW.width, start.width - dx);
    x = start.x + start.width - width;
  }
  if (edge.includes('n')) {
    const lowest = start.y + start.height - MIN_WINDOW.height;
    y = clamp(start.y + dy, Math.min(area.y, start.y), lowest);
    height = start.y + start.height - y;
  }
  return { x, y, width, height };
}

/** The translation that moves `rect` out of the nearest side of the area and leaves `peek` pixels of it in sight. */
export function slideAside(rect: Rect, area: Rect, peek: number): Point {
  const left = rect.x + rect.width / 2 < area.x + area.width / 2;
  return left
    ? { x: Math.min(0, area.x + peek - (rect.x + rect.width)), y: 0 }
    : { x: Math.max(0, area.x + area.width - peek - rect.x), y: 0 };
}

/** A place for something shown smaller. */
export interface Slot extends Point {
  scale: number;
}

/**
 * Places and one scale that show all `sizes` in rows, in reading order, as large as possible up to `maxScale`. Rows are
 * about equally long and close together, and the whole stands in the middle.
 */
export function packRows(
  sizes: readonly { width: number; height: number }[],
  area: Rect,
  gap: { x: number; y: number },
  maxScale = 1,
): Slot[] {
  let best: { rows: { width: number; height: number }[][]; scale: number } = { rows: [], scale: 0 };
  for (let count = 1; count <= sizes.length; count += 1) {
    const rows = intoRows(sizes, count);
    let scale = maxScale;
    let height = 0;
    for (const row of rows) {
      const width = row.reduce((sum, size) => sum + size.width, 0);
      scale = Math.min(scale, (area.width - gap.x * (row.length - 1)) / width);
      height += Math.max(...row.map((size) => size.height));
    }
    scale = Math.min(scale, (area.height - gap.y * (rows.length - 1)) / height);
    if (scale > best.scale) best = { rows, scale };
  }
  const scale = Math.max(0.02, best.scale);
  const heights = best.rows.map((row) => Math.max(...row.map((size) => size.height)) * scale);
  const whole = heights.reduce((sum, height) => sum + height, gap.y * (best.rows.length - 1));
  let y = area.y + (area.height - whole) / 2;
  return best.rows.flatMap((row, index) => {
    const width = row.reduce((sum, size) => sum + size.width * scale, gap.x * (row.length - 1));
    let x = area.x + (area.width - width) / 2;
    const height = heights[index] ?? 0;
    const slots = row.map((size) => {
      const slot = { x, y: y + (height - size.height * scale) / 2, scale };
      x += size.width * scale + gap.x;
      return slot;
    });
    y += height + gap.y;
    return slots;
  });
}

/** Breaks a list into `count` rows of about the same length. */
function intoRows<T extends { width: number }>(sizes: readonly T[], count: number): T[][] {
  const total = sizes.reduce((sum, size) => sum + size.width, 0);
  const rows: T[][] = Array.from({ length: count }, () => []);
  let before = 0;
  for (const size of sizes) {
    const row = Math.min(count - 1, Math.floor(((before + size.width / 2) / total) * count));
    rows[row]?.push(size);
    before += size.width;
  }
  return rows.filter((row) => row.length > 0);
}
