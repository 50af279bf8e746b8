import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INK, WHITE, contrast, fromHex, textOn, toHex, withContrast } from '../src/core/colour.ts';
import { Emitter } from '../src/core/emitter.ts';
import { de } from '../src/core/messages-de.ts';
import { en } from '../src/core/messages-en.ts';
import { resolveLocale } from '../src/core/messages.ts';
import { rank, rankAny } from '../src/core/ranking.ts';
import { effect, flush, scope, signal } from '../src/core/signal.ts';
import { raise, topmost } from '../src/core/stacking.ts';
import { badgeText, checkApp, checkOptions, checkPermission, checkSearchProvider } from '../src/core/validate.ts';

test('effects follow what they read, once per turn, until disposed', async () => {
  const [a, b] = [signal(1), signal(2)];
  const seen: number[] = [];
  const dispose = effect(() => void seen.push(a() + b()));
  a.set(10);
  b.set(20);
  assert.deepEqual(seen, [3]);
  await Promise.resolve();
  assert.deepEqual(seen, [3, 30]);
  dispose();
  a.set(0);
  flush();
  assert.deepEqual(seen, [3, 30]);
});

test('a scope ends what was started inside, inner effects with their outer one', () => {
  const [outer, inner] = [signal(0), signal(0)];
  let runs = 0;
  let cleanups = 0;
  const [, end] = scope(() =>
    effect(() => {
      outer();
      effect(() => {
        inner();
        runs += 1;
        return () => {
          cleanups += 1;
        };
      });
    }),
  );
  outer.set(1);
  flush();
  inner.set(1);
  flush();
  assert.equal(runs, 3, 'the first inner effect was gone');
  end();
  inner.set(2);
  flush();
  assert.deepEqual([runs, cleanups], [3, 3]);
});

test('an effect that throws is reported, and keeps neither others nor later changes from running', () => {
  const source = signal(0);
  const seen: number[] = [];
  effect(() => {
    if (source() === 1) throw new Error('broken');
  });
  effect(() => {
    seen.push(source());
  });
  source.set(1);
  assert.throws(flush, /broken/);
  source.set(2);
  flush();
  assert.deepEqual(seen, [0, 1, 2]);
});

test('a handler that throws is reported and the others still run', () => {
  const reported: unknown[] = [];
  const emitter = new Emitter<{ go: number }>((error) => reported.push(error));
  const seen: number[] = [];
  emitter.on('go', () => {
    throw new Error('broken');
  });
  const off = emitter.on('go', (value) => seen.push(value));
  emitter.emit('go', 1);
  off();
  emitter.emit('go', 2);
  assert.deepEqual([seen, reported.length], [[1], 2]);
});

test('every system colour keeps readable contrast', () => {
  const surfaces = [
    { r: 250, g: 250, b: 252 },
    { r: 32, g: 34, b: 41 },
  ];
  const steps = [0, 51, 102, 153, 204, 255];
  for (const r of steps) {
    for (const g of steps) {
      for (const b of steps) {
        const colour = { r, g, b };
        assert.ok(contrast(textOn(colour), colour) >= 4.5, `text on ${toHex(colour)}`);
        for (const surface of surfaces) assert.ok(contrast(withContrast(colour, surface, 4.5), surface) >= 4.5);
        assert.ok(contrast(withContrast(colour, WHITE, 3), WHITE) >= 3);
      }
    }
  }
});

test('colours are read as browsers write them', () => {
  for (const text of ['#3b6fe0', '#3B6FE0']) assert.equal(toHex(fromHex(text) ?? INK), '#3b6fe0');
  for (const text of ['', 'teal', '#12', '#3b6fe', '#3b6fe0ff', '#gggggg'])
    assert.equal(fromHex(text), undefined, text);
});

