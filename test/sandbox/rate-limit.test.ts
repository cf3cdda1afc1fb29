import { expect, test } from 'vitest';
import { parseRateLimit } from '../../src/sandbox/rate-limit.ts';
import { openSandbox } from './open-sandbox.ts';

const OTHER_KEY = 'sk_test_OtherCompany0123456789';

/** How many of `calls` at each instant get in. */
function admitted(limit: string, instants: [at: number, calls: number][]): number[] {
  const rate = parseRateLimit(limit);
  return instants.map(
    ([at, calls]) => Array.from({ length: calls }, () => rate?.enter(1, at).ok).filter((ok) => ok === true).length,
  );
}

test.each([
  [
    'fixed:2',
    [
      [0, 30],
      [9_999, 5],
      [10_000, 30],
    ],
    [20, 0, 20],
  ],
  [
    'sliding:2',
    [
      [5_000, 30],
      [14_999, 5],
      [15_001, 30],
    ],
    [20, 0, 20],
  ],
  [
    'token:2:5',
    [
      [0, 30],
      [1_000, 30],
      [100_000, 30],
    ],
    [5, 2, 5],
  ],
  ['token:3', [[0, 30]], [3]],
  ['concurrency:4', [[0, 30]], [4]],
] as [string, [number, number][], number[]][])('%s lets in what its kind allows', (limit, instants, expected) => {
  expect(admitted(limit, instants)).toEqual(expected);
});

test('a concurrent call makes room when it is answered', () => {
  const limit = parseRateLimit('concurrency:1');
  expect([limit?.enter(1, 0).ok, limit?.enter(1, 0).ok, limit?.enter(2, 0).ok]).toEqual([true, false, true]);
  limit?.leave(1);
  expect(limit?.enter(1, 0).ok).toBe(true);
});

test('over the limit is 429 in the canonical body with Retry-After, per company, and not executed', async () => {
  await using sandbox = await openSandbox({ limit: 'token:1:2', otherKey: OTHER_KEY, clock: 'stepped' });
  const statuses = [];
  for (let call = 0; call < 3; call += 1) statuses.push(await sandbox.api('POST', '/pipelines', { name: 'P' }));
  expect(statuses.map((one) => one.status)).toEqual([200, 200, 429]);
  expect([statuses[2]?.body.error.code, statuses[2]?.headers.get('retry-after')]).toEqual(['RATE_LIMITED', '1']);
  expect((await sandbox.api('GET', '/pipelines', undefined, { key: OTHER_KEY })).status).toBe(200);
  await sandbox.control.act('advanceClock', { ms: 1000 });
  expect((await sandbox.api('GET', '/pipelines')).status).toBe(200);
  expect((await sandbox.control.counts()).effect).toEqual({ pipeline: 2 });
});

test.each([
  'fast:10',
  'token',
  'token:0',
  'token:x',
  'token:1:-1',
  'token:1:2:3',
  'fixed:2:4',
  'sliding:2:4',
  'concurrency:2:4',
])('--limit %s is refused with how to write it', async (limit) => {
  await expect(openSandbox({ limit })).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    message: expect.stringContaining('token:10:20'),
  });
});
