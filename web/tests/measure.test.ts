import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { readInput } from '../src/core/input.ts';
import { EMPTY } from '../src/core/list-state.ts';
import { lineWithin, measuredIn, measuring, totalIn, unmeasured } from '../src/core/measure.ts';
import { propertyOf, readModel, type EntitySet, type Property } from '../src/core/model.ts';
import type { Row } from '../src/core/pages.ts';
import { shownOptions } from '../src/core/query.ts';
import { groupsOf, totalsOf } from '../src/core/summary.ts';
import { amount } from '../src/parts/value.ts';
import { historyText, ReferenceNames } from '../src/sets/history-values.ts';
import { measured, measureSign } from '../src/text.ts';

const NOW = new Date('2026-11-26T12:00:00Z');

function expenses(isCodeNullable: boolean): EntitySet {
  const model = readModel({
    $EntityContainer: 'Office.Container',
    Office: {
      Expense: {
        $Kind: 'EntityType',
        $Key: ['id'],
        id: { $Type: 'Edm.Guid' },
        what: {},
        amount: { $Type: 'Edm.Decimal', $Scale: 2, '@Measures.ISOCurrency': { $Path: 'currency' } },
        fee: { $Type: 'Edm.Decimal', $Scale: 2, '@Measures.ISOCurrency': 'EUR' },
        currency: { $MaxLength: 3, $Nullable: isCodeNullable, '@Self.IsFacet': true },
        distance: { $Type: 'Edm.Decimal', $Scale: 1, '@Measures.Unit': 'km' },
        parts: { $Type: 'Edm.Int32', '@Measures.Unit': 'boxes' },
      },
      Container: {
        $Kind: 'EntityContainer',
        Expenses: { $Collection: true, $Type: 'Office.Expense', $NavigationPropertyBinding: {} },
      },
    },
  });
  const set = model.get('Expenses');
  if (!set) throw new Error('no set');
  return set;
}

const set = expenses(false);

function property(name: string, of = set): Property {
  const found = propertyOf(of, name);
  if (!found) throw new Error(`no ${name}`);
  return found;
}

/** With plain spaces, which read better here. */
function spaced(text: string): string {
  return text.replaceAll('\u00A0', ' ');
}

test('metadata says in what numbers are', () => {
  deepEqual(property('fee').measure, { kind: 'currency', always: 'EUR', by: undefined });
  deepEqual(property('amount').measure, { kind: 'currency', always: undefined, by: 'currency' });
  deepEqual(property('distance').measure, { kind: 'unit', always: 'km', by: undefined });
  equal(property('what').measure, undefined);
});

test('a currency may stand elsewhere in the record, or not at all', () => {
  equal(measuredIn(property('fee'), {}), 'EUR');
  equal(measuredIn(property('amount'), { currency: 'CHF' }), 'CHF');
  for (const row of [{}, { currency: null }, { currency: '' }]) equal(measuredIn(property('amount'), row), undefined);
});

test('a history tells amounts in what their record said then', () => {
  const told = (then: Row) => historyText(set, new ReferenceNames(new Map(), set), 'amount', 12.5, then);
  equal(spaced(told({ currency: 'CHF' })), 'CHF 12.50');
  equal(told({ currency: 'EUR' }), '€12.50');
  equal(told({}), '12.50');
});

test('what holds a currency is asked for with the number', () => {
  const shown = [property('amount'), property('distance')];
  deepEqual(
    measuring(set, shown).map(({ name }) => name),
    ['currency'],
  );
  equal(shownOptions(new Map(), set, shown).$select, 'id,what,amount,distance,currency');
});

test('numbers are shown with their currency or unit, and without for a spreadsheet', () => {
  const shown = (name: string, value: number, row = {}) => spaced(amount(property(name), value, row));
  equal(shown('fee', 1234.5), '€1,234.50');
  equal(shown('amount', 12.5, { currency: 'CHF' }), 'CHF 12.50');
  equal(shown('amount', 12.5), '12.50');
  // What is no code stands behind the number; nothing breaks.
  equal(shown('amount', 12.5, { currency: 'gold' }), '12.50 gold');
  equal(shown('distance', 7), '7.0 km');
  equal(shown('parts', 3), '3 boxes');
  equal(amount(unmeasured(property('fee')), 1234.5), '1,234.50');
});

test('a currency has the digits that it has, and those that the number needs', () => {
  const money = (code: string, value: number, scale?: number) => spaced(measured(value, 'currency', code, scale));
  equal(money('JPY', 1200, 2), '¥1,200');
  equal(money('EUR', 0.0125, 4), '€0.0125');
  equal(money('EUR', 12.5, 4), '€12.50');
  equal(money('EUR', 1200, 0), '€1,200');
  equal(money('EUR', 1200), '€1,200.00');
});

test('units that browsers know are written as the language has them', () => {
  const quantity = (unit: string, value: number) => spaced(measured(value, 'unit', unit, 0));
  deepEqual(
    [quantity('day', 1), quantity('day', 7), quantity('kg', 5), quantity('%', 5)],
    ['1 day', '7 days', '5 kg', '5%'],
  );
  // An ounce of what isn't known here, and what every object has.
  deepEqual([quantity('oz t', 5), quantity('constructor', 5)], ['5 oz t', '5 constructor']);
  deepEqual(
    [measureSign('currency', 'EUR'), measureSign('unit', 'day'), measureSign('unit', 'pcs')],
    ['€', 'days', 'pcs'],
  );
});

