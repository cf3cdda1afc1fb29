import { setTimeout as pause } from 'node:timers/promises';
import type { KyselyPlugin } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { endHire } from '../../src/store/hire-states.ts';
import { insertHires, unmadeHiresOf, updateHire } from '../../src/store/hires.ts';
import type { Store } from '../../src/store/open-store.ts';
import { markPerson } from '../../src/store/person-marks.ts';
import {
  finishBaseline,
  pauseTenant,
  readTenantState,
  resumeTenant,
  startBaseline,
} from '../../src/store/tenant-states.ts';
import { outageReason, type RelayOptions } from '../../src/worker/relay.ts';
import { scaled, unlessStalled } from '../harness/pace.ts';
import { until } from '../harness/world.ts';
import { sqliteStore } from '../store/stores.ts';
import { deliver, freshStore, relayed, relayOver, TENANT_ID } from './relay-over.ts';

async function openHire(store: Store, jobCandidateId: string, enrolment: string): Promise<void> {
  const key = { tenantId: TENANT_ID, jobCandidateId, period: 1 };
  await insertHires(store, [{ ...key, state: 'open' }]);
  await updateHire(store, key, { onboarding_candidate_id: enrolment });
}

test('an event about the enrolment of an open hire hints that hire and nothing else', async () => {
  const store = await freshStore();
  await openHire(store, '7', 'enrolment-7');
  const { hinted, reconciles } = relayOver(store);
  await deliver(store, 'onboarding.candidate.completed', { onboardingCandidateId: 'enrolment-7' });
  await relayed(store, 1);
  expect({ hinted, reconciles }).toEqual({ hinted: ['7 onboarding'], reconciles: [] });
});

test('an event about the enrolment of a finished hire hints nobody and asks for no reconcile', async () => {
  const store = await freshStore();
  await openHire(store, '7', 'enrolment-7');
  await endHire(store, { tenantId: TENANT_ID, jobCandidateId: '7', period: 1 }, 'done');
  const { relay, hinted, reconciles } = relayOver(store);
  await deliver(store, 'onboarding.candidate.completed', { onboardingCandidateId: 'enrolment-7' });
  await relayed(store, 1);
  await relay.close();
  expect({ hinted, reconciles }).toEqual({ hinted: [], reconciles: [] });
});

test('an event is about a hire after go-live if it came before the baseline was complete', async () => {
  const store = await sqliteStore();
  const adopted: Record<string, boolean> = {};
  relayOver(store, {
    signalHire: async ({ jobCandidateId }, _about, { adopt = false }) => {
      adopted[jobCandidateId] = adopt;
      return true;
    },
  });
  const hire = (jobCandidateId: string) => deliver(store, 'candidate.hired', { jobCandidateIds: [jobCandidateId] });
  await readTenantState(store, TENANT_ID);
  await hire('before');
  await hire('unseen');
  await hire('cancelled');
  await pause(5);
  await startBaseline(store, TENANT_ID);
  await hire('meanwhile');
  const key = { tenantId: TENANT_ID, period: 1 };
  await insertHires(store, [
    ...['before', 'meanwhile', 'after'].map((jobCandidateId) => ({
      ...key,
      jobCandidateId,
      state: 'before-go-live' as const,
    })),
    { ...key, jobCandidateId: 'cancelled', state: 'open' },
  ]);
  // As somebody answered, before the delivery was replayed.
  await endHire(store, { ...key, jobCandidateId: 'cancelled' }, 'cancelled');
  await finishBaseline(store, TENANT_ID);
  await pause(5);
  await hire('after');
  await relayed(store, 5);
  expect(adopted).toEqual({ before: true, unseen: false, cancelled: false, meanwhile: true, after: false });
});

test('nobody who was erased is started, whoever else the event names', async () => {
  const store = await freshStore();
  const erased = { tenantId: TENANT_ID, mark: 'erased', by: 'ann', about: 'e' } as const;
  await markPerson(store, erased, [{ kind: 'job-candidate', id: '8' }]);
  const { hinted } = relayOver(store);
  await deliver(store, 'candidate.hired', { jobCandidateIds: ['7', '8'] });
  await relayed(store, 1);
  expect(hinted).toEqual(['7 person']);
});

