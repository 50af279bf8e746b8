/** A list that is handed out page by page, of a server that has pages with little on them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CursorRows } from '../src/parts/cursor-rows.ts';

type Pages = Record<string, { items: { id: string }[]; next: string | null }>;

/** Answers like a server, with these pages by their cursors. */
function serve(pages: Pages): void {
  Object.assign(globalThis, {
    location: { origin: 'http://client.test' },
    fetch: (path: string) => {
      const page = pages[new URL(path, 'http://client.test').searchParams.get('after') ?? ''];
      const headers = { 'content-type': 'application/json' };
      return Promise.resolve(new Response(JSON.stringify(page), { headers }));
    },
  });
}

function ids(rows: CursorRows): string[] {
  return Array.from({ length: rows.loaded }, (_none, index) => String(rows.at(index)?.id));
}

const of = (...names: string[]) => names.map((id) => ({ id }));

test('pages that are empty are passed over', async () => {
  serve({ '': { items: [], next: 'a' }, a: { items: [], next: 'b' }, b: { items: of('1'), next: null } });
  const rows = new CursorRows('/list', () => undefined);
  await rows.begin();
  assert.deepEqual([ids(rows), rows.hasMore], [['1'], false]);
});

test('what was read behind a short first page stays when that is asked for again', async () => {
  const pages: Pages = { '': { items: of('1'), next: 'a' }, a: { items: of('2'), next: 'b' } };
  serve(pages);
  let told: () => void = () => undefined;
  const rows = new CursorRows('/list', () => told());
  await rows.begin();
  const { promise, resolve } = Promise.withResolvers<void>();
  told = resolve;
  rows.want(0, 1);
  await promise;
  assert.deepEqual(ids(rows), ['1', '2']);
  pages[''] = { items: of('0', '1'), next: 'a' };
  await rows.refresh();
  assert.deepEqual([ids(rows), rows.hasMore], [['0', '1', '2'], true]);
});

test('a server with nothing but empty pages is not asked without end', async () => {
  serve({ '': { items: [], next: 'a' }, a: { items: [], next: 'a' } });
  const rows = new CursorRows('/list', () => undefined);
  await rows.begin();
  assert.deepEqual([rows.loaded, rows.hasMore], [0, true]);
});

test('what is asked for anew loses what is gone, on any page, and keeps its length', async () => {
  const pages: Pages = { '': { items: of('1', '2'), next: 'a' }, a: { items: of('3', '4'), next: 'b' } };
  serve(pages);
  let told: () => void = () => undefined;
  const rows = new CursorRows('/list', () => told());
  await rows.begin();
  const { promise, resolve } = Promise.withResolvers<void>();
  told = resolve;
  rows.want(0, 2);
  await promise;
  rows.drop(({ id }) => id === '1');
  assert.deepEqual([ids(rows), rows.hasMore], [['2', '3', '4'], true]);
  Object.assign(pages, { '': { items: of('0', '2'), next: 'a' }, a: { items: of('4'), next: null } });
  await rows.renew();
  assert.deepEqual([ids(rows), rows.hasMore], [['0', '2', '4'], false]);
});

test('a change while rows are asked for anew has them asked for once more', async () => {
  let asked = 0;
  serve({ '': { items: of('1'), next: null } });
  const { fetch } = globalThis;
  Object.assign(globalThis, {
    fetch: (path: string) => {
      asked += 1;
      return fetch(path);
    },
  });
  const rows = new CursorRows('/list', () => undefined);
  await rows.begin();
  await Promise.all([rows.renew(), rows.renew(), rows.renew()]);
  assert.equal(asked, 3);
});

test('a list that is longer than anybody looks at is not asked for whole', async () => {
  let asked = 0;
  Object.assign(globalThis, {
    fetch: (path: string) => {
      asked += 1;
      const take = Number(new URL(path, 'http://client.test').searchParams.get('take'));
      const items = Array.from({ length: take }, () => ({ id: String(asked) }));
      return Promise.resolve(
        new Response(JSON.stringify({ items, next: 'more' }), { headers: { 'content-type': 'application/json' } }),
      );
    },
  });
  const rows = new CursorRows('/list', () => undefined);
  await rows.begin();
  while (rows.loaded < 1_500) {
    const before = rows.loaded;
    rows.want(0, before);
    while (rows.loaded === before) await new Promise((resolve) => setImmediate(resolve));
  }
  asked = 0;
  await rows.renew();
  assert.deepEqual([asked, rows.loaded, rows.hasMore], [5, 1_000, true]);
});
