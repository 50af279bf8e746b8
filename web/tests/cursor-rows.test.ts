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
