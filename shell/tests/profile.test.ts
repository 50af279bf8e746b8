import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mergeProfiles } from '../src/core/merge.ts';
import {
  MOST_PICTURES,
  PICTURE_LENGTH,
  UnreadableProfile,
  emptyProfile,
  fitting,
  migrate,
  readProfile,
  type Profile,
  type Shortcut,
} from '../src/core/profile.ts';

const shortcut = (id: string, cell: number, title?: string): Shortcut => ({
  kind: 'shortcut',
  id,
  cell,
  appId: 'app',
  ...(title ? { title } : {}),
});
const profile = (...items: Profile['webtops'][number]['items']): Profile => ({
  ...emptyProfile(),
  activeWebtop: 'w',
  webtops: [{ id: 'w', items }],
});
const ids = (one: Profile) => one.webtops.flatMap((webtop) => webtop.items.map((item) => item.id)).sort();

test('a profile survives a round trip', () => {
  const full: Profile = {
    version: 1,
    webtops: [
      {
        id: 'w',
        title: 'Mine',
        items: [shortcut('a', 3, 'A'), { kind: 'folder', id: 'f', cell: 4, title: 'F', items: [shortcut('b', 13)] }],
      },
      { id: 'v', items: [] },
    ],
    activeWebtop: 'v',
    settings: {
      theme: 'dark',
      taskbarPosition: 'left',
      taskbarAutoHide: true,
      wallpaper: 'dune',
      systemColor: '#123456',
      effect: 'snow',
      locale: 'de',
      pictures: [{ id: 'p', image: 'data:image/jpeg;base64,AA' }],
    },
    windows: [
      {
        id: 'x',
        appId: 'app',
        webtop: 'v',
        bounds: { x: 1, y: 2, width: 300, height: 200 },
        placement: 'topLeft',
        minimized: true,
        state: { deep: [1] },
        title: 'T',
        link: 'a',
      },
    ],
  };
  assert.deepEqual(readProfile(JSON.parse(JSON.stringify(full))), full);
});

test('what is no profile, or newer than this release, is unreadable', () => {
  for (const broken of [
    null,
    'text',
    42,
    [],
    {},
    { version: 0 },
    { version: 2, webtops: [{}] },
    { version: 1 },
    { version: 1, webtops: [] },
  ]) {
    assert.throws(() => readProfile(broken), UnreadableProfile, JSON.stringify(broken));
  }
});

test('single wrong entries are dropped, shared cells part', () => {
  const read = readProfile({
    version: 1,
    webtops: [{ id: 'w', items: [shortcut('a', 2), shortcut('b', 2), { id: 'nothing' }, shortcut('a', 5), 7] }],
    activeWebtop: 'gone',
    windows: [
      { id: 'x' },
      { id: 'y', appId: 'app', webtop: 'gone', bounds: { x: 0, y: 0, width: Number.NaN, height: 1 } },
    ],
    settings: { theme: 'pink', taskbarPosition: 3 },
  });
  assert.deepEqual(
    read.webtops[0]?.items.map((item) => [item.id, item.cell]),
    [
      ['a', 2],
      ['b', 0],
    ],
  );
  assert.equal(read.activeWebtop, 'w');
  assert.deepEqual([read.windows, read.settings], [[], {}]);
});

test('migrations run one version after the other', () => {
  const steps = {
    1: (old: Record<string, unknown>) => ({ ...old, one: true }),
    2: (old: Record<string, unknown>) => ({ ...old, two: old.one === true }),
  };
  assert.deepEqual(migrate({ version: 1 }, steps, 3), { version: 3, one: true, two: true });
  assert.throws(() => migrate({ version: 1 }, {}, 2), /no migration leads from version 1/);
});

