import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fitInside, keepInside, keepReachable, resize, packRows, slideAside, overhang } from '../src/core/geometry.ts';

const AREA = { x: 0, y: 0, width: 1000, height: 700 };

test('a resized edge moves, the opposite one stays, and the smallest size holds', () => {
  const start = { x: 100, y: 100, width: 400, height: 300 };
  assert.deepEqual(resize(start, 'se', 50, 20, AREA), { x: 100, y: 100, width: 450, height: 320 });
  assert.deepEqual(resize(start, 'nw', 50, 20, AREA), { x: 150, y: 120, width: 350, height: 280 });
  assert.deepEqual(resize(start, 'w', 900, 0, AREA), { x: 260, y: 100, width: 240, height: 300 });
  assert.equal(resize(start, 'n', 0, -500, AREA).y, 0, 'the title bar stays below the top');
});

test('a window pushed anywhere keeps its title bar within reach', () => {
  for (const [x, y] of [
    [-5000, -5000],
    [5000, 5000],
    [-5000, 5000],
  ] as const) {
    const rect = keepReachable({ x, y, width: 400, height: 300 }, AREA);
    assert.ok(rect.x + rect.width >= 72 && rect.x <= 1000 - 72);
    assert.ok(rect.y >= 0 && rect.y <= 660);
    assert.deepEqual([rect.width, rect.height], [400, 300]);
  }
});

test('a window follows the area, but stays over the edge that somebody left it over', () => {
  const narrow = { x: 60, y: 0, width: 940, height: 640 };
  for (const [rect, expected] of [
    [
      { x: 10, y: 400, width: 400, height: 300 },
      { x: 60, y: 340, width: 400, height: 300 },
    ],
    [
      { x: -100, y: 400, width: 400, height: 300 },
      { x: -100, y: 340, width: 400, height: 300 },
    ],
    [
      { x: 10, y: 500, width: 400, height: 300 },
      { x: 60, y: 500, width: 400, height: 300 },
    ],
    [
      { x: 600.6, y: 100, width: 400, height: 300 },
      { x: 600, y: 100, width: 400, height: 300 },
    ],
  ] as const) {
    assert.deepEqual(keepInside(rect, narrow, overhang(rect, AREA)), expected);
  }
});

test('what is restored on a smaller screen fits wholly', () => {
  assert.deepEqual(fitInside({ x: 900, y: 600, width: 1600, height: 900 }, AREA), {
    x: 0,
    y: 0,
    width: 1000,
    height: 700,
  });
});

test('windows slide to the nearer side and leave a strip', () => {
  assert.equal(slideAside({ x: 100, y: 0, width: 300, height: 200 }, AREA, 36).x, 36 - 400);
  assert.equal(slideAside({ x: 600, y: 0, width: 300, height: 200 }, AREA, 36).x, 1000 - 36 - 600);
});

test('tiled windows neither overlap nor leave the area', () => {
  for (const count of [1, 2, 3, 7, 20]) {
    const sizes = Array.from({ length: count }, (_unused, index) => ({
      width: 300 + index * 20,
      height: 500 - index * 15,
    }));
    const boxes = packRows(sizes, AREA, { x: 20, y: 20 }).map((place, index) => ({
      left: place.x,
      top: place.y,
      right: place.x + (sizes[index]?.width ?? 0) * place.scale,
      bottom: place.y + (sizes[index]?.height ?? 0) * place.scale,
    }));
    for (const [index, box] of boxes.entries()) {
      assert.ok(box.left >= -0.01 && box.top >= -0.01 && box.right <= 1000.01 && box.bottom <= 700.01);
      for (const other of boxes.slice(index + 1)) {
        assert.ok(
          box.right <= other.left || other.right <= box.left || box.bottom <= other.top || other.bottom <= box.top,
        );
      }
    }
  }
});
