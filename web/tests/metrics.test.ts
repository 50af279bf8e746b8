import { deepEqual, equal } from 'node:assert/strict';
import { test } from 'node:test';
import { readMetrics, sumOf } from '../src/core/metrics.ts';

test('measurements are read with their labels', () => {
  const samples = readMetrics(
    '# HELP svc_jobs Jobs.\nsvc_jobs{kind="a\\"b",state="dead"} 2\nsvc_jobs{kind="c",state="running"} 3\nsvc_up 1.5e3 17\nbad line\n# EOF\n',
  );
  deepEqual(samples[0], { name: 'svc_jobs', labels: { kind: 'a"b', state: 'dead' }, value: 2 });
  equal(samples.length, 3);
  equal(sumOf(samples, 'svc_jobs'), 5);
  equal(
    sumOf(samples, 'svc_jobs', ({ state }) => state === 'dead'),
    2,
  );
  equal(sumOf(samples, 'svc_up'), 1500);
  equal(sumOf(samples, 'svc_none'), undefined);
});
