/**
 * Where a new window goes.
 *
 * The first one stands in the middle. Each further one comes a step down and right of the active one; where that has no room
 * or would hide another window, the place is taken from which the most stays in sight: titles count first, then any edge
 * wide enough to press. Only what can be seen now counts, since what lies under others is hidden already.
 */
import { contains, type Point, type Rect } from './geometry.ts';

/** How far a window of a cascade stands from the one before: its title stays readable. */
const STEP = 36;
/** How far inside a window's rim it's looked whether something of it is in sight. */
const RIM = 15;
/** How far down a title's middle is: who sees less of it can't read it. */
const TITLE = 20;
/** Points along each side at which it's looked. */
const ALONG = 5;
/** Places tried along each axis when the cascade has none. */
const PLACES = 5;
/** How far a new window stays from the edges where there's room. */
const EDGE_GAP = 16;

/** What hiding a window counts. */
const BURIED = 1000;
/** Up to how many windows a smaller one is thought of. */
const FEW = 8;
/** How much smaller a window may become rather than hide another. */
const SMALLER = [1, 0.9, 0.8, 0.7];

interface Size {
  width: number;
  height: number;
}

interface Seen {
  rect: Rect;
  /** Points of the title that are in sight. */
  title: Point[];
  /** Points of the other rims that are in sight. */
  rims: Point[];
}

function seenOf(rect: Rect, above: readonly Rect[]): Seen {
  const { x, y, width, height } = rect;
  const free = (point: Point) => !above.some((other) => contains(other, point));
  const at = (from: number, length: number, index: number) => from + RIM + ((length - 2 * RIM) * index) / (ALONG - 1);
  const title: Point[] = [];
  const rims: Point[] = [];
  for (let index = 0; index < ALONG; index += 1) {
    title.push({ x: at(x, width, index), y: y + TITLE });
    rims.push({ x: at(x, width, index), y: y + height - RIM });
    // The corners are there already.
    if (index === 0 || index === ALONG - 1) continue;
    rims.push({ x: x + RIM, y: at(y, height, index) }, { x: x + width - RIM, y: at(y, height, index) });
  }
  return { rect, title: title.filter(free), rims: rims.filter(free) };
}

/** How much a window at this place would take away: 0 is nothing that matters. */
function harm(place: Rect, seen: readonly Seen[]): number {
  let sum = 0;
  for (const { rect, title, rims } of seen) {
    // Two in the same place look like one.
    if (Math.abs(rect.x - place.x) < RIM && Math.abs(rect.y - place.y) < RIM) sum += 2 * BURIED;
    if (title.length + rims.length === 0) continue;
    const left = (points: readonly Point[]) => points.filter((point) => !contains(place, point)).length;
    const [titles, others] = [left(title), left(rims)];
    // A single point may be a corner too small to hit.
    if (titles + others < 2) sum += BURIED;
    else if (title.length > 1 && titles < 2) sum += 10;
    else if (titles < title.length) sum += 1 - titles / title.length;
  }
  return sum;
}

/** Places to try, and how little each must take away to be taken without a look at the rest. */
function* places(size: Size, active: Rect | undefined, area: Rect): Generator<[Rect, number]> {
  const [roomX, roomY] = [area.width - size.width, area.height - size.height];
  const [gapX, gapY] = [Math.min(EDGE_GAP, roomX / 2), Math.min(EDGE_GAP, roomY / 2)];
  const fits = ({ x, y }: Point) => x >= area.x && y >= area.y && x <= area.x + roomX && y <= area.y + roomY;
  const put = (x: number, y: number): Rect => ({ x: Math.round(x), y: Math.round(y), ...size });
  const middle = put(area.x + roomX / 2, area.y + roomY / 2);
  if (active)
    for (const [dx, dy] of [
      [STEP, STEP],
      [-STEP, STEP],
      [STEP, -STEP],
    ] as const) {
      const next = put(active.x + dx, active.y + dy);
      if (fits(next)) yield [next, 1];
    }
  yield [middle, 1];
  for (let row = 0; row < PLACES; row += 1) {
    for (let column = 0; column < PLACES; column += 1) {
      const x = area.x + gapX + ((roomX - 2 * gapX) * column) / (PLACES - 1);
      const y = area.y + gapY + ((roomY - 2 * gapY) * row) / (PLACES - 1);
      yield [put(x, y), 0.1];
    }
  }
}

function best(size: Size, seen: readonly Seen[], active: Rect | undefined, area: Rect): { rect: Rect; harm: number } {
  let found: { rect: Rect; harm: number } | undefined;
  for (const [rect, enough] of places(size, active, area)) {
    const cost = harm(rect, seen);
    if (!found || cost < found.harm) found = { rect, harm: cost };
    if (cost < enough) break;
  }
  return found ?? { rect: { ...area, ...size }, harm: 0 };
}

/**
 * The place of a new window. `windows` are those on screen from bottom to top; `active` is the one to come after, when it
 * stands freely. A window that would hide another wherever it stood becomes up to a third smaller.
 */
export function newPlace(wanted: Size, windows: readonly Rect[], active: Rect | undefined, area: Rect): Rect {
  const seen = windows.map((rect, index) => seenOf(rect, windows.slice(index + 1)));
  let found: { rect: Rect; harm: number } | undefined;
  for (const scale of SMALLER) {
    const size = {
      width: Math.round(Math.min(wanted.width, area.width) * scale),
      height: Math.round(Math.min(wanted.height, area.height) * scale),
    };
    const next = best(size, seen, active, area);
    if (!found || next.harm < found.harm - BURIED / 2) found = next;
    // Among many no size helps.
    if (found.harm < BURIED || windows.length > FEW) break;
  }
  return found?.rect ?? { ...area };
}
