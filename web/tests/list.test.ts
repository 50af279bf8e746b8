import { equal, deepEqual, ok } from 'node:assert/strict';
import { test } from 'node:test';
import { columnsOf, EMPTY, nextSort, readSort, readState, usualColumns, writeState } from '../src/core/list-state.ts';
import { MOST_PAGES, PAGE, Pages } from '../src/core/pages.ts';
import { address, listOptions, recordPath, searchPhrase, shownOptions } from '../src/core/query.ts';
import { groupsOf, totalsOf } from '../src/core/summary.ts';
import { findOptions } from '../src/core/find.ts';
import { isStep } from '../src/core/step.ts';
import { categories, model, products } from './shop.ts';

test('a state comes back from its short form', () => {
  const state = {
    search: 'hammer',
    conditions: [{ property: 'price', operator: 'less', values: ['5'] } as const],
    sort: { property: 'price', descending: true },
    columns: ['name', 'price'],
    widths: { price: 120 },
    totals: { price: 'sum' } as const,
    group: 'categoryId',
    reading: 'Pager' as const,
    page: 3,
    record: 'abc',
    past: '0199-entry',
  };
  deepEqual(readState(products, JSON.parse(JSON.stringify(writeState(state)))), state);
  deepEqual(writeState(EMPTY), {});
  deepEqual(readState(products, {}), EMPTY);
});

test('what an address makes up is left out', () => {
  const state = readState(products, { q: 5, f: 'x', s: '-nothing', c: ['name', 'nothing', 7], r: {} });
  deepEqual(state, { ...EMPTY, columns: ['name'] });
  const worse = { w: { price: 1, name: 'x', none: 100 }, t: { name: 'sum', price: 'drop' }, g: 'name', m: 'x', p: -1 };
  deepEqual(readState(products, worse), EMPTY);
  deepEqual(readState(products, { w: JSON.parse('{"__proto__":100}'), p: 1.5 }), EMPTY);
  deepEqual(readState(categories, { q: 'x' }).search, '');
  // Without a record there is no history of it.
  deepEqual(readState(products, { h: 'all' }), EMPTY);
  deepEqual(readState(products, { r: 'abc', h: 7 }), { ...EMPTY, record: 'abc' });
  for (const nonsense of [undefined, null, 'x', 5]) deepEqual(readState(products, nonsense), EMPTY);
});

test('the back button takes back where somebody went, not what was typed', () => {
  equal(isStep(undefined, { r: 'abc' }, ['q']), true);
  equal(isStep({ q: 'ham' }, { q: 'hamm' }, ['q']), false);
  equal(isStep({ q: 'ham', r: 'abc' }, { q: 'ham' }, ['q']), true);
  equal(isStep({ s: 'name', p: 2 }, { p: 2, s: 'name' }, []), false);
  equal(isStep(undefined, {}, []), false);
});

test('totals and groups are asked for of what the list shows', () => {
  const now = new Date();
  const view = {
    ...EMPTY,
    search: 'nail',
    conditions: [{ property: 'price', operator: 'less', values: ['5'] } as const],
  };
  equal(totalsOf(products, view, now), undefined);
  const summed = { ...view, totals: { price: 'average' } as const };
  equal(
    totalsOf(products, summed, now),
    'search("nail")/filter(price lt 5)/aggregate(price with average as total_price)',
  );
  const by = products.properties.find(({ name }) => name === 'categoryId');
  ok(by);
  equal(
    groupsOf(model, products, { ...EMPTY, totals: { stock: 'sum' } }, by, 10, now),
    'groupby((categoryId,category/name),aggregate($count as count,stock with sum as total_stock))/orderby(count desc)/top(10)',
  );
});

test('a press on a head sorts up, then down, then as usual', () => {
  const up = { property: 'price', descending: false };
  const down = { property: 'price', descending: true };
  deepEqual(nextSort('price', undefined, undefined), up);
  deepEqual(nextSort('price', up, undefined), down);
  equal(nextSort('price', down, undefined), undefined);
  deepEqual(nextSort('price', undefined, down), up);
  deepEqual(nextSort('name', undefined, down), { property: 'name', descending: false });
});

test('a list begins with what says most', () => {
  deepEqual(usualColumns(products), ['name', 'sku', 'categoryId', 'price', 'stock', 'status', 'unit', 'discontinued']);
  deepEqual(
    columnsOf(products, { ...EMPTY, columns: ['price'] }).map(({ name }) => name),
    ['name', 'price'],
  );
});

test('a list asks for what it shows, with the names of what is referred to', () => {
  deepEqual(shownOptions(model, products, columnsOf(products, { ...EMPTY, columns: ['categoryId', 'price'] })), {
    $select: 'id,name,categoryId,price',
    $expand: 'category($select=id,name)',
  });
  deepEqual(listOptions(products, { ...EMPTY, search: 'a "b' }, new Date(), readSort(products, '-price')), {
    $search: '"a" "b"',
    $orderby: 'price desc',
  });
});

test('words of a search are words, whatever they look like', () => {
  equal(searchPhrase(' NOT  x OR "y" \\ '), '"NOT" "x" "OR" "y"');
});

test('addresses are encoded', () => {
  equal(address('Products', { $filter: "name eq 'a&b'" }), "Products?$filter=name%20eq%20'a%26b'");
  equal(recordPath(products, 'abc'), 'Products(abc)');
  equal(findOptions(categories, "O'N").$filter, "contains(tolower(name),'o''n')");
  equal(findOptions(products, 'x').$search, '"x"');
});

test('pages are asked for once, and old ones are let go', () => {
  const pages = new Pages();
  const page = (at: number) => Array.from({ length: PAGE }, (_none, index) => ({ id: at * PAGE + index }));
  pages.total = 100 * PAGE;
  deepEqual(pages.missing(0, PAGE), [0, 1]);
  pages.put(0, page(0));
  deepEqual(pages.missing(0, PAGE), [1]);
  equal(pages.at(3)?.id, 3);
  equal(pages.at(PAGE), undefined);
  for (let at = 1; at <= MOST_PAGES; at += 1) pages.put(at, page(at));
  equal(pages.at(0), undefined);
  equal(pages.at(MOST_PAGES * PAGE)?.id, MOST_PAGES * PAGE);
  equal(pages.indexOf('id', 5 * PAGE + 1), 5 * PAGE + 1);
  equal(pages.replace('id', 5 * PAGE + 1, { id: 5 * PAGE + 1, name: 'new' }), true);
  equal(pages.at(5 * PAGE + 1)?.name, 'new');
});

test('nothing behind the end is asked for', () => {
  const pages = new Pages();
  pages.total = 3;
  deepEqual(pages.missing(0, 500), [0]);
  pages.total = 0;
  deepEqual(pages.missing(0, 500), []);
});
