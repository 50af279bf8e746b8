import { equal, deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { changed, merge } from '../src/core/changes.ts';
import { readInput, readNumber } from '../src/core/input.ts';
import { propertyOf } from '../src/core/model.ts';
import { humanise, pick, withoutId } from '../src/core/names.ts';
import { Problem, readProblem } from '../src/core/problem.ts';
import { relativeParts } from '../src/core/relative.ts';
import { products } from './shop.ts';

function read(name: string, text: string): unknown {
  const property = propertyOf(products, name);
  return property && readInput(property, text, '.');
}

test('numbers are read as people write them', () => {
  equal(readNumber('1,234.50', '.'), '1234.50');
  equal(readNumber('1.234,50', ','), '1234.50');
  equal(readNumber('12,5', ','), '12.5');
  equal(readNumber('1 234', '.'), '1234');
  equal(readNumber('−5', '.'), '-5');
  equal(readNumber('.5', '.'), '.5');
  equal(readNumber('12,5', '.'), undefined);
  equal(readNumber('12.5', ','), undefined);
  for (const wrong of ['', 'abc', '1e5', '--1', '1.2.3']) equal(readNumber(wrong, '.'), undefined, wrong);
});

test('a field gives a value or says why not', () => {
  deepEqual(read('price', '12.5'), { value: 12.5 });
  deepEqual(read('price', ''), { complaint: 'field-required' });
  deepEqual(read('stock', ''), { value: null });
  deepEqual(read('stock', '1.5'), { complaint: 'field-whole' });
  deepEqual(read('price', 'x'), { complaint: 'field-number' });
  deepEqual(read('sku', 'x'.repeat(21)), { complaint: 'field-too-long' });
  deepEqual(read('sku', '🔨'.repeat(20)), { value: '🔨'.repeat(20) });
  deepEqual(read('note', ''), { value: null });
  deepEqual(read('discontinued', 'true'), { value: true });
  deepEqual(read('status', 'other'), { complaint: 'field-other' });
  deepEqual(read('orderedAt', 'x'), { complaint: 'field-time' });
});

test('two changes of one record are told apart', () => {
  const before = { name: 'a', price: 1, note: null, stock: 5 };
  const now = { name: 'b', price: 1, note: 'x', stock: 5 };
  deepEqual(changed(before, { ...before, price: 2 }), { price: 2 });
  deepEqual(merge(before, { name: 'c', price: 2 }, now, ['name', 'price', 'note', 'stock']), {
    mine: { price: 2 },
    disagreements: [{ property: 'name', mine: 'c', theirs: 'b' }],
    theirs: ['note'],
  });
});

test('a change that both made needs no decision', () => {
  const { mine, disagreements } = merge({ name: 'a' }, { name: 'b' }, { name: 'b' }, ['name']);
  deepEqual([mine, disagreements], [{}, []]);
});

test('both forms of errors are read', () => {
  const api = readProblem(422, { code: 'invalid', detail: 'no', errors: { url: ['a', 'b'] }, traceId: 't' });
  deepEqual([api.code, api.message, api.of('url'), api.traceId], ['invalid', 'no', 'a; b', 't']);
  const details = [{ code: 'taken', target: 'sku', message: 'is taken' }];
  const odata = readProblem(409, { error: { code: 'conflict', message: 'm', details, innererror: { traceId: 't' } } });
  deepEqual(odata.fields, [{ field: 'sku', message: 'is taken', code: 'taken' }]);
  equal(readProblem(400, { error: { code: 'x', message: 'm', target: '$filter' } }).fields.length, 0);
  for (const body of [undefined, '<html>', 5, null]) equal(readProblem(500, body) instanceof Problem, true);
});

test('how long ago', () => {
  deepEqual(relativeParts(0, 5_000), { count: 0, unit: 'second' });
  deepEqual(relativeParts(0, 30_000), { count: -30, unit: 'second' });
  deepEqual(relativeParts(0, 600_000), { count: -10, unit: 'minute' });
  deepEqual(relativeParts(7_200_000, 0), { count: 2, unit: 'hour' });
  equal(relativeParts(0, 86_400_000), undefined);
});

test('names become words', () => {
  equal(humanise('reorderLevel'), 'Reorder level');
  equal(humanise('SKUCode'), 'SKU code');
  equal(humanise('order_lines'), 'Order lines');
  equal(withoutId('categoryId'), 'category');
  equal(withoutId('id'), 'id');
  equal(withoutId('paid'), 'paid');
  equal(pick('Products', 8), pick('Products', 8));
});
