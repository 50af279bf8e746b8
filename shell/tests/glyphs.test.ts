import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const read = (path: string) => readFileSync(new URL(`../src/${path}`, import.meta.url), 'utf8');

test('every drawing that has a name has a look', () => {
  const names = [...read('ui/glyphs.ts').matchAll(/^ {2}\| '(\w+)'/gm)].map(([, name]) => name);
  const looks = [...read('styles/glyphs.css').matchAll(/^\[data-glyph="(\w+)"\]/gm)].map(([, name]) => name);
  assert.ok(names.length > 30);
  assert.deepEqual(looks, names);
});