test('no space before a unit lets a line end', () => {
  for (const shown of [measured(5, 'unit', 'kg'), measured(5, 'unit', 'big boxes'), measured(5, 'currency', 'CHF')]) {
    equal(/ /.test(shown), false, shown);
  }
});

test('what somebody takes over from a page is read', () => {
  const read = (name: string, text: string, sign = '.') => readInput(property(name), text, sign);
  deepEqual(read('fee', '€12.50'), { value: 12.5 });
  deepEqual(read('fee', '1.212,50\u00A0€', ','), { value: 1212.5 });
  deepEqual(read('fee', '12.50 EUR'), { value: 12.5 });
  deepEqual(read('distance', '7 km '), { value: 7 });
  deepEqual(read('distance', '7 mi'), { complaint: 'field-number' });
  deepEqual(read('distance', 'km'), { complaint: 'field-number' });
});

test('totals ask whether all is in one currency', () => {
  const view = { ...EMPTY, totals: { amount: 'sum', fee: 'sum' } } as const;
  equal(
    totalsOf(set, view, NOW),
    'aggregate(amount with sum as total_amount,fee with sum as total_fee,currency with min as least_currency,currency with max as greatest_currency)',
  );
  // Where the code may be missing, that is one of its own.
  const nullable = totalsOf(expenses(true), view, NOW) ?? '';
  equal(nullable.includes("case(currency eq null:'',true:currency) with min as least_currency"), true, nullable);
  const groups = groupsOf(new Map(), set, view, property('currency'), 5, NOW);
  equal(groups.includes('currency with max as greatest_currency'), true, groups);
  equal(totalsOf(set, { ...EMPTY, totals: { fee: 'sum' } }, NOW), 'aggregate(fee with sum as total_fee)');
});

test('a currency may stand on what a record refers to', () => {
  const model = readModel({
    $EntityContainer: 'Shop.Container',
    Shop: {
      Order: { $Kind: 'EntityType', $Key: ['id'], id: { $Type: 'Edm.Guid' }, number: {}, currency: {} },
      Line: {
        $Kind: 'EntityType',
        $Key: ['id'],
        id: { $Type: 'Edm.Guid' },
        orderId: { $Type: 'Edm.Guid' },
        amount: { $Type: 'Edm.Decimal', $Scale: 2, '@Measures.ISOCurrency': { $Path: 'order/currency' } },
        order: {
          $Kind: 'NavigationProperty',
          $Type: 'Shop.Order',
          $Nullable: true,
          $ReferentialConstraint: { orderId: 'id' },
        },
      },
      Container: {
        $Kind: 'EntityContainer',
        Orders: { $Collection: true, $Type: 'Shop.Order', $NavigationPropertyBinding: {} },
        Lines: { $Collection: true, $Type: 'Shop.Line', $NavigationPropertyBinding: { order: 'Orders' } },
      },
    },
  });
  const lines = model.get('Lines');
  if (!lines) throw new Error('no set');
  const [sum, order] = [property('amount', lines), property('orderId', lines)];
  equal(measuredIn(sum, { order: { currency: 'CHF' } }), 'CHF');
  for (const row of [{}, { order: null }, { order: {} }, { order: 'x' }]) equal(measuredIn(sum, row), undefined);
  // It comes along with what names the order, where that is shown.
  equal(shownOptions(model, lines, [sum]).$expand, 'order($select=currency)');
  equal(shownOptions(model, lines, [order, sum, sum]).$expand, 'order($select=id,number,currency)');
  equal(
    totalsOf(lines, { ...EMPTY, totals: { amount: 'sum' } }, NOW),
    "aggregate(amount with sum as total_amount,case(order/currency eq null:'',true:order/currency) with min as least_order_currency,case(order/currency eq null:'',true:order/currency) with max as greatest_order_currency)",
  );
  const of = (least: unknown, greatest: unknown) =>
    totalIn(sum, { least_order_currency: least, greatest_order_currency: greatest });
  deepEqual(of('EUR', 'EUR'), { row: { order: { currency: 'EUR' } } });
  equal(of('', 'EUR'), 'mixed');
});

test('a line is in the currency of its record as that is written', () => {
  const sum = { measure: { kind: 'currency', always: undefined, by: 'order/currency' } } as const;
  const said = (line: Row, record: Row | undefined) => measuredIn(sum, lineWithin(line, 'order', record));
  const stored = { amount: 12.5, order: { currency: 'EUR' } };
  equal(said({}, { currency: 'CHF' }), 'CHF');
  equal(said({ order: null }, { currency: 'CHF' }), 'CHF');
  equal(said(stored, { currency: 'CHF' }), 'CHF');
  // What the record doesn't say, perhaps to this person, the line may.
  equal(said(stored, { number: '7' }), 'EUR');
  equal(said(stored, undefined), 'EUR');
  // No way leads back.
  equal(measuredIn(sum, lineWithin(stored, undefined, { currency: 'CHF' })), 'EUR');
  equal(said({}, {}), undefined);
  equal(said({}, { currency: '' }), undefined);
});

test('what is in several currencies has no total', () => {
  const of = (least: unknown, greatest: unknown) =>
    totalIn(property('amount'), { least_currency: least, greatest_currency: greatest });
  deepEqual(of('EUR', 'EUR'), { row: { currency: 'EUR' } });
  equal(of('CHF', 'EUR'), 'mixed');
  equal(of('', 'EUR'), 'mixed');
  // No records, or none with a code: the number stands by itself.
  deepEqual(of(null, null), { row: { currency: '' } });
  deepEqual(of('', ''), { row: { currency: '' } });
  deepEqual(totalIn(property('fee'), {}), { row: {} });
});
