/** What happened to a record, in words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  difference,
  hasMore,
  heldAround,
  heldThrough,
  sayingOf,
  stepOf,
  waysBack,
  type ChangedField,
} from '../src/core/history.ts';

const field = (before: unknown, after: unknown): ChangedField => ({ name: 'price', label: 'Price', before, after });
const updated = (...fields: ChangedField[]) => ({ operation: 'updated', fields }) as const;

test('one short value is said in the sentence', () => {
  assert.equal(sayingOf(updated(field(12.5, 13))).kind, 'changed');
  assert.equal(sayingOf(updated(field(null, 0))).kind, 'filled');
  assert.equal(sayingOf(updated(field('old', ''))).kind, 'emptied');
  assert.equal(hasMore(updated(field(12.5, 13))), false);
});

test('what is long or many is listed', () => {
  for (const entry of [
    updated(field(1, 2), field(3, 4)),
    updated(field('a', 'b'.repeat(41))),
    updated(field('a', 'b\nc')),
  ]) {
    assert.equal(sayingOf(entry).kind, 'rewritten');
    assert.equal(hasMore(entry), true);
  }
  assert.equal(sayingOf(updated(field({ a: 1 }, { a: 2 }))).kind, 'rewritten');
  assert.equal(sayingOf(updated()).kind, 'touched');
});

test('a record that was made tells with what values', () => {
  assert.deepEqual(sayingOf({ operation: 'created', fields: [field(null, 1)] }), { kind: 'created' });
  assert.equal(hasMore({ operation: 'created', fields: [field(null, 1)] }), true);
  assert.equal(hasMore({ operation: 'deleted', fields: [] }), false);
});

test('an amount was in what its record said at that time', () => {
  const [price, currency] = [field(12, 13), { ...field('USD', 'EUR'), name: 'currency', label: 'Currency' }];
  // The newest first: the price, then the currency, then the price again, while it was in dollars.
  const held = heldThrough([updated(price), updated(currency), updated(price)], { currency: 'EUR' });
  assert.deepEqual(
    held.map(({ before, after }) => [before.currency, after.currency]),
    [
      ['EUR', 'EUR'],
      ['USD', 'EUR'],
      ['USD', 'USD'],
    ],
  );
  // Alone, an entry knows what it tells itself.
  assert.deepEqual(heldAround([price, currency]), {
    before: { price: 12, currency: 'USD' },
    after: { price: 13, currency: 'EUR' },
  });
});

test('the ways back are those that lead somewhere', () => {
  assert.deepEqual(waysBack({ operation: 'updated' }, true), ['Undo']);
  assert.deepEqual(waysBack({ operation: 'updated' }, false), ['Undo', 'Before', 'After']);
  assert.deepEqual(waysBack({ operation: 'created' }, false), ['After']);
  assert.deepEqual(waysBack({ operation: 'purged' }, false), []);
});

test('texts differ by words', () => {
  assert.deepEqual(difference('a fine old box', 'a fine new box'), {
    head: 'a fine ',
    removed: 'old',
    added: 'new',
    tail: ' box',
  });
  assert.deepEqual(difference('', 'all new'), { head: '', removed: '', added: 'all new', tail: '' });
  assert.deepEqual(difference('same', 'same'), { head: 'same', removed: '', added: '', tail: '' });
  const { head, removed, added, tail } = difference('a a a', 'a a');
  assert.equal(head + removed + tail, 'a a a');
  assert.equal(head + added + tail, 'a a');
});

test('a step in a workflow is told with its comment', () => {
  const step = { transition: 'refuse', from: 'submitted', to: 'draft', comment: 'which hammers?' };
  const event = 'WorkflowTransitioned';
  assert.deepEqual(stepOf({ event, data: { ...step, entityType: 'Orders' } }), step);
  assert.equal(stepOf({ event, data: { ...step, comment: null } })?.comment, null);
  assert.equal(stepOf({ event: 'stock.low', data: step }), undefined);
  assert.equal(stepOf({}), undefined);
});
