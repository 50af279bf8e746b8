import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contains, type Rect } from '../src/core/geometry.ts';
import { newPlace } from '../src/core/newcomer.ts';

const AREA = { x: 0, y: 0, width: 1440, height: 840 };

/** The share of a window that others leave in sight. */
function inSight(rect: Rect, above: readonly Rect[]): number {
  let seen = 0;
  for (let row = 0; row < 20; row += 1)
    for (let column = 0; column < 20; column += 1) {
      const point = { x: rect.x + (rect.width * (column + 0.5)) / 20, y: rect.y + (rect.height * (row + 0.5)) / 20 };
      if (!above.some((other) => contains(other, point))) seen += 1;
    }
  return seen / 400;
}

/** Opens windows one after the other, as a person does: each comes after the last. */
function openAll(sizes: readonly { width: number; height: number }[], area: Rect): Rect[] {
  const open: Rect[] = [];
  for (const size of sizes) open.push(newPlace(size, open, open.at(-1), area));
  return open;
}

test('the first window stands in the middle', () => {
  assert.deepEqual(newPlace({ width: 640, height: 440 }, [], undefined, AREA), {
    x: 400,
    y: 200,
    width: 640,
    height: 440,
  });
});

test('the next comes a step from the active one, wherever that is', () => {
  const active = { x: 100, y: 60, width: 500, height: 400 };
  assert.deepEqual(newPlace({ width: 500, height: 400 }, [active], active, AREA), {
    x: 136,
    y: 96,
    width: 500,
    height: 400,
  });
});

test('no window is buried, whatever the sizes and their order', () => {
  const sizes = [
    { width: 460, height: 330 },
    { width: 760, height: 520 },
    { width: 700, height: 480 },
    { width: 1008, height: 630 },
    { width: 420, height: 460 },
    { width: 340, height: 420 },
  ];
  for (let turn = 0; turn < sizes.length; turn += 1) {
    for (const order of [sizes, [...sizes].reverse()]) {
      const open = openAll([...order.slice(turn), ...order.slice(0, turn)], AREA);
      for (const [index, rect] of open.entries()) {
        const left = inSight(rect, open.slice(index + 1));
        assert.ok(left > 0.02, `turn ${turn}: window ${index} of ${JSON.stringify(open)} has ${left} in sight`);
        assert.ok(rect.x >= 0 && rect.y >= 0 && rect.x + rect.width <= 1440 && rect.y + rect.height <= 840);
      }
    }
  }
});

test('a window as large as the area becomes smaller rather than hide the one before', () => {
  const small = newPlace({ width: 400, height: 300 }, [], undefined, AREA);
  const large = newPlace({ width: 2000, height: 2000 }, [AREA], undefined, AREA);
  assert.ok(inSight(AREA, [large]) > 0.05);
  assert.ok(small.width === 400 && large.width < 1440 && large.height < 840);
});

test('a hundred windows stay inside, differ from their neighbours, and are placed quickly', () => {
  const open: Rect[] = [];
  let last = '';
  for (let index = 0; index < 100; index += 1) {
    const rect = newPlace({ width: 640, height: 420 }, open.slice(-24), open.at(-1), AREA);
    assert.ok(rect.x >= 0 && rect.y >= 0 && rect.x + rect.width <= 1440 && rect.y + rect.height <= 840);
    assert.notEqual(`${rect.x},${rect.y}`, last);
    last = `${rect.x},${rect.y}`;
    open.push(rect);
  }
});

test('an area smaller than any window is filled', () => {
  const area = { x: 0, y: 0, width: 300, height: 200 };
  assert.deepEqual(newPlace({ width: 640, height: 420 }, [], undefined, area), area);
});

test('beside a snapped window a new one leaves the titles of all readable', () => {
  const open = [
    { x: 340, y: 160, width: 760, height: 520 },
    { x: 412, y: 232, width: 640, height: 460 },
    { x: 0, y: 0, width: 720, height: 840 },
  ];
  const place = newPlace({ width: 820, height: 580 }, open, undefined, AREA);
  for (const { x, y, width } of open) {
    const middle = [0.1, 0.3, 0.5, 0.7, 0.9].map((share) => ({ x: x + width * share, y: y + 20 }));
    const readable = middle.filter((point) => !contains(place, point));
    assert.ok(
      readable.length >= 2,
      `${JSON.stringify(place)} leaves ${readable.length} points of the title at ${x}, ${y}`,
    );
  }
});

test('where there is room beside all titles, a new window covers none of them', () => {
  const open = [
    { x: 900, y: 430, width: 760, height: 520 },
    { x: 972, y: 502, width: 640, height: 460 },
    { x: 0, y: 0, width: 1280, height: 1380 },
  ];
  const place = newPlace({ width: 820, height: 580 }, open, undefined, { x: 0, y: 0, width: 2560, height: 1380 });
  const readable = open.flatMap(({ x, y, width }, index) =>
    [0.1, 0.3, 0.5, 0.7, 0.9]
      .map((share) => ({ x: x + width * share, y: y + 20 }))
      .filter((point) => !open.slice(index + 1).some((other) => contains(other, point))),
  );
  const covered = readable.filter((point) => contains(place, point));
  assert.deepEqual(covered, [], `${JSON.stringify(place)} covers titles`);
});