test('an edited job hints the hires of that job that have no employee yet, and no other', async () => {
  const store = await freshStore();
  const key = (jobCandidateId: string) => ({ tenantId: TENANT_ID, jobCandidateId, period: 1 });
  for (const [id, jobId] of ['101', '101', '102', '101'].entries())
    await insertHires(store, [{ ...key(String(id)), state: 'open', jobId }]);
  await store.kysely.updateTable('hires').set({ employee_id: '7' }).where('job_candidate_id', '=', '1').execute();
  await endHire(store, key('3'), 'done');
  const { hinted } = relayOver(store);
  await deliver(store, 'job.updated', { jobId: 101 });
  await relayed(store, 1);
  expect(hinted).toEqual(['0 person']);
});

test('more jobs or enrolments than a statement takes lead to the hires of each', async () => {
  const store = await freshStore();
  const jobIds = Array.from({ length: 1_201 }, (_, n) => String(n + 1));
  const last = jobIds.length - 1;
  for (const n of [0, 600, last]) {
    const key = { tenantId: TENANT_ID, jobCandidateId: `of-${n}`, period: 1 };
    await insertHires(store, [{ ...key, state: 'open', jobId: jobIds[n] ?? '' }]);
    await updateHire(store, key, { onboarding_candidate_id: `enrolment-${n}` });
  }
  expect((await unmadeHiresOf(store, TENANT_ID, 'job_id', jobIds)).map((hire) => hire.job_id)).toEqual([
    '1',
    '601',
    '1201',
  ]);
  const { hinted } = relayOver(store);
  const onboardingCandidateIds = jobIds.map((_, n) => `enrolment-${n}`);
  await deliver(store, 'onboarding.candidate.completed', { onboardingCandidateIds });
  await relayed(store, 1);
  expect(hinted).toEqual(['of-0 onboarding', 'of-600 onboarding', `of-${last} onboarding`]);
});

test(
  'events without a known id ask for one reconcile, and one more when the last came within the gap',
  unlessStalled,
  async () => {
    const store = await freshStore();
    // All are to be relayed within one gap.
    const gapMs = scaled(1_000);
    const { relay, reconciles } = relayOver(store, { gapMs });
    await deliver(store, 'onboarding.candidate.status_changed', { first: true });
    await relayed(store, 1);
    for (let n = 0; n < 20; n += 1) await deliver(store, 'onboarding.candidate.status_changed', { n });
    await relayed(store, 21);
    await until('the reconcile owed', async () => reconciles.length === 2);
    await pause(gapMs + 50);
    await relay.close();
    expect(reconciles).toHaveLength(2);
    expect((reconciles[1] ?? 0) - (reconciles[0] ?? 0)).toBeGreaterThanOrEqual(gapMs - 1);
  },
);

test.each(['candidate.hired', 'candidate.stage_changed', 'candidate.removed_from_job'])(
  'an event %s that names nobody asks for a reconcile, because somebody did move',
  async (event) => {
    const store = await freshStore();
    await deliver(store, event, { jobCandidateIds: [{ id: 7 }] });
    const { hinted, reconciles } = relayOver(store);
    await relayed(store, 1);
    expect(hinted).toEqual([]);
    expect(reconciles).toHaveLength(1);
  },
);

test('somebody added to a hiring stage is hired at once, and somebody added to another stage is not', async () => {
  const store = await freshStore();
  for (const [id, stage] of [
    [7, { stageId: 10 }],
    [8, { stageId: 11 }],
    [9, {}],
  ] as const)
    await deliver(store, 'candidate.added_to_job', { jobId: 1, ...stage, jobCandidateIds: [id], count: 1 });
  const isHiringStage = async (_tenant: string, stageId: string) => stageId === '10';
  const { hinted, reconciles } = relayOver(store, { isHiringStage });
  await relayed(store, 3);
  expect({ hinted, reconciles }).toEqual({ hinted: ['7 person'], reconciles: [] });
});

test('a reconcile still owed is asked for when the relay ends, and only then its deliveries are relayed', async () => {
  const store = await freshStore();
  const { relay, hinted, reconciles } = relayOver(store, { gapMs: 60_000 });
  await deliver(store, 'onboarding.candidate.status_changed', { n: 0 });
  await relayed(store, 1);
  // More than a tenant has places: those that wait for their reconcile keep none.
  for (let n = 1; n <= 20; n += 1) await deliver(store, 'onboarding.candidate.status_changed', { n });
  await deliver(store, 'candidate.hired', { jobCandidateIds: [7] });
  await relayed(store, 2);
  expect({ hinted, reconciles: reconciles.length }).toEqual({ hinted: ['7 person'], reconciles: 1 });
  await relay.close();
  await relayed(store, 22);
  expect(reconciles).toHaveLength(2);
});

