import { expect, test } from 'vitest';
import { openPullWorld } from './pull-world.ts';

test('a pass that the partner throttles reads everybody all the same, and is done only then', async () => {
  const { world, pull, rows, calls } = await openPullWorld('{ candidates: { every: 1h } }', { candidates: 250 });
  const throttled = { kind: 'throttle', on: 'candidates.list', times: 3, retryAfter: 1 } as const;
  await world.control.act('setFaults', { seed: 1, faults: [throttled] });
  expect(await pull('full')).toMatchObject({ state: 'done', counts: { read: 250, created: 250, quarantined: 0 } });
  expect(rows().size).toBe(250);
  expect(await calls('candidates.list')).toBe(3 + 3);
});
