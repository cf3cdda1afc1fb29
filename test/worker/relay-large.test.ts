import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { SignalHire } from '../../src/hire/hire.ts';
import { insertHires } from '../../src/store/hires.ts';
import type { Store } from '../../src/store/open-store.ts';
import { until } from '../harness/world.ts';
import { deliver, freshStore, relayed, relayOver, TENANT_ID } from './relay-over.ts';

const THOUSANDS = Array.from({ length: 2_000 }, (_, n) => n + 1);

async function leasedUntil(store: Store): Promise<number> {
  const { due_at: dueAt } = await store.kysely.selectFrom('inbox').select('due_at').executeTakeFirstOrThrow();
  return Number(dueAt);
}

test.each([
  ['starts', 'candidate.hired', { jobCandidateIds: [1, 2, 3] }],
  ['hints at', 'job.updated', { jobId: 101 }],
])('a delivery that %s so many hires that its lease would end stays with its relay', async (_what, event, data) => {
  const store = await freshStore();
  if (event === 'job.updated')
    for (const jobCandidateId of ['1', '2', '3'])
      await insertHires(store, [{ tenantId: TENANT_ID, jobCandidateId, period: 1, state: 'open', jobId: '101' }]);
  const clock = performance.now.bind(performance);
  let aheadMs = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => clock() + aheadMs);
  onTestFinished(() => void vi.restoreAllMocks());
  const leases: number[] = [];
  const signalHire: SignalHire = async () => {
    leases.push(await leasedUntil(store));
    aheadMs += 11_000;
    await pause(5);
    return true;
  };
  await deliver(store, event, data);
  relayOver(store, { signalHire });
  await relayed(store, 1);
  expect(leases).toHaveLength(3);
  expect(leases).toEqual([...new Set(leases)].toSorted((one, other) => one - other));
});

test('a delivery of thousands of hires keeps the tenant’s next ones waiting a second or two', async () => {
  const store = await freshStore();
  const never = new Promise<boolean>(() => undefined);
  const signalled: string[] = [];
  const signalHire: SignalHire = ({ jobCandidateId }) => {
    signalled.push(jobCandidateId);
    return jobCandidateId === '1' ? never : Promise.resolve(true);
  };
  await deliver(store, 'candidate.hired', { jobCandidateIds: THOUSANDS });
  relayOver(store, { signalHire, closeMs: 20 });
  await until('the first is under way', async () => signalled.length > 0);
  await deliver(store, 'candidate.hired', { jobCandidateIds: [9_001] });
  await deliver(store, 'job.updated', { jobId: 5 });
  await relayed(store, 2);
  expect(signalled).toEqual(['1', '9001']);
});