test.each([
  ['a reconcile', 'onboarding.candidate.status_changed'],
  ['a stream', 'job.created'],
])('while Temporal is away, no delivery that needs %s counts as relayed', async (_what, event) => {
  const store = await freshStore();
  const temporal = { away: true, asked: 0 };
  const request = async (): Promise<void> => {
    temporal.asked += 1;
    if (temporal.away) throw grpcError(14);
  };
  relayOver(store, { triggerReconcile: request, hintStream: request, gapMs: 300 });
  const states = async () =>
    (await store.kysely.selectFrom('inbox').select(['state', 'failures']).execute()).map((row) => Object.values(row));
  for (let n = 0; n < 3; n += 1) await deliver(store, event, { n });
  await until('a third request', async () => temporal.asked >= 3);
  expect(await states()).toEqual(Array(3).fill(['waiting', 0]));
  temporal.away = false;
  await relayed(store, 3);
  await deliver(store, event, { early: true });
  temporal.away = true;
  const asked = temporal.asked;
  await until('the request owed', async () => temporal.asked > asked);
  expect((await states()).toSorted()).toEqual([...Array(3).fill(['relayed', 0]), ['waiting', 0]]);
  temporal.away = false;
  await relayed(store, 4);
});

test('one tenant whose deliveries hang keeps no other tenant’s waiting', async () => {
  const store = await freshStore(['globex']);
  const signalled: string[] = [];
  const never = new Promise<boolean>(() => undefined);
  const signalHire: RelayOptions['signalHire'] = ({ tenantId, jobCandidateId }) => {
    signalled.push(tenantId);
    return tenantId === TENANT_ID ? never : Promise.resolve(jobCandidateId !== '');
  };
  for (let n = 1; n <= 200; n += 1) await deliver(store, 'candidate.hired', { jobCandidateIds: [n] });
  relayOver(store, { signalHire, closeMs: 20 });
  await until('the first hang', async () => signalled.length > 0);
  for (let n = 1; n <= 20; n += 1) await deliver(store, 'candidate.hired', { jobCandidateIds: [n] }, 'globex');
  await relayed(store, 20);
  // The others are not even leased: they wait for the day their tenant works again.
  expect(signalled.filter((tenantId) => tenantId === TENANT_ID)).toHaveLength(8);
});

test('the backlogs of tenants that fill the relay keep no other tenant’s delivery waiting', async () => {
  const busy = Array.from({ length: 33 }, (_, n) => `busy-${n}`);
  const store = await freshStore(busy);
  for (const tenantId of busy)
    for (let n = 1; n <= 24; n += 1) await deliver(store, 'candidate.hired', { jobCandidateIds: [n] }, tenantId);
  const signalled: string[] = [];
  const signalHire: RelayOptions['signalHire'] = async ({ tenantId }) => {
    signalled.push(tenantId);
    if (signalled.length === 1) await deliver(store, 'candidate.hired', { jobCandidateIds: [1] });
    await pause(30);
    return true;
  };
  relayOver(store, { signalHire, isShared: () => false });
  await relayed(store, 33 * 24 + 1);
  // The relay has 256 places; 264 deliveries are one batch of each busy tenant.
  expect(signalled.indexOf(TENANT_ID)).toBeLessThan(2 * 264);
});

test('deliveries of a paused tenant rest, untouched, until it resumes', async () => {
  const store = await freshStore();
  await pauseTenant(store, TENANT_ID, 'UNAUTHORIZED', 'wrong key');
  await deliver(store, 'candidate.hired', { jobCandidateIds: [7] });
  const { hinted, reconciles } = relayOver(store);
  const before = await store.kysely.selectFrom('inbox').selectAll().execute();
  await pause(100);
  expect(await store.kysely.selectFrom('inbox').selectAll().execute()).toEqual(before);
  await resumeTenant(store, TENANT_ID);
  await relayed(store, 1);
  expect({ hinted, reconciles }).toEqual({ hinted: ['7 person'], reconciles: [] });
});

