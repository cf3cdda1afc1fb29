import { expect, test } from 'vitest';
import { createKeyLatch } from '../../activities/connections.ts';
import type { CallReport } from '../../src/partner/client/types.ts';
import { unlimited } from '../../src/rate-limit/rate-limit.ts';

const report = (status: number) => ({ status }) as CallReport;

test('after one 401 nothing more is asked with the key, not even what waited for a permit', async () => {
  const permit = Promise.withResolvers<void>();
  let answered = 0;
  const latch = createKeyLatch('acme');
  const keeper = latch.guard({ ...unlimited, acquire: () => permit.promise, answered: () => (answered += 1) });
  const waiting = keeper.acquire('live').catch((error: unknown) => error);
  latch.note(report(401));
  permit.resolve();
  const refusal = { code: 'UNAUTHORIZED', action: 'reauthorize' };
  expect(await waiting).toMatchObject(refusal);
  await expect(keeper.acquire('bulk')).rejects.toMatchObject(refusal);
  // The permit that was given is answered for.
  expect(answered).toBe(1);
});

test('other refusals close nothing', async () => {
  const latch = createKeyLatch('acme');
  for (const status of [200, 403, 404, 429, 500]) latch.note(report(status));
  await expect(latch.guard(unlimited).acquire('live')).resolves.toBeUndefined();
});
