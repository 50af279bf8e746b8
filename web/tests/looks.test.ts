import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { differences, fold, isSame, unfold, WAYS, write, type Facts, type Seen } from '../../e2e/web/looks-text.ts';

const isNarrow = (way: number) => (way & 2) !== 0;
const isDark = (way: number) => (way & 4) !== 0;
const seen = (name: string, facts: Facts): Seen => ({ part: 'Buttons', name, facts });

/** A button in the light and in the dark, and beside it one on a phone alone. */
const taken = (width: number, dark = '#ffffff'): Seen[][] =>
  WAYS.map((way) => [
    seen('button', { at: `0,0 ${width}×32`, color: isDark(way) ? dark : '#1b1f27' }),
    ...(isNarrow(way) ? [seen('button (2)', { at: '0,40 80×44', color: '#c22f3d' })] : []),
    ...(way === 0 ? [seen('button:hover', { background: '#eeeeee' })].map((one) => ({ ...one, part: 'Pointer' })) : []),
  ]);

test('a value is said once for each that it depends on', () => {
  const values = (of: (way: number) => string) => WAYS.map(of);
  const cases: [string, string[]][] = [
    ['a', values(() => 'a')],
    ['a | dark = b', values((way) => (isDark(way) ? 'b' : 'a'))],
    ['a | narrow = b | dark = c | narrow dark = d', values((way) => 'abcd'.charAt(way >> 1))],
    ['a | narrow = b | de narrow = c', values((way) => 'aabc'.charAt(way & 3))],
  ];
  for (const [said, all] of cases) {
    equal(fold(all), said);
    deepEqual(unfold(said), all);
  }
});

test('what was looked at in one way alone says nothing of the others', () => {
  equal(
    write(taken(80)),
    `## Buttons
button; at 0,0 80×32; color #1b1f27 | dark = #ffffff
button (2); at – | narrow = 0,40 80×44; color #c22f3d

## Pointer
button:hover; background #eeeeee
`,
  );
  deepEqual(differences(write(taken(80)), taken(80), 0), []);
});

test('what is other is told by where and in which way', () => {
  const kept = write(taken(80));
  deepEqual(differences(kept, taken(84), 0.2), [
    'Buttons › button: at 0,0 84×32, was 0,0 80×32 (en, wide, light and 7 more)',
  ]);
  deepEqual(differences(kept, taken(80, '#eceef2'), 0.2), [
    'Buttons › button: color #eceef2, was #ffffff (dark and 3 more)',
  ]);
  const gone = taken(80).map((all) => all.filter(({ name }) => name !== 'button (2)'));
  deepEqual(differences(kept, gone, 0.2), ['Buttons › button (2): at –, was 0,40 80×44 (narrow and 3 more)']);
  const some = taken(84).map((all, way) => (way === 6 ? all : []));
  deepEqual(differences(kept, some, 0.2), ['Buttons › button: at 0,0 84×32, was 0,0 80×32 (narrow dark)']);
});

test('rounding is no difference', () => {
  equal(isSame('0,0 80×32', '0,0 80.2×32', 0.2), true);
  equal(isSame('0,0 80×32', '0,0 81×32', 0.2), false);
  equal(isSame('0,0 80×32', '0,0 81×32', 1), true);
  equal(isSame('#3b6fe0 11%', '#3b6ee0 11%', 1), true);
  equal(isSame('#3b6fe0', '#3b6ce0', 1), false);
  equal(isSame('#3b6fe0', 'clear', 1), false);
});
