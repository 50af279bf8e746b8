import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MANAGE_IDENTITY, resolveAccess } from '../src/access.ts';
import { claimsOf, faultOf, rolesAt } from '../src/auth/claims.ts';
import { expiryOf, samePerson } from '../src/auth/person.ts';
import { MAX_PARTS, readManifest } from '../src/core/manifest.ts';
import { checkAuthProvider } from '../src/core/validate.ts';
import { httpIdentityStore } from '../src/identity.ts';

const jwt = (claims: object) => `x.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.x`;

test('claims of a token, also beyond ASCII; none of an opaque one', () => {
  assert.deepEqual(claimsOf(jwt({ name: 'Zoë Ñandú' })), { name: 'Zoë Ñandú' });
  for (const token of [undefined, '', 'opaque', 'a.b.c', jwt([1])]) assert.deepEqual(claimsOf(token), {});
});

test('roles by path: arrays, names, keys, names with dots, and nothing inherited', () => {
  const claims = {
    realm_access: { roles: ['a', 'b', 5] },
    'https://example.com/roles': ['c'],
    resource_access: { 'my.client': { roles: ['d'] } },
    one: 'e',
    keyed: { f: {}, g: {} },
  };
  const paths = ['realm_access.roles', 'https://example.com/roles', 'resource_access.my.client.roles', 'one', 'keyed'];
  assert.deepEqual(rolesAt(claims, paths), ['a', 'b', 'c', 'd', 'e', 'f', 'g']);
  assert.deepEqual(rolesAt(claims, ['constructor.name', 'realm_access.none', 'one.length']), []);
});

test('an ID token is checked claim by claim, with five minutes for the clock', () => {
  const now = 1_800_000_000;
  const good = { iss: 'https://id', aud: 'me', sub: 'u', nonce: 'n', exp: now + 60, iat: now };
  const fault = (change: object, more = {}) =>
    faultOf({ ...good, ...change }, { issuer: 'https://id', clientId: 'me', nonce: 'n', now, ...more });
  assert.equal(fault({}), undefined);
  assert.equal(fault({ aud: ['other', 'me'], azp: 'me' }), undefined);
  assert.equal(fault({ exp: now - 290 }), undefined);
  assert.equal(fault({ iss: 'https://evil' }), 'iss');
  assert.equal(fault({ aud: 'other' }), 'aud');
  assert.equal(fault({ aud: ['other', 'me'], azp: 'other' }), 'azp');
  assert.equal(fault({ nonce: 'x' }), 'nonce');
  assert.equal(fault({ nonce: undefined }), 'nonce');
  assert.equal(fault({ sub: undefined }), 'sub');
  assert.equal(fault({}, { subject: 'someone else' }), 'sub');
  assert.equal(fault({ exp: now - 310 }), 'exp');
  assert.equal(fault({ exp: undefined }), 'exp');
  assert.equal(fault({ iat: now + 310 }), 'iat');
});

test('whose a session is, and until when', () => {
  const of = (id: string) => ({ identity: { id, displayName: id } });
  assert.equal(samePerson(of('a'), of('a')), true);
  assert.equal(samePerson(of('a'), of('b')), false);
  assert.equal(samePerson({ token: 'x' }, { token: 'x' }), false, 'nobody can tell');
  assert.equal(expiryOf({ expiresAt: '2026-11-23T00:00:00Z' }), Date.UTC(2026, 10, 23));
  assert.equal(expiryOf({ expiresAt: 5 }), 5);
  for (const expiresAt of ['soon', Number.NaN]) assert.equal(expiryOf({ expiresAt }), undefined);
});

test('access that isn’t lists of strings says so', async () => {
  const accessProvider = () => ({ roles: 'admin' }) as never;
  await assert.rejects(
    resolveAccess({}, { accessProvider }),
    /`roles` .* must be an array of strings, not the string `admin`/,
  );
  assert.deepEqual(await resolveAccess({ permissions: ['a', 'a'] }, {}), { roles: [], permissions: ['a'] });
  assert.equal(MANAGE_IDENTITY, 'shell.identity.manage');
});

test('a provider is checked', () => {
  const login = () => undefined;
  checkAuthProvider({ id: 'a', title: 'A', login });
  assert.throws(() => checkAuthProvider({ id: 'a', title: 'A' }), /no `login`/);
  assert.throws(
    () => checkAuthProvider({ id: 'a', title: 'A', login, feilds: [] }),
    /no field `feilds`; known are id, title, fields,/,
  );
  assert.throws(
    () => checkAuthProvider({ id: 'a', title: 'A', login, fields: [{ nam: 'x' }] }),
    /no field `nam`; known are name, label, type/,
  );
});

test('httpIdentityStore: its paths and bodies; an answer that is no list', async () => {
  const sent: unknown[] = [];
  const store = httpIdentityStore(async (path, init) => {
    sent.push([init?.method ?? 'GET', path, ...(init?.body ? [JSON.parse(String(init.body))] : [])]);
    return path.endsWith('permissions') ? { oops: true } : [];
  });
  const role = { id: 'a/b', title: 'A', permissions: [] };
  await store.listUsers();
  await store.saveRole(role);
  await store.deleteUser('ü');
  assert.deepEqual(sent, [
    ['GET', '/identity/users'],
    ['PUT', '/identity/roles/a%2Fb', role],
    ['DELETE', '/identity/users/%C3%BC'],
  ]);
  await assert.rejects(async () => store.listPermissions(), /no list to `\/identity\/permissions`/);
});

test('a manifest has an end', () => {
  const permissions = Array.from({ length: MAX_PARTS + 5 }, (_none, index) => ({ id: `p${index}` }));
  const parts = readManifest({ permissions }, String, () => false);
  assert.equal(parts.permissions.length, MAX_PARTS);
  assert.match(parts.problems.join(), /of 1005 permissions only the first 1000/);
  assert.throws(() => readManifest([], String, () => false), /must be an object, not an array/);
});

test('what people see of a manifest ends after 300 characters', () => {
  const long = 'x'.repeat(100_000);
  const manifest = { apps: [{ id: 'a', title: long, group: long, icon: 'app.svg', url: '/page' }] };
  const [app] = readManifest(manifest, String, () => false).apps;
  assert.deepEqual([app?.title, app?.group], ['x'.repeat(300), 'x'.repeat(300)]);
});
