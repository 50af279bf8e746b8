import { equal, deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import { mean, meaningOf } from '../src/core/meaning.ts';
import { propertyOf, readModel } from '../src/core/model.ts';
import { METADATA } from './shop.ts';

const addressOf = (semanticType: string, value: string) => meaningOf({ semanticType })?.address?.(value);

test('the metadata says what values mean', () => {
  const shop = { ...METADATA.Shop, Category: { ...METADATA.Shop.Category, name: { '@Self.SemanticType': 'email' } } };
  const categories = readModel({ ...METADATA, Shop: shop }).get('Categories');
  const name = categories && propertyOf(categories, 'name');
  equal(name?.semanticType, 'email');
  equal(name && meaningOf(name)?.input, 'email');
});

test('a mail address leads to where it is written to', () => {
  equal(addressOf('email', 'ada@example.com'), 'mailto:ada@example.com');
  equal(addressOf('email', 'ada?bcc=eve@example.com'), 'mailto:ada%3Fbcc%3Deve@example.com');
  for (const none of ['…@example.com', 'ada', 'a b@c', '@c', 'a@b@c']) equal(addressOf('email', none), undefined, none);
});

test('a telephone number leads to a call', () => {
  equal(addressOf('phone', '+44 20 5550 0100'), 'tel:+442055500100');
  equal(addressOf('phone', '(030) 555-01.00 x12'), 'tel:0305550100;ext=12');
  for (const none of ['…00', 'call me', '+']) equal(addressOf('phone', none), undefined, none);
});

test('a module says what its own types mean, and of others nothing is known', () => {
  equal(meaningOf({ semanticType: 'guests.stars' }), undefined);
  equal(meaningOf({ semanticType: undefined }), undefined);
  mean('guests.stars', { input: 'text' });
  deepEqual(meaningOf({ semanticType: 'guests.stars' }), { input: 'text' });
});
