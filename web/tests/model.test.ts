import { equal, deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { readModel, propertyOf } from '../src/core/model.ts';
import { categories, model, products } from './shop.ts';

test('sets are read, and nothing that is none', () => {
  deepEqual([...model.keys()], ['Products', 'Categories']);
  equal(products.description, 'What is sold');
  equal(products.key, 'id');
});

test('properties have their kinds', () => {
  const kinds = Object.fromEntries(products.properties.map(({ name, kind }) => [name, kind]));
  deepEqual(kinds, {
    id: 'id',
    sku: 'text',
    name: 'text',
    note: 'text',
    categoryId: 'id',
    price: 'decimal',
    stock: 'integer',
    status: 'enumeration',
    unit: 'text',
    discontinued: 'boolean',
    orderedAt: 'time',
    createdAt: 'time',
  });
  deepEqual(propertyOf(products, 'status')?.members, ['open', 'closed']);
  equal(propertyOf(products, 'unit')?.isFacet, true);
});

test('what may be written is read from both places that say so', () => {
  equal(propertyOf(products, 'stock')?.updatable, false);
  equal(propertyOf(products, 'stock')?.insertable, true);
  equal(propertyOf(products, 'createdAt')?.insertable, false);
  equal(propertyOf(products, 'name')?.updatable, true);
});

test('what the server fills in need not be written', () => {
  const filled = products.properties.filter(({ hasDefault }) => hasDefault).map(({ name }) => name);
  deepEqual(filled, ['id', 'stock']);
});

test('references lead from their key to the set', () => {
  equal(propertyOf(products, 'categoryId')?.reference, 'category');
  deepEqual(products.navigations, [
    { name: 'category', target: 'Categories', isCollection: false, foreignKey: 'categoryId', partner: undefined },
  ]);
  equal(categories.navigations[0]?.isCollection, true);
});

test('operations of a record are read with their permissions, those of the whole set are not', () => {
  deepEqual(
    products.operations.map(({ name, isAction, permissions }) => [name, isAction, permissions]),
    [
      ['Receive', true, ['Products.Receive']],
      ['Left', false, []],
    ],
  );
  equal(products.operations[0]?.qualifiedName, 'Shop.Receive');
  equal(products.operations[0]?.parameters[0]?.kind, 'integer');
  equal(products.operations[1]?.result?.kind, 'decimal');
});

test('permissions of single properties are not those of the set', () => {
  deepEqual(products.read.permissions, ['Products.View']);
  deepEqual(products.insert, { possible: true, permissions: ['Products.Create'] });
  equal(products.remove.possible, false);
});

test('what names a record is found', () => {
  equal(products.title, 'name');
  equal(categories.title, 'name');
});

test('a document that is something else has no sets', () => {
  for (const nonsense of [undefined, null, 5, [], {}, { $EntityContainer: 'A.B' }]) equal(readModel(nonsense).size, 0);
});