test('deliveries of a tenant whose definition this process cannot read wait for one that can', async () => {
  const store = await freshStore();
  const readable = { here: false };
  await deliver(store, 'candidate.updated', { candidateId: 1 });
  await deliver(store, 'candidate.hired', { jobCandidateIds: [7] });
  const before = await store.kysely.selectFrom('inbox').selectAll().execute();
  const { hinted } = relayOver(store, { isReadable: () => readable.here });
  await pause(100);
  expect(await store.kysely.selectFrom('inbox').selectAll().execute()).toEqual(before);
  readable.here = true;
  await relayed(store, 2);
  expect(hinted).toEqual(['7 person']);
});

test('the end of the relay waits for nothing that hangs', async () => {
  const store = await freshStore();
  const asked = { times: 0 };
  const hang = async (): Promise<never> => {
    asked.times += 1;
    return new Promise<never>(() => undefined);
  };
  const { relay } = relayOver(store, { signalHire: hang, triggerReconcile: hang, closeMs: 20 });
  await deliver(store, 'candidate.hired', { jobCandidateIds: [7] });
  await deliver(store, 'onboarding.candidate.status_changed', { unknown: true });
  await until('both hang', async () => asked.times === 2);
  await relay.close();
  expect(await store.kysely.selectFrom('inbox').select('state').distinct().execute()).toEqual([{ state: 'waiting' }]);
});

function grpcError(code: number): Error {
  return new Error('Failed to signal', {
    cause: Object.assign(new Error('grpc'), { code, details: '', metadata: {} }),
  });
}

test('a log names Temporal, and what it answered', () => {
  const message = '4 DEADLINE_EXCEEDED: Deadline exceeded after 10.1s';
  const cause = Object.assign(new Error(message), { code: 4, details: '', metadata: {} });
  expect(outageReason(new Error('Failed to signal', { cause }))).toBe('Temporal 4 DEADLINE_EXCEEDED');
});

test.each<[string, Error]>([
  ['Temporal is too busy (RESOURCE_EXHAUSTED)', grpcError(8)],
  ['the Temporal key has expired (UNAUTHENTICATED)', grpcError(16)],
  ['the Temporal key may not do this (PERMISSION_DENIED)', grpcError(7)],
  ['the store does not answer', Object.assign(new Error('connect'), { code: 'ECONNREFUSED' })],
])('a delivery that meets an outage waits and has not failed: %s', async (_what, error) => {
  const store = await freshStore();
  const sent = { times: 0 };
  const signalHire = async (): Promise<boolean> => {
    sent.times += 1;
    if (sent.times === 1) throw error;
    return true;
  };
  relayOver(store, { signalHire });
  await deliver(store, 'candidate.hired', { jobCandidateIds: [7] });
  await relayed(store, 1);
  const row = await store.kysely.selectFrom('inbox').select(['failures', 'last_error']).executeTakeFirst();
  expect({ sent: sent.times, ...row }).toEqual({ sent: 2, failures: 0, last_error: null });
});

test('a delivery that Temporal rejects as invalid has failed, with its reason', async () => {
  const store = await freshStore();
  const signalHire = (): Promise<boolean> => Promise.reject(grpcError(3));
  relayOver(store, { signalHire });
  await deliver(store, 'candidate.hired', { jobCandidateIds: [7] });
  const failed = await until('the first failure', async () => {
    const row = await store.kysely.selectFrom('inbox').select(['failures', 'last_error']).executeTakeFirst();
    return row !== undefined && row.failures > 0 ? row : undefined;
  });
  expect(failed).toEqual({ failures: 1, last_error: 'Temporal 3' });
});

test('events of one moment about one hire are one signal, and each is relayed', async () => {
  const store = await freshStore();
  await openHire(store, '41', 'oc-1');
  for (const event of ['candidate.rejected', 'candidate.removed_from_job'])
    await deliver(store, event, { jobId: 7, jobCandidateIds: [41], candidateIds: [4] });
  for (const event of ['onboarding.candidate.status_changed', 'onboarding.candidate.completed'])
    await deliver(store, event, { onboardingCandidateId: 'oc-1' });
  const { hinted } = relayOver(store);
  await relayed(store, 4);
  expect(hinted.toSorted()).toEqual(['41 onboarding', '41 person']);
});