test('merging keeps additions, removals and changes of both sides', () => {
  const base = profile(shortcut('a', 0), shortcut('b', 1), shortcut('c', 2));
  const mine = profile(shortcut('b', 1, 'Mine'), shortcut('c', 2), shortcut('x', 3));
  const theirs = profile(shortcut('a', 0), shortcut('b', 1), shortcut('c', 2, 'Theirs'), shortcut('y', 3));
  const merged = mergeProfiles(base, mine, theirs);
  assert.deepEqual(ids(merged), ['b', 'c', 'x', 'y']);
  const titles = Object.fromEntries(merged.webtops[0]?.items.map((item) => [item.id, item.title]) ?? []);
  assert.deepEqual([titles.b, titles.c], ['Mine', 'Theirs']);
  assert.equal(new Set(merged.webtops[0]?.items.map((item) => item.cell)).size, 4, 'nobody shares a cell');
});

test('a change wins over a removal', () => {
  const base = profile(shortcut('a', 0));
  assert.deepEqual(ids(mergeProfiles(base, profile(), profile(shortcut('a', 0, 'Changed')))), ['a']);
  assert.deepEqual(ids(mergeProfiles(base, profile(shortcut('a', 4)), profile())), ['a']);
  assert.deepEqual(ids(mergeProfiles(base, profile(), profile(shortcut('a', 0)))), []);
});

test('moving into a folder on one side and renaming on the other loses nothing', () => {
  const folder = (items: Shortcut[]) => ({ kind: 'folder' as const, id: 'f', cell: 5, title: 'F', items });
  const base = profile(shortcut('a', 0), folder([]));
  const mine = profile(folder([shortcut('a', 0)]));
  const theirs = profile(shortcut('a', 0), { ...folder([]), title: 'Renamed' });
  const merged = mergeProfiles(base, mine, theirs).webtops[0]?.items[0];
  assert.equal(merged?.kind, 'folder');
  assert.deepEqual(merged?.kind === 'folder' && [merged.title, merged.items.map((item) => item.id)], [
    'Renamed',
    ['a'],
  ]);
});

test('the items of a folder deleted elsewhere are kept', () => {
  const base = profile({ kind: 'folder', id: 'f', cell: 0, title: 'F', items: [shortcut('a', 0)] });
  const mine = profile({ kind: 'folder', id: 'f', cell: 0, title: 'F', items: [shortcut('a', 0), shortcut('b', 1)] });
  assert.deepEqual(ids(mergeProfiles(base, mine, profile())), ['b']);
});

test('settings and windows merge one by one', () => {
  const base = { ...profile(), settings: { wallpaper: 'fjord', effect: 'snow' } };
  const merged = mergeProfiles(
    base,
    { ...base, settings: { wallpaper: 'dune', effect: 'snow' } },
    { ...base, settings: { wallpaper: 'fjord', effect: 'warp' } },
  );
  assert.deepEqual(merged.settings, { wallpaper: 'dune', effect: 'warp' });
});

test('own pictures: only pictures, a few, and no more than there is room for', () => {
  const picture = (id: string, length = 30) => ({ id, image: 'data:image/jpeg;base64,'.padEnd(length, 'A') });
  const stored = [
    picture('a'),
    { id: 'text', image: 'data:text/html,x' },
    { id: 'address', image: 'https://elsewhere.example/x.png' },
    { id: '', image: picture('b').image },
    null,
    ...['c', 'd', 'e', 'f', 'g'].map((id) => picture(id)),
  ];
  const read = readProfile({ ...emptyProfile(), settings: { pictures: stored } });
  assert.deepEqual(
    read.settings.pictures?.map(({ id }) => id),
    ['a', 'c', 'd', 'e'],
  );
  const large = [1, 2, 3, 4].map((id) => picture(String(id), PICTURE_LENGTH));
  assert.equal(fitting(large).length, MOST_PICTURES, 'four of the largest fit');
  assert.deepEqual(fitting(large, 1), large.slice(0, 1), 'a server’s profile keeps the latest');
  assert.deepEqual(fitting([picture('huge', 5 * PICTURE_LENGTH), picture('small')]), [], 'none longer than all may be');
});
