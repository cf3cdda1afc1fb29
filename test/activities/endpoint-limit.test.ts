import { expect, test } from 'vitest';
import { viewRateLimits } from '../../src/store/rate-limits.ts';
import { scaled } from '../harness/pace.ts';
import { fleetAtSandbox } from './hire/fleet-at-sandbox.ts';

test('an endpoint that refuses while others go through gets a rate limit of its own', async () => {
  const { apply, deps, sandbox, store } = await fleetAtSandbox({ limited: true });
  await apply('acme');
  const { partner } = await deps.connections.of('acme');
  await sandbox.control.act('setFaults', { faults: [{ kind: 'throttle', on: 'candidates.list', retryAfter: 1 }] });
  const upstreams = async (): Promise<string[]> => (await viewRateLimits(store, ['acme'])).map((view) => view.upstream);
  for (let turn = 0; turn < 40 && (await upstreams()).length < 2; turn += 1) {
    await expect(partner.candidates.list({})).rejects.toMatchObject({ action: 'throttle' });
    for (let other = 0; other < 9; other += 1) await partner.jobs.list({});
  }
  expect(await upstreams()).toEqual(['partner/candidates.list', 'partner']);
  const waitMs = await timed(() => partner.jobs.list({}));
  expect(waitMs).toBeLessThan(scaled(1_000));
});

async function timed(run: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await run();
  return performance.now() - began;
}
