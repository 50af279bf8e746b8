import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WEBTOP_GRID, firstFree, nearestItem, neighbour, place } from '../src/core/grid.ts';
import type { Folder, Shortcut, Webtop } from '../src/core/profile.ts';
import {
  addItem,
  addWebtop,
  allItems,
  deleteWebtop,
  dissolveFolder,
  findFolder,
  findItem,
  foldTogether,
  moveWebtop,
  putItem,
  removeItem,
} from '../src/core/workspace.ts';

const shortcut = (id: string, cell: number): Shortcut => ({ kind: 'shortcut', id, cell, appId: 'app' });
const webtop = (id: string, ...items: Webtop['items']): Webtop => ({ id, items });
const cells = (items: readonly { id: string; cell: number }[]) =>
  Object.fromEntries(items.map((item) => [item.id, item.cell]));

test('placing pushes neighbours to the nearest free cell', () => {
  const items = [shortcut('a', 0), shortcut('b', 1), shortcut('c', 2)];
  assert.deepEqual(cells(place(items, shortcut('x', 0), 1, 15) ?? []), { a: 0, b: 2, c: 3, x: 1 });
  const right = [shortcut('a', 13), shortcut('b', 14)];
  assert.deepEqual(cells(place(right, shortcut('x', 0), 14, 15) ?? []), { a: 12, b: 13, x: 14 });
  const full = Array.from({ length: 15 }, (_unused, index) => shortcut(`s${index}`, index));
  assert.equal(place(full, shortcut('x', 0), 3, 15), undefined);
  assert.equal(place(items, shortcut('x', 0), 15, 15), undefined);
});

test('random moves never lose an item or share a cell', () => {
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % below;
  };
  let webtops: Webtop[] = [
    webtop('w1'),
    webtop('w2'),
    webtop('w3', { kind: 'folder', id: 'f', cell: 0, title: '', items: [] }),
  ];
  for (let index = 0; index < 24; index += 1) webtops = addItem(webtops, shortcut(`s${index}`, 0), 'w1') ?? webtops;
  for (let step = 0; step < 3000; step += 1) {
    const item = findItem(webtops, `s${random(24)}`)?.item;
    assert.ok(item);
    const container = ['w1', 'w2', 'w3', 'f'][random(4)] ?? 'w1';
    webtops = putItem(webtops, item, { container, cell: random(container === 'f' ? 30 : 15) }) ?? webtops;
    const all = [...allItems(webtops)];
    assert.equal(all.length, 25);
    assert.equal(new Set(all.map(({ container: home, item: one }) => `${home} ${one.cell}`)).size, 25);
  }
});

test('arrow keys stay on the page, and the focus finds the nearest tile', () => {
  assert.equal(neighbour(0, 'Left', WEBTOP_GRID), undefined);
  assert.equal(neighbour(0, 'Down', WEBTOP_GRID), 5);
  assert.equal(neighbour(4, 'Right', WEBTOP_GRID), undefined);
  const items = [shortcut('a', 0), shortcut('b', 7), shortcut('c', 4)];
  assert.equal(nearestItem(items, 0, 'Right', WEBTOP_GRID)?.id, 'c', 'the same row wins');
  assert.equal(nearestItem(items, 0, 'Down', WEBTOP_GRID)?.id, 'b');
  assert.equal(firstFree(items, 15, 4), 5);
});

test('two shortcuts make a folder, which dissolves again', () => {
  const start = [webtop('w', shortcut('a', 3), shortcut('b', 8))];
  const folded = foldTogether(start, 'a', 'b', { id: 'f', title: 'F' });
  assert.ok(folded);
  assert.deepEqual(
    findFolder(folded, 'f')?.items.map((item) => item.id),
    ['a', 'b'],
  );
  assert.equal(findItem(folded, 'f')?.item.cell, 3);
  const back = dissolveFolder(folded, 'f');
  assert.deepEqual(
    back?.[0]?.items.map((item) => item.id),
    ['a', 'b'],
  );
  assert.equal(foldTogether(start, 'a', 'a', { id: 'f', title: '' }), undefined);
});

test('folders do not nest', () => {
  const folder = (id: string, cell: number): Folder => ({ kind: 'folder', id, cell, title: '', items: [] });
  assert.equal(
    putItem([webtop('w', folder('f', 0), folder('g', 1))], folder('g', 1), { container: 'f', cell: 0 }),
    undefined,
  );
});

test('a webtop is deleted only when its items fit elsewhere', () => {
  const full = webtop('full', ...Array.from({ length: 15 }, (_unused, index) => shortcut(`s${index}`, index)));
  assert.equal(deleteWebtop([full], 'full'), undefined, 'the last one stays');
  assert.equal(deleteWebtop([full, webtop('w', shortcut('x', 0))], 'w'), undefined);
  const result = deleteWebtop([webtop('a'), webtop('b', shortcut('x', 4))], 'b');
  assert.equal(result?.neighbour, 'a');
  assert.ok(result && findItem(result.webtops, 'x'));
});

test('there are nine webtops and no more; they can be put in order', () => {
  let webtops: Webtop[] = [webtop('w0')];
  for (let index = 1; index < 9; index += 1) webtops = addWebtop(webtops, `w${index}`) ?? [];
  assert.equal(webtops.length, 9);
  assert.equal(addWebtop(webtops, 'more'), undefined);
  assert.deepEqual(
    moveWebtop(webtops.slice(0, 3), 'w2', 0).map((one) => one.id),
    ['w2', 'w0', 'w1'],
  );
  assert.equal(removeItem([webtop('w', shortcut('a', 0))], 'a')[0]?.items.length, 0);
});
