import { equal, deepEqual } from 'node:assert/strict';
import { test } from 'node:test';
import {
  isComplete,
  operatorsFor,
  readCondition,
  toFilter,
  type Condition,
  type Operator,
} from '../src/core/filter.ts';
import { propertyOf } from '../src/core/model.ts';
import { products } from './shop.ts';

const NOW = new Date('2026-03-01T12:00:00Z');
const KEY = '01a20690-9faf-7728-8e37-25bcb990ead9';

function filter(property: string, operator: Operator, ...values: string[]): string | undefined {
  return toFilter(products, [{ property, operator, values }], NOW);
}

test('each operator is written as OData has it', () => {
  equal(filter('name', 'contains', 'Hammer'), "contains(tolower(name),'hammer')");
  equal(filter('name', 'starts', 'A'), "startswith(tolower(name),'a')");
  equal(filter('name', 'ends', 'B'), "endswith(tolower(name),'b')");
  equal(filter('price', 'less', '12.5'), 'price lt 12.5');
  equal(filter('price', 'atMost', '12.5'), 'price le 12.5');
  equal(filter('price', 'more', '1'), 'price gt 1');
  equal(filter('price', 'atLeast', '1'), 'price ge 1');
  equal(filter('price', 'between', '1', '2'), 'price ge 1 and price le 2');
  equal(filter('status', 'is', 'open', 'closed'), "status in ('open','closed')");
  equal(filter('status', 'isNot', 'open'), "not (status eq 'open')");
  equal(filter('categoryId', 'is', KEY), `categoryId eq ${KEY}`);
  equal(filter('note', 'empty'), 'note eq null');
  equal(filter('note', 'notEmpty'), 'note ne null');
  equal(filter('discontinued', 'is', 'true'), 'discontinued eq true');
  equal(filter('orderedAt', 'lastDays', '7'), 'orderedAt ge 2026-02-22T12:00:00.000Z');
});

test('quotes can’t end a literal', () => {
  equal(filter('name', 'is', "O'Neill' or true"), "name eq 'O''Neill'' or true'");
  equal(filter('name', 'contains', "a')or(1 eq 1"), "contains(tolower(name),'a'')or(1 eq 1')");
});

test('days are whole days of the person', () => {
  const day = (text: string) => new Date(`${text}T00:00`).toISOString();
  equal(filter('orderedAt', 'less', '2026-02-03'), `orderedAt lt ${day('2026-02-03')}`);
  equal(filter('orderedAt', 'more', '2026-02-03'), `orderedAt ge ${day('2026-02-04')}`);
  equal(
    filter('orderedAt', 'between', '2026-02-03', '2026-02-05'),
    `orderedAt ge ${day('2026-02-03')} and orderedAt lt ${day('2026-02-06')}`,
  );
});

test('conditions are joined, and what is incomplete or unknown asks for nothing', () => {
  const conditions: Condition[] = [
    { property: 'price', operator: 'less', values: [] },
    { property: 'price', operator: 'less', values: ['5'] },
    { property: 'nothing', operator: 'less', values: ['5'] },
    { property: 'note', operator: 'empty', values: [] },
  ];
  equal(toFilter(products, conditions, NOW), 'price lt 5 and note eq null');
  equal(toFilter(products, [], NOW), undefined);
  equal(isComplete({ property: 'price', operator: 'between', values: ['1', ''] }), false);
});

test('an address is not trusted', () => {
  deepEqual(readCondition(products, ['price', 'less', '5']), { property: 'price', operator: 'less', values: ['5'] });
  for (const wrong of [
    ['price', 'less', '5 or true'],
    ['price', 'contains', '5'],
    ['cost', 'less', '5'],
    ['status', 'is', 'other'],
    ['categoryId', 'is', 'x'],
    ['name', 'is', 'x'.repeat(501)],
    ['name', 'is', ...Array.from({ length: 51 }, () => 'x')],
    ['name', 'is', 5],
    ['sku', 'empty'],
    'price',
    undefined,
  ]) {
    equal(readCondition(products, wrong), undefined, JSON.stringify(wrong));
  }
});

test('what can be null can be asked for', () => {
  const note = propertyOf(products, 'note');
  const sku = propertyOf(products, 'sku');
  equal(note && operatorsFor(note).includes('empty'), true);
  equal(sku && operatorsFor(sku).includes('empty'), false);
});
