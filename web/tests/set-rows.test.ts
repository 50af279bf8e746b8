/** The rows of a list, of a server that has so many of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SetRows } from '../src/sets/rows.ts';
import { products } from './shop.ts';

/** Answers like a server with records; what is asked for is noted by its place. */
function serve(server: { count: number; asked: number[] }): void {
  Object.assign(globalThis, {
    location: { origin: 'http://client.test' },
    fetch: (path: string) => {
      const { searchParams } = new URL(path, 'http://client.test');
      const from = Number(searchParams.get('$skip') ?? 0);
      server.asked.push(from);
      const length = Math.max(0, Math.min(100, server.count - from));
      const value = Array.from({ length }, (_none, index) => ({ id: String(from + index) }));
      const counted = searchParams.has('$count') ? { '@odata.count': server.count } : {};
      const headers = { 'content-type': 'application/json' };
      return Promise.resolve(new Response(JSON.stringify({ value, ...counted }), { headers }));
    },
  });
}

test('a page that is not there is the last one, and nothing is told of it before', async () => {
  for (const [count, page, last, shown] of [
    [250, 9, 3, 50],
    [300, 4, 3, 100],
    [250, 3, 3, 50],
    [0, 5, 1, 0],
  ] as const) {
    const server = { count, asked: [] };
    serve(server);
    const told: unknown[] = [];
    const rows = new SetRows(products, {}, () => told.push([rows.page, rows.count, rows.at(0)?.id]), page);
    await rows.begin();
    assert.deepEqual(told, [[last, shown, count === 0 ? undefined : String((last - 1) * 100)]]);
    assert.equal(rows.pageCount, last);
  }
});

test('a page that is there no more becomes the last one', async () => {
  const server = { count: 250, asked: [] };
  serve(server);
  const told: unknown[] = [];
  const rows = new SetRows(products, {}, () => told.push([rows.page, rows.count]), 3);
  await rows.begin();
  server.count = 120;
  await rows.refresh();
  assert.deepEqual(told, [
    [3, 50],
    [2, 20],
  ]);
  assert.deepEqual(server.asked, [200, 200, 100]);
});

test('a list that goes on and on stays where it is', async () => {
  const server = { count: 0, asked: [] };
  serve(server);
  const rows = new SetRows(products, {}, () => undefined);
  await rows.begin();
  assert.deepEqual([rows.page, rows.pageCount, rows.total, server.asked], [undefined, undefined, 0, [0]]);
});
