import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { changeOf, lineOf, takeBack, type LineState } from '../src/core/lines.ts';
import { readInput } from '../src/core/input.ts';
import { operatorsFor } from '../src/core/filter.ts';
import { readSort, usualColumns } from '../src/core/list-state.ts';
import { propertyOf, readModel, type Property } from '../src/core/model.ts';
import { METADATA, products } from './shop.ts';

const HOME = 'Categories(9)/products';
const KEPT = { id: '7', '@odata.etag': 'W/"3"', name: 'Saw', price: 12, createdAt: '2026-01-01T00:00:00Z' };

function line(parts: Partial<LineState>): LineState {
  return { before: KEPT, changes: {}, isRemoved: false, ...parts };
}

test('a line is made, changed or taken away, each with the version that it was read in', () => {
  const fresh = { before: undefined, changes: { name: 'Drill' } };
  deepEqual(changeOf(products, HOME, line(fresh)), { method: 'POST', path: HOME, body: { name: 'Drill' } });
  deepEqual(changeOf(products, HOME, line({ changes: { price: 9 } })), {
    method: 'PATCH',
    path: 'Products(7)',
    body: { price: 9 },
    etag: 'W/"3"',
  });
  deepEqual(changeOf(products, HOME, line({ isRemoved: true, changes: { price: 9 } })), {
    method: 'DELETE',
    path: 'Products(7)',
    etag: 'W/"3"',
  });
});

test('of a line that says nothing nothing is sent', () => {
  equal(changeOf(products, HOME, line({})), undefined);
  equal(changeOf(products, HOME, line({ before: undefined })), undefined);
  equal(changeOf(products, HOME, line({ before: undefined, changes: { name: 'x' }, isRemoved: true })), undefined);
});

test('each change has one that takes it back', () => {
  const made = { id: '8', '@odata.etag': 'W/"1"' };
  const fresh = line({ before: undefined, changes: { name: 'Drill' } });
  deepEqual(takeBack(products, HOME, fresh, made), { method: 'DELETE', path: 'Products(8)', etag: 'W/"1"' });
  equal(takeBack(products, HOME, fresh, undefined), undefined);
  deepEqual(takeBack(products, HOME, line({ changes: { price: 9, note: 'n' } }), { '@odata.etag': 'W/"4"' }), {
    method: 'PATCH',
    path: 'Products(7)',
    body: { price: 12, note: null },
    etag: 'W/"4"',
  });
  // What the server sets itself isn't said when it is made again.
  deepEqual(takeBack(products, HOME, line({ isRemoved: true }), undefined), {
    method: 'POST',
    path: HOME,
    body: { id: '7', name: 'Saw', price: 12 },
  });
});

test('a refusal says which line and which field it speaks of', () => {
  deepEqual(lineOf('lines', 'lines/2/quantity'), { place: 2, field: 'quantity' });
  deepEqual(lineOf('lines', 'lines[0].quantity'), { place: 0, field: 'quantity' });
  deepEqual(lineOf('lines', 'lines/1'), { place: 1, field: '' });
  equal(lineOf('lines', 'quantity'), undefined);
  equal(lineOf('lines', 'others/1/quantity'), undefined);
});

test('JSON is read as it is written, and neither compared nor sorted by', () => {
  const own = structuredClone(METADATA) as { Shop: { Product: Record<string, unknown> } };
  own.Shop.Product.terms = { $Type: 'Edm.Untyped', $Nullable: true };
  const set = readModel(own).get('Products');
  const terms = set && propertyOf(set, 'terms');
  if (!set || !terms) throw new Error('there is no property `terms`');
  equal(terms.kind, 'json');
  deepEqual(readInput(terms, '{"days": [14, 30]}', '.'), { value: { days: [14, 30] } });
  deepEqual(readInput(terms, 'null', '.'), { value: null });
  deepEqual(readInput(terms, '{days: 14}', '.'), { complaint: 'field-json' });
  deepEqual(readInput({ ...terms, nullable: false } satisfies Property, '', '.'), { complaint: 'field-required' });
  deepEqual(operatorsFor(terms), []);
  equal(readSort(set, '-terms'), undefined);
  equal(usualColumns(set).includes('terms'), false);
});

test('whether a record can be made together with what belongs to it is read', () => {
  const own = structuredClone(METADATA) as { Shop: { Container: { Products: Record<string, unknown> } } };
  own.Shop.Container.Products['@Capabilities.DeepInsertSupport'] = { Supported: true };
  equal(readModel(own).get('Products')?.deepInsert, true);
  equal(products.deepInsert, false);
});