test('hires of one tenant that come at once begin little by little, and another tenant’s among them', async () => {
  const store = await freshStore(['globex']);
  const begun: { tenantId: string; at: number }[] = [];
  const signalHire: RelayOptions['signalHire'] = async ({ tenantId }) =>
    begun.push({ tenantId, at: performance.now() }) > 0;
  for (let n = 1; n <= 16; n += 1) await deliver(store, 'candidate.hired', { jobCandidateIds: [n] });
  const startedAt = performance.now();
  relayOver(store, { signalHire });
  await until('the first batch', async () => begun.length > 0);
  await deliver(store, 'candidate.hired', { jobCandidateIds: [1] }, 'globex');
  await relayed(store, 17);
  expect(begun.at(-1)?.tenantId).toBe(TENANT_ID);
  const times = begun.filter(({ tenantId }) => tenantId === TENANT_ID).map(({ at }) => at);
  for (const [n, at] of times.entries()) expect(at - startedAt).toBeGreaterThan(n * 150 - 5);
});

test('hires of the only tenant of a process begin as soon as they can: time need not pass', async () => {
  const store = await freshStore();
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now').mockReturnValue(now);
  onTestFinished(() => clock.mockRestore());
  for (let n = 1; n <= 16; n += 1) await deliver(store, 'candidate.hired', { jobCandidateIds: [n] });
  const { hinted } = relayOver(store, { isShared: () => false });
  await relayed(store, 16);
  expect(hinted).toHaveLength(16);
});

test('a delivery that is told of waits for no look, also where a paused tenant’s rest', async () => {
  const store = await freshStore(['globex']);
  await pauseTenant(store, TENANT_ID, 'UNAUTHORIZED', 'wrong key');
  await deliver(store, 'candidate.hired', { jobCandidateIds: [7] });
  const { relay, hinted } = relayOver(store, { idleMs: 60_000 });
  await pause(100);
  await deliver(store, 'candidate.hired', { jobCandidateIds: [8] }, 'globex');
  relay.look();
  await relayed(store, 1);
  expect(hinted).toEqual(['8 person']);
});

/** A store, and when it was asked. A look at an inbox in which nothing is due asks once. */
async function watchedStore(): Promise<{ store: Store; asked: number[]; gaps: () => number[] }> {
  const asked: number[] = [];
  const note: KyselyPlugin = {
    transformQuery: ({ node }) => {
      asked.push(performance.now());
      return node;
    },
    transformResult: async ({ result }) => result,
  };
  const store = await freshStore([], [note]);
  return { store, asked, gaps: () => asked.slice(1).map((at, n) => at - (asked[n] ?? 0)) };
}

test('an empty inbox is looked at often, and once a second where deliveries are told of', async () => {
  const [told, untold] = [await watchedStore(), await watchedStore()];
  for (const { asked } of [told, untold]) asked.length = 0;
  relayOver(told.store, { idleMs: undefined, isTold: () => true });
  relayOver(untold.store, { idleMs: undefined, isTold: () => false });
  await until('a third look', async () => told.asked.length >= 3);
  for (const gap of told.gaps()) expect(gap).toBeGreaterThan(990);
  await expect.poll(() => Math.min(...untold.gaps())).toBeLessThan(500);
});

test('what rests at a paused tenant is looked at no more often than an empty inbox', async () => {
  const { store, asked, gaps } = await watchedStore();
  await pauseTenant(store, TENANT_ID, 'UNAUTHORIZED', 'wrong key');
  await deliver(store, 'candidate.hired', { jobCandidateIds: [7] });
  asked.length = 0;
  relayOver(store, { idleMs: undefined, isTold: () => true });
  await until('a second look', async () => asked.length >= 2);
  for (const gap of gaps()) expect(gap).toBeGreaterThan(990);
});

test(
  'a delivery that was put back is taken up again when it is due, although nobody tells of it',
  unlessStalled,
  async () => {
    const store = await freshStore();
    const sent: number[] = [];
    const signalHire = async (): Promise<boolean> => {
      if (sent.push(performance.now()) === 1) throw new Error('a fault of its own');
      return true;
    };
    await deliver(store, 'candidate.hired', { jobCandidateIds: [7] });
    relayOver(store, { signalHire, idleMs: undefined, isTold: () => true });
    await relayed(store, 1);
    const [first = 0, second = 0] = sent;
    expect(second - first).toBeLessThan(900);
  },
);

test('however often deliveries are told of, looks keep their distance', async () => {
  const { store, asked } = await watchedStore();
  asked.length = 0;
  const { relay } = relayOver(store, { idleMs: 60_000 });
  await until('the first look', async () => asked.length === 1);
  const begun = performance.now();
  for (; asked.length < 8; await pause(1)) relay.look();
  // Seven looks, each twenty milliseconds after the first announcement since the one before.
  expect(performance.now() - begun).toBeGreaterThan(6 * 20);
});
