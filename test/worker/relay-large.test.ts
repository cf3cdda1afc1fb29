import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { SignalHire } from '../../src/hire/hire.ts';
import { readHints } from '../../src/store/hints.ts';
import { insertHires } from '../../src/store/hires.ts';
import type { Store } from '../../src/store/open-store.ts';
import { finishBaseline, readTenantState } from '../../src/store/tenant-states.ts';
import { hintRecords } from '../../src/worker/dispatch.ts';
import { until } from '../harness/world.ts';
import { freshStore as storeOf } from '../store/stores.ts';
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

test('an id that no record has stops nothing: the event’s other ids count', async () => {
  const { store } = await storeOf('postgres');
  await readTenantState(store, TENANT_ID);
  await finishBaseline(store, TENANT_ID);
  const odd = ['a\0b', 'x'.repeat(300), '\ud800', '\ud801'];
  await deliver(store, 'candidate.applied', { candidateIds: [...odd, 3], jobCandidateIds: [4] });
  await deliver(store, 'onboarding.candidate.completed', { onboardingCandidateId: odd[0] });
  await deliver(store, 'job.updated', { jobId: odd[1] });
  const { reconciles } = relayOver(store);
  await relayed(store, 3);
  expect(reconciles).toHaveLength(1);
  expect(await readHints(store, TENANT_ID, 'candidates')).toMatchObject([{ recordId: '3' }]);
  expect(await readHints(store, TENANT_ID, 'jobs')).toMatchObject([{ recordId: '*' }]);
});

test('a delivery that the database refuses for its values is left to a person in the end', async () => {
  const { store } = await storeOf('postgres');
  await readTenantState(store, TENANT_ID);
  await finishBaseline(store, TENANT_ID);
  await deliver(store, 'candidate.hired', { jobCandidateIds: [7] });
  const signalHire: SignalHire = async () => {
    await hintRecords(
      { store, runsByItself: () => true, streamHints: { ask: async () => undefined } as never },
      { tenantId: TENANT_ID, stream: 'jobs' },
      new Map([['a\0b', false]]),
    );
    return true;
  };
  relayOver(store, { signalHire });
  const row = await until('it has failed', async () => {
    const one = await store.kysely.selectFrom('inbox').select(['failures', 'last_error']).executeTakeFirstOrThrow();
    return one.failures > 0 ? one : undefined;
  });
  expect(row.last_error).toContain('22021');
});
