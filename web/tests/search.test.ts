/** The search over everything: what is asked for, and what the server's lines say. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canSearch, LineReader, readLine } from '../src/core/search.ts';

const HIT =
  '{"type":"hit","hit":{"provider":"Products","set":"Products","key":"7","address":"Products(7)","title":"Hex bolt","titleMatches":[[4,4]],' +
  '"excerpt":{"property":"description","text":"… galvanised bolt","matches":[[13,4]]},"match":"words"}}';

test('lines are read however the stream is cut', () => {
  const stream = `${HIT}\n\n{"type":"end"}\n`;
  for (let size = 1; size < stream.length; size += 1) {
    const reader = new LineReader();
    const found = [];
    for (let at = 0; at < stream.length; at += size) found.push(...reader.read(stream.slice(at, at + size)));
    assert.deepEqual(found, [HIT, '{"type":"end"}'], `pieces of ${size}`);
  }
});

test('a line without an end is given up', () => {
  assert.throws(() => new LineReader().read('x'.repeat(100_001)), RangeError);
});

test('a line is a hit, the end of a set, or the end', () => {
  assert.deepEqual(readLine(HIT), {
    type: 'hit',
    found: { set: 'Products', key: '7', title: 'Hex bolt', excerpt: '… galvanised bolt', score: 85 },
  });
  const done = '{"type":"provider","provider":"Products","set":"Products","status":"done","hits":5,"more":true}';
  assert.deepEqual(readLine(done), { type: 'done', set: 'Products', hasMore: true });
  assert.deepEqual(readLine('{"type":"end"}'), { type: 'end' });
  assert.equal(readLine('{"type":"begin","query":"bolt"}'), undefined);
});

test('what is no record has its address for a key', () => {
  const page =
    '{"type":"hit","hit":{"provider":"pages","set":null,"key":null,"address":"/help","title":"Help","excerpt":null}}';
  assert.deepEqual(readLine(page), {
    type: 'hit',
    found: { set: undefined, key: '/help', title: 'Help', excerpt: undefined, score: 0 },
  });
});

test('the server is asked for what it would look for', () => {
  assert.deepEqual(['bolt', 'Größe 8', '"$%&', '', 'a '.repeat(11), 'x'.repeat(201)].map(canSearch), [
    true,
    true,
    false,
    false,
    false,
    false,
  ]);
});
