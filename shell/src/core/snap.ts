/**
 * Window placement: which edge of the screen means which position, and where the arrow keys lead.
 *
 * | From               | Pointer at                 | To                                |
 * | ------------------ | -------------------------- | --------------------------------- |
 * | any                | top edge                   | maximized                         |
 * | any                | left, right or bottom edge | that half                         |
 * | any                | a corner                   | that quarter                      |
 *
 * With the keys, Left and Right choose the column, Up and Down step through the rows. The same vertical key twice in a
 * row always ends at the upper half or minimizes, wherever it began.
 */
import { MIN_WINDOW, clamp, type Point, type Rect } from './geometry.ts';

/** Where a window stands. `normal` has bounds of its own. */
export type Placement =
  | 'normal'
  | 'maximized'
  | 'left'
  | 'right'
  | 'top'
  | 'bottom'
  | 'topLeft'
  | 'topRight'
  | 'bottomLeft'
  | 'bottomRight';

/** All placements, for validation of stored ones. */
export const PLACEMENTS: readonly Placement[] = [
  'normal',
  'maximized',
  'left',
  'right',
  'top',
  'bottom',
  'topLeft',
  'topRight',
  'bottomLeft',
  'bottomRight',
];

/** An arrow key. */
export type Arrow = 'Left' | 'Right' | 'Up' | 'Down';

/** Distance from an edge at which a guide appears. */
export const SNAP_EDGE = 20;
/** Length along an edge that counts as its corner. */
export const SNAP_CORNER = 150;
/** How much farther the pointer must go back before the guide disappears. */
export const SNAP_HYSTERESIS = 14;

/** The snap position the pointer means, or `undefined` away from all edges. `held` is the guide that's shown now. */
export function snapAt(point: Point, area: Rect, held?: Placement): Placement | undefined {
  const reach = held ? SNAP_EDGE + SNAP_HYSTERESIS : SNAP_EDGE;
  const corner = Math.min(SNAP_CORNER, area.width / 4, area.height / 4);
  const fromLeft = point.x - area.x;
  const fromRight = area.x + area.width - point.x;
  const fromTop = point.y - area.y;
  const fromBottom = area.y + area.height - point.y;
  const nearest = Math.min(fromLeft, fromRight, fromTop, fromBottom);
  if (nearest > reach) return undefined;
  const vertical = fromTop <= corner ? 'top' : fromBottom <= corner ? 'bottom' : undefined;
  const horizontal = fromLeft <= corner ? 'Left' : fromRight <= corner ? 'Right' : undefined;
  if (vertical && horizontal) return `${vertical}${horizontal}`;
  if (nearest === fromTop) return 'maximized';
  if (nearest === fromBottom) return 'bottom';
  return nearest === fromLeft ? 'left' : 'right';
}

/** Where the seams between snapped windows lie, as shares of the area. */
export interface Split {
  x: number;
  y: number;
}

/** Seams in the middle. */
export const HALVES: Split = { x: 0.5, y: 0.5 };

/** The nearest a seam comes to an edge, as a share of the area. */
const NEAREST = 0.2;

/** Keeps a seam so far from the edges that both sides stay usable. */
export function limitSplit({ x, y }: Split, area: Rect): Split {
  const limit = (share: number, least: number, space: number) => {
    const edge = Math.min(0.5, Math.max(NEAREST, least / space));
    return clamp(share, edge, 1 - edge);
  };
  return { x: limit(x, MIN_WINDOW.width, area.width), y: limit(y, MIN_WINDOW.height, area.height) };
}

const COLUMN: Partial<Record<Placement, 'Left' | 'Right'>> = {
  left: 'Left',
  topLeft: 'Left',
  bottomLeft: 'Left',
  right: 'Right',
  topRight: 'Right',
  bottomRight: 'Right',
};
const ROW: Partial<Record<Placement, 'top' | 'bottom'>> = {
  top: 'top',
  topLeft: 'top',
  topRight: 'top',
  bottom: 'bottom',
  bottomLeft: 'bottom',
  bottomRight: 'bottom',
};

/** The sides of a snapped window that lie on seams. */
export function seams(placement: Placement): string {
  const vertical = ROW[placement] === 'top' ? 's' : ROW[placement] === 'bottom' ? 'n' : '';
  const horizontal = COLUMN[placement] === 'Left' ? 'e' : COLUMN[placement] === 'Right' ? 'w' : '';
  return vertical + horizontal;
}

/** The position across the vertical seam, for a half that another window may fill. */
export function oppositeHalf(placement: Placement): 'left' | 'right' | undefined {
  return placement === 'left' ? 'right' : placement === 'right' ? 'left' : undefined;
}

/** The rectangle of a snap position. Neighbours share one pixel column so that no gap shows. */
export function placementRect(placement: Exclude<Placement, 'normal'>, area: Rect, split: Split = HALVES): Rect {
  const firstWidth = Math.round(area.width * split.x);
  const firstHeight = Math.round(area.height * split.y);
  const [column, row] = [COLUMN[placement], ROW[placement]];
  return {
    x: column === 'Right' ? area.x + firstWidth : area.x,
    y: row === 'bottom' ? area.y + firstHeight : area.y,
    width: column === 'Left' ? firstWidth : column === 'Right' ? area.width - firstWidth : area.width,
    height: row === 'top' ? firstHeight : row === 'bottom' ? area.height - firstHeight : area.height,
  };
}

const ROWS: Record<'Left' | 'Right' | 'Full', [Placement, Placement, Placement]> = {
  Left: ['topLeft', 'left', 'bottomLeft'],
  Right: ['topRight', 'right', 'bottomRight'],
  Full: ['top', 'maximized', 'bottom'],
};

function latticeOf(placement: Placement): { column: keyof typeof ROWS; row: number } | undefined {
  for (const column of Object.keys(ROWS) as (keyof typeof ROWS)[]) {
    const row = ROWS[column].indexOf(placement);
    if (row >= 0) return { column, row };
  }
  return undefined;
}

/**
 * Where an arrow key leads. `again` says that the previous key was the same one and nothing happened in between.
 * From `normal`, Up maximizes and the other keys give that half.
 */
export function snapByKey(from: Placement, key: Arrow, again: boolean): Placement | 'minimized' {
  if (again && key === 'Up') return 'top';
  if (again && key === 'Down') return 'minimized';
  const at = latticeOf(from);
  if (key === 'Left' || key === 'Right') return ROWS[key][at?.row ?? 1] ?? (key === 'Left' ? 'left' : 'right');
  if (key === 'Up') return at ? (ROWS[at.column][Math.max(0, at.row - 1)] ?? 'top') : 'maximized';
  if (!at) return 'bottom';
  return at.row === 2 ? 'minimized' : (ROWS[at.column][at.row + 1] ?? 'bottom');
}
