import assert from 'node:assert/strict';
import { test } from 'node:test';
import { en } from '../src/core/messages-en.ts';
import { KEYS, privateNames, shipped } from '../scripts/squeeze.ts';

test('no name gets shorter that a page, a store, a server or a text knows', () => {
  const names = privateNames();
  const known = [
    ...['requiredPermissions', 'setAppearance', 'onIntent', 'providerTitle', 'leaving', 'problem', 'hasInstance'],
    ...['webtops', 'activeWebtop', 'placement', 'minimized', 'taskbarAutoHide', 'pins', 'state', 'link', 'cell'],
    ...['token_endpoint', 'expiresAt', 'kept', 'person', 'displayName', 'integrity', 'type', 'intent'],
    ...['createHTML', 'connectedCallback', 'readonly', 'maxlength', 'addEventListener'],
    ...Object.values(en).flatMap((text) => [...text.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)),
  ];
  assert.deepEqual(
    known.filter((name) => names.test(name)),
    [],
  );
  assert.ok(names.test('usableApp') && names.test('activeId'));
});

test('texts are shipped as lists in which the code counts', () => {
  const path = (file: string) => new URL(`../src/${file}`, import.meta.url).pathname;
  const [first] = KEYS.map((key) => en[key]);
  assert.ok(shipped(path('core/messages-en.ts')).includes(`"${first}\\n`));
  const code = shipped(path('ui/toast.ts'));
  assert.match(code, /t\(\d+\)/);
  assert.doesNotMatch(code, /\bt\('/);
});
