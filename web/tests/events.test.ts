import assert from 'node:assert/strict';
import { test } from 'node:test';
import { choose } from '../src/client/live.ts';
import { EventReader } from '../src/core/events.ts';

test('events are read however the stream is cut', () => {
  const stream = 'retry: 2000\nid: 7\n\n: silence\n\nid: 8\nevent: changed\ndata: {"set":\ndata: "Products"}\n\n';
  for (let size = 1; size < stream.length; size += 1) {
    const reader = new EventReader();
    const found = [];
    for (let at = 0; at < stream.length; at += size) found.push(...reader.read(stream.slice(at, at + size)));
    assert.deepEqual(found, [{ type: 'changed', data: '{"set":\n"Products"}' }], `pieces of ${size}`);
    assert.equal(reader.lastId, '8');
  }
});

test('an event without an end is given up', () => {
  assert.throws(() => new EventReader().read('data: '.padEnd(1_000_010, 'x')), RangeError);
  const reader = new EventReader();
  assert.throws(() => {
    for (;;) reader.read(`data: ${'x'.repeat(10_000)}\n`);
  }, RangeError);
});

test('a stream asks for no more than the server takes', () => {
  const topics = Array.from({ length: 80 }, (_, index) => (index < 20 ? `job:${index}` : `set:S${index}`));
  const chosen = choose(topics);
  assert.equal(chosen.length, 64);
  assert.equal(chosen.filter((topic) => topic.startsWith('job:')).length, 16);
  assert.ok(chosen.includes('set:S79') && chosen.includes('job:19'));
});
