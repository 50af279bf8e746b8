import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readTable } from '../system/inline-table.ts';

test('a table on one line is read with what stands in it', () => {
  const written =
    '{ partner = { Authority = "https://a.example/{x}, \\"y\\"", Audience = (none), Trusts = false, Claims = ["a, b", "c}"], Roles = {} }, "other one" = {}, last = 3 }';
  assert.deepEqual(readTable(written), {
    partner: {
      Authority: 'https://a.example/{x}, "y"',
      Audience: '(none)',
      Trusts: 'false',
      Claims: '["a, b", "c}"]',
      Roles: {},
    },
    'other one': {},
    last: '3',
  });
});

test('what is no table is none', () => {
  assert.equal(readTable('"text"'), undefined);
  assert.equal(readTable('{ a = "\\q" }'), undefined);
  assert.deepEqual(readTable('{}'), {});
});
