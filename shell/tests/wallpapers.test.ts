import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { contrast, fromHex, INK, WHITE } from '../src/core/colour.ts';
import { WALLPAPERS, coloursOf, inkFor, inkOf, isDarkInk, type WallpaperId } from '../src/core/wallpapers.ts';

const STYLES = readFileSync(new URL('../src/styles/wallpapers.css', import.meta.url), 'utf8');
const looks = new Map(
  [...STYLES.matchAll(/--shell-wallpaper-([\w-]+):([^;]+);/g)].map(([, name, look]) => [name, look ?? '']),
);

test('names of tiles read on every part of every wallpaper that ships, light and dark', () => {
  const ids = Object.keys(WALLPAPERS) as WallpaperId[];
  assert.deepEqual(new Set([...looks.keys()].map((name) => name?.replace('-dark', ''))), new Set(ids));
  for (const id of ids) {
    for (const dark of [false, true]) {
      const colours = coloursOf((dark && looks.get(`${id}-dark`)) || (looks.get(id) ?? ''), fromHex);
      assert.ok(colours.length > 2, id);
      const worst = Math.min(...colours.map((colour) => contrast(inkOf(id, dark), colour)));
      assert.ok(worst >= 3, `${id}: ${worst.toFixed(2)}`);
      assert.equal(inkOf(id, dark), inkFor(colours), id);
    }
  }
});

test('ink follows the colours of a background', () => {
  assert.equal(inkFor(coloursOf('linear-gradient(#ffffff, #e6ebf3)', fromHex)), INK);
  assert.equal(inkFor(coloursOf('linear-gradient(#142852, #112233)', fromHex)), WHITE);
  assert.equal(inkFor(coloursOf('url("data:,")', fromHex)), WHITE);
  const found: string[] = [];
  coloursOf('linear-gradient(in oklch, #FFF 0%, rgb(1 2 3 / 4%), hsl(220, 60%, 20%), oklch(0.7 0.1 200))', (text) => {
    found.push(text);
    return undefined;
  });
  assert.deepEqual(found, ['#FFF', 'rgb(1 2 3 / 4%)', 'hsl(220, 60%, 20%)', 'oklch(0.7 0.1 200)']);
  assert.ok(isDarkInk(INK) && !isDarkInk(WHITE));
});