test('better matches rank higher, accents do not matter', () => {
  const order = ['Notes', 'Notes on travel', 'My notes', 'Keynotes', 'No teas'].map((text) => rank('notes', text));
  assert.deepEqual(
    [...order].sort((a, b) => b - a),
    order,
  );
  assert.equal(rank('muller', 'Müller'), 100);
  assert.equal(rank('xyz', 'Notes'), 0);
  assert.ok(rank('op im', 'Open file import') > rank('ofi', 'Open file import'));
  assert.ok(rankAny('dark', ['Appearance', 'dark mode']) > 0);
});

test('stacking: raised on top, the next usable one follows', () => {
  assert.deepEqual(raise(['a', 'b', 'c'], 'a'), ['b', 'c', 'a']);
  assert.equal(
    topmost(['a', 'b', 'c'], (id) => id !== 'c'),
    'b',
  );
});

test('languages: exact, then by language; both shipped ones are complete', () => {
  assert.equal(resolveLocale(['de-AT', 'en'], ['en', 'de']), 'de');
  assert.equal(resolveLocale(['fr'], ['en', 'de']), undefined);
  assert.deepEqual(Object.keys(de).sort(), Object.keys(en).sort());
  const names = (text: string) => [...text.matchAll(/\{(\w+)\}/g)].map((match) => match[1]).sort();
  for (const key of Object.keys(en) as (keyof typeof en)[]) assert.deepEqual(names(de[key]), names(en[key]), key);
});

test('wrong input says what is wrong and what to write', () => {
  const app = { id: 'a', title: 'A', icon: 'app.svg' };
  const table: [() => void, RegExp][] = [
    [() => checkOptions({ locle: 'de' }), /no field `locle`; known are assetBase, locale,/],
    [() => checkOptions({ webLinks: 'yes' }), /`webLinks` of the options must be true or false, not the string `yes`/],
    [() => checkOptions({ defaults: { taskbarPosition: 'middle' } }), /must be one of bottom, top, left, right/],
    [() => checkOptions({ brand: { titel: '' } }), /brand has no field `titel`; known are title, logo,/],
    [
      () => checkOptions({ wallpapers: [{ id: 'w', title: 'W' }] }),
      /wallpaper `w` needs either `image` or `background`/,
    ],
    [() => checkApp({ ...app, render: () => '', url: '/' }), /exactly one of .* but has `render` and `url`/],
    [() => checkApp(app), /but has none/],
    [() => checkApp({ title: 'A', icon: 'x', url: '/' }), /the app has no `id`; add one/],
    [() => checkApp({ ...app, url: '/', exportName: 'x' }), /only goes with `entry`/],
    [() => checkApp({ ...app, url: '/', width: -1 }), /`width` of app `a` must be a number of pixels above 0/],
    [() => checkApp({ ...app, url: '/', menu: [{ id: 'm', titel: 'x' }] }), /menu entry 0 has no field `titel`/],
    [() => checkSearchProvider({ id: 'x', title: 'X' }), /has no `search`/],
    [() => badgeText({}), /a badge is a number or a short string/],
  ];
  for (const [attempt, message] of table) assert.throws(attempt, message);
});

test('badges: counts end at 99+, marks are short, nothing and 0 remove', () => {
  assert.deepEqual(
    [1, 99, 100, 'new', 'important', 0, '', undefined, null].map((value) => badgeText(value)),
    ['1', '99', '99+', 'new', 'impo', undefined, undefined, undefined, undefined],
  );
});

test('options and permissions that sign-in will use are checked already', () => {
  const identityStore = {
    listUsers: () => [],
    saveUser: () => undefined,
    deleteUser: () => undefined,
    listRoles: () => [],
    saveRole: () => undefined,
    deleteRole: () => undefined,
    listPermissions: () => [],
  };
  checkOptions({ loginHint: 'Use your work account.', requireLogin: false, identityStore });
  assert.throws(() => checkOptions({ requireLogin: 'no' }), /`requireLogin` of the options must be/);
  checkPermission({ id: 'Orders.Create', title: 'Create orders', group: 'Orders', description: 'Places them.' });
  assert.throws(() => checkPermission({ title: 'Nameless' }), /the permission has no `id`/);
  assert.throws(() => checkPermission({ id: 7 }), /`id` of the permission must be/);
});
