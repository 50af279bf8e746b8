import assert from 'node:assert/strict';
import { test } from 'node:test';
import { contrast, INK, WHITE } from '../src/core/colour.ts';
import { WALLPAPERS, coloursOf, inkFor, isDarkInk } from '../src/core/wallpapers.ts';

test('names of tiles read on every part of every wallpaper that ships, light and dark', () => {
  for (const { id, background, dark } of WALLPAPERS) {
    for (const look of [background, dark ?? background]) {
      const colours = coloursOf(look);
      const ink = inkFor(colours);
      assert.ok(colours.length > 2, id);
      for (const colour of colours) assert.ok(contrast(ink, colour) >= 3, `${id}: ${contrast(ink, colour).toFixed(2)}`);
    }
  }
});

test('ink follows the colours of a background', () => {
  assert.equal(inkFor(coloursOf('linear-gradient(#fff, rgb(230 235 243))')), INK);
  assert.equal(inkFor(coloursOf('linear-gradient(hsl(220, 60%, 20%), #123)')), WHITE);
  assert.equal(inkFor(coloursOf('url("data:,")')), WHITE);
  assert.ok(isDarkInk(INK) && !isDarkInk(WHITE));
});
