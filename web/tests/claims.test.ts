/** What decides which records somebody sees, as people write it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readClaims, writeClaims } from '../system/claims.ts';

test('claims are a value a line, and read as they are written', () => {
  const claims = { regions: ['north', 'south, by the sea'], teams: [] };
  const written = 'regions = north\nregions = south, by the sea\nteams =';
  assert.equal(writeClaims(claims), written);
  assert.deepEqual(readClaims(written), { claims });
});

test('what people write a little otherwise is understood, what has no name is not', () => {
  assert.deepEqual(readClaims('\n regions=north \nregions = north\n\nrule = a=b'), {
    claims: { regions: ['north'], rule: ['a=b'] },
  });
  assert.deepEqual(readClaims(''), { claims: {} });
  assert.deepEqual(readClaims('regions = north\nsouth'), { wrong: 'south' });
  assert.deepEqual(readClaims('= north'), { wrong: '= north' });
});
