/** What awaits a person: what can be done with several at once, when it's looked at anew, when it's due, what it's about. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { offersOf, partsOf } from '../../modules/workflows/web/offers.ts';
import { Pace } from '../../modules/workflows/web/pace.ts';
import { readView, writeView } from '../../modules/workflows/web/view.ts';
import type { EntitySet, Model } from '../src/core/model.ts';
import { daysBetween } from '../src/core/relative.ts';
import { factsOf } from '../src/sets/facts.ts';
import { categories, model, products } from './shop.ts';

function task(id: string, set: string, ...names: string[]) {
  const choices = names.map((name) => ({ name, title: name.toUpperCase(), needsComment: name === 'refuse' }));
  return { id, entityType: set, entityTitle: `${set}s`, choices };
}

test('of several tasks each set has its own transitions, what most can take first', () => {
  const tasks = [task('1', 'Order', 'approveLarge', 'refuse'), task('2', 'Order', 'approve', 'refuse')];
  const offers = offersOf([...tasks, task('3', 'Paper', 'refuse'), task('4', 'Paper')]);
  const told = offers.map(({ set, name, needsComment, tasks: of }) => [
    set,
    name,
    needsComment,
    of.map(({ id }) => id),
  ]);
  assert.deepEqual(told, [
    ['Order', 'refuse', true, ['1', '2']],
    ['Order', 'approveLarge', false, ['1']],
    ['Order', 'approve', false, ['2']],
    ['Paper', 'refuse', true, ['3']],
  ]);
  assert.deepEqual([offers[0]?.title, offers[0]?.setTitle], ['REFUSE', 'Orders']);
  assert.deepEqual(offersOf([]), []);
});

test('a long selection goes in parts that the server takes', () => {
  assert.deepEqual(partsOf([1, 2, 3, 4, 5], 2), [[1, 2], [3, 4], [5]]);
  assert.deepEqual(partsOf([], 2), []);
});

test('what an address says of the list is checked', () => {
  assert.deepEqual(readView({ set: 'Orders', order: 'newest' }), { set: 'Orders', order: 'newest' });
  for (const odd of [undefined, 'x', { set: 5, order: 'oldest' }, { set: '' }, { set: 'x'.repeat(201) }]) {
    assert.deepEqual(readView(odd), { set: undefined, order: 'due' });
  }
  assert.deepEqual(writeView(readView({ order: 'due' })), {});
  assert.deepEqual(writeView(readView({ set: 'Orders', order: 'newest' })), { set: 'Orders', order: 'newest' });
});

test('however much happens, it is looked at no more often than said, and never while nobody sees it', () => {
  const page = new (class extends EventTarget {
    hidden = false;
  })();
  Object.assign(globalThis, { document: page });
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  try {
    let looks = 0;
    const pace = new Pace(60_000, () => {
      looks += 1;
    });
    const after = (ms: number) => {
      mock.timers.tick(ms);
      return looks;
    };
    for (let times = 0; times < 100; times += 1) pace.soon();
    assert.equal(after(0), 1, 'the first look waits for nothing');
    for (let times = 0; times < 100; times += 1) pace.soon();
    assert.deepEqual([after(59_999), after(1), after(600_000)], [1, 2, 2]);
    pace.now();
    assert.equal(looks, 3, 'what the person does is seen at once');
    pace.soon();
    page.hidden = true;
    assert.equal(after(60_000), 3, 'a page that has gone out of sight waits');
    pace.soon();
    assert.equal(after(600_000), 3);
    page.hidden = false;
    page.dispatchEvent(new Event('visibilitychange'));
    assert.equal(after(0), 4, 'and looks when it is seen again');
    pace.end();
    page.dispatchEvent(new Event('visibilitychange'));
    assert.equal(after(600_000), 4);
  } finally {
    mock.timers.reset();
  }
});

test('days until something is due are those of the calendar', () => {
  const at = (day: number, hour: number) => new Date(2026, 10, day, hour).getTime();
  assert.equal(daysBetween(at(25, 19), at(24, 20), 30), undefined, 'less than a day is told in hours');
  assert.equal(daysBetween(at(26, 7), at(24, 20), 30), 2);
  assert.equal(daysBetween(at(22, 9), at(24, 8), 30), -2);
  assert.equal(daysBetween(at(24, 8) + 31 * 86_400_000, at(24, 8), 30), undefined);
});

test('a record is told apart by an amount, and by what it refers to by a name', () => {
  const names = (known: Model, set: EntitySet) => factsOf(known, set).map(({ name }) => name);
  assert.deepEqual(names(model, products), ['price', 'categoryId']);
  // For somebody who may not see categories there is a text in their place.
  const without = new Map([...model].filter(([name]) => name !== 'Categories'));
  assert.deepEqual(names(without, products), ['price', 'sku']);
  assert.deepEqual(names(model, categories), []);
});
