import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PLACEMENTS, placementRect, snapAt, snapByKey, type Arrow, type Placement } from '../src/core/snap.ts';

const AREA = { x: 0, y: 0, width: 1440, height: 840 };

test('the pointer at edges and corners means what the table says', () => {
  const table: [number, number, Placement | undefined][] = [
    [720, 0, 'maximized'],
    [720, 20, 'maximized'],
    [720, 21, undefined],
    [0, 420, 'left'],
    [1439, 420, 'right'],
    [720, 839, 'bottom'],
    [720, 860, 'bottom'],
    [0, 0, 'topLeft'],
    [149, 5, 'topLeft'],
    [5, 149, 'topLeft'],
    [151, 5, 'maximized'],
    [1439, 10, 'topRight'],
    [10, 839, 'bottomLeft'],
    [1439, 839, 'bottomRight'],
    [100, 100, undefined],
  ];
  for (const [x, y, expected] of table) assert.equal(snapAt({ x, y }, AREA), expected, `${x}, ${y}`);
});

test('a guide holds on until the pointer is clearly away', () => {
  assert.equal(snapAt({ x: 30, y: 420 }, AREA), undefined);
  assert.equal(snapAt({ x: 30, y: 420 }, AREA, 'left'), 'left');
  assert.equal(snapAt({ x: 40, y: 420 }, AREA, 'left'), undefined);
});

test('halves and quarters tile the area without gap or overlap', () => {
  const odd = { x: 3, y: 5, width: 1441, height: 839 };
  for (const parts of [
    ['left', 'right'],
    ['top', 'bottom'],
    ['topLeft', 'topRight', 'bottomLeft', 'bottomRight'],
  ] as const) {
    const sum = parts
      .map((part) => placementRect(part, odd))
      .reduce((total, rect) => total + rect.width * rect.height, 0);
    assert.equal(sum, odd.width * odd.height);
  }
});

test('arrow keys lead from every position to the one named', () => {
  const table: [Placement, Arrow, boolean, Placement | 'minimized'][] = [
    ['normal', 'Left', false, 'left'],
    ['normal', 'Right', false, 'right'],
    ['normal', 'Up', false, 'maximized'],
    ['normal', 'Down', false, 'bottom'],
    ['maximized', 'Up', true, 'top'],
    ['maximized', 'Up', false, 'top'],
    ['maximized', 'Left', false, 'left'],
    ['maximized', 'Down', false, 'bottom'],
    ['left', 'Right', false, 'right'],
    ['left', 'Up', false, 'topLeft'],
    ['left', 'Down', false, 'bottomLeft'],
    ['topLeft', 'Up', true, 'top'],
    ['topLeft', 'Down', false, 'left'],
    ['topLeft', 'Right', false, 'topRight'],
    ['top', 'Right', false, 'topRight'],
    ['top', 'Down', false, 'maximized'],
    ['bottom', 'Down', true, 'minimized'],
    ['bottomRight', 'Down', false, 'minimized'],
    ['bottomRight', 'Left', false, 'bottomLeft'],
    ['bottom', 'Up', false, 'maximized'],
  ];
  for (const [from, key, again, expected] of table)
    assert.equal(snapByKey(from, key, again), expected, `${from} ${key}`);
});

test('from anywhere, top twice gives the upper half and bottom twice minimizes', () => {
  for (const from of PLACEMENTS) {
    for (const [key, end] of [
      ['Up', 'top'],
      ['Down', 'minimized'],
    ] as const) {
      const once = snapByKey(from, key, false);
      const twice = once === 'minimized' ? once : snapByKey(once, key, true);
      assert.equal(twice, end, `${from}, ${key} twice`);
    }
  }
});
