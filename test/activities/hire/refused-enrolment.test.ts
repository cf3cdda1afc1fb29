import { CompiledQuery } from 'kysely';
import pino from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import type { ActivityDeps } from '../../../activities/connections.ts';
import { bindActivities, noteFailure, toFailure } from '../../../activities/create-activities.ts';
import { enrol } from '../../../activities/hire/enrol.ts';
import { openHold } from '../../../activities/hire/hold-hire.ts';
import { createPartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { Overrides } from '../../../src/partner/contract/assumptions.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { unlimited } from '../../../src/rate-limit/rate-limit.ts';
import { closeCreditGate, isCreditGateOpen, releaseCanary } from '../../../src/store/enrolments.ts';
import { endHire } from '../../../src/store/hire-states.ts';
import { insertHires, updateHire } from '../../../src/store/hires.ts';
import { listHolds } from '../../../src/store/holds.ts';
import { readTenantState, recordReconcile, recordVerifiedKey } from '../../../src/store/tenant-states.ts';
import { listApplicants } from '../../harness/world-people.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';
import { freshStore, kinds } from '../../store/stores.ts';

type Sandbox = Awaited<ReturnType<typeof openSandbox>>;

/** Somebody in HIRED of the real sandbox, whose tenant enrols into this flow. */
async function hired(
  { url, key, partner: reader, control }: Sandbox,
  flow: string,
  database: (typeof kinds)[number] = 'sqlite',
) {
  const { store } = await freshStore(database);
  // What happens while an enrolment waits for its permit.
  const meanwhile: (() => Promise<unknown>)[] = [];
  const acquire = async (_priority: unknown, _signal: unknown, endpoint?: string): Promise<void> => {
    if (endpoint === 'onboarding.enrol') await meanwhile.pop()?.();
  };
  const to = { baseUrl: url, apiKey: key, environment: 'sandbox', allowPrivate: true } as const;
  const partner = createPartnerClient({ ...to, rateLimit: { ...unlimited, acquire } });
  onTestFinished(() => partner.close());
  const [person] = await listApplicants(reader);
  if (person === undefined) throw new Error('the sandbox has no applicants');
  await control.act('move', { jobCandidateIds: [person.jobCandidateId], stageType: 'HIRED' });
  const ref = { tenantId: 'acme', jobCandidateId: String(person.jobCandidateId), period: 1 };
  await readTenantState(store, 'acme');
  await recordVerifiedKey(store, 'acme', 'one');
  await insertHires(store, [{ ...ref, state: 'open' }]);
  const policies = { onboarding: { flow }, enrolAt: ['HIRED'], createAt: ['HIRED'], credits: { canaryEvery: 60_000 } };
  const tenant = { tenant: 'acme', policies, partner: {}, hris: { connection: 'hr' } };
  const mapping = { hash: 'm', fields: [] };
  const connection = { tenant, partner, mapping, overrides: Overrides.parse({}), keyFingerprint: 'one' };
  const deps = {
    store,
    log: pino({ level: 'silent' }),
    connections: { of: async () => connection, reopenIfRotated: async () => false },
    limits: { giveUpMs: 60_000, partnerLagMs: 0, pausedMs: 0 },
    pausedHris: new Set(),
  } as unknown as ActivityDeps;
  const { data } = await reader.candidates.get({ params: { candidateId: person.candidateId } });
  return { deps, store, ref, person: data, meanwhile };
}

test.each([
  ['inactive', 'the data was refused (flowId)', 'INVALID_REQUEST'],
  ['unknown', 'there is no such record, or it is not ours', 'NOT_FOUND'],
])('the hold of an enrolment into an %s flow names the flow and what is wrong', async (kind, words, code) => {
  const sandbox = await openSandbox({ jobs: 1, candidates: 3 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  await sandbox.control.act('createOnboardingFlow', { name: 'Left over', status: 'INACTIVE' });
  const { items } = await sandbox.partner.readAll(contract.onboarding.listFlows);
  const inactive = items.find((one) => one.name === 'Left over')?.flowId ?? '';
  const flow = kind === 'inactive' ? inactive : 'no-such-flow';
  const { deps, store, ref, person } = await hired(sandbox, flow);

  const enrolled = await enrol(deps, ref);
  if (enrolled.verdict !== 'hold') throw new Error(`expected a hold, not ${enrolled.verdict}`);
  await openHold(deps, { ...ref, hold: enrolled.hold });

  const [hold] = await listHolds(store, { tenantId: 'acme' });
  expect(hold?.code).toBe(code);
  expect(hold?.message).toContain(` for flow ${flow} was answered `);
  expect(hold?.message).toContain(words);
  for (const word of [person.firstName, person.lastName, person.email]) expect(hold?.message).not.toContain(word);
});

const CANARY_WENT_THROUGH = {
  sqlite: [
    `create trigger canary after update of step on hires when new.step = 'await-credits'
     begin update tenants set credit_gate = null; end`,
  ],
  postgres: [
    `create function canary() returns trigger language plpgsql as
     $$ begin update tenants set credit_gate = null; return new; end $$`,
    `create trigger canary after update of step on hires for each row when (new.step = 'await-credits')
     execute function canary()`,
  ],
};

test.each(kinds)(
  'credits that come back while a hire begins to wait do not leave it waiting, in %s',
  async (database) => {
    const sandbox = await openSandbox({ jobs: 1, candidates: 3 });
    onTestFinished(() => sandbox[Symbol.asyncDispose]());
    const [flow] = (await sandbox.partner.readAll(contract.onboarding.listFlows)).items;
    const { deps, store, ref } = await hired(sandbox, flow?.flowId ?? '', database);
    await closeCreditGate(store, 'acme', { at: 1, canary: 'none' }, { required: 1, available: 0 });
    const waiting = await enrol(deps, ref);
    expect(waiting).toMatchObject({ verdict: 'no-credits' });
    expect((waiting as { waitMs: number }).waitMs).toBeGreaterThan(10_000);
    // The canary went through before this hire's row said that it waits: nobody wakes it.
    for (const statement of CANARY_WENT_THROUGH[database])
      await store.kysely.executeQuery(CompiledQuery.raw(statement));
    expect(await enrol(deps, ref)).toEqual({ verdict: 'no-credits', waitMs: 1 });
    expect(await enrol(deps, ref)).toMatchObject({ verdict: 'enrolled' });
  },
);

test.each(['answer-lost', 'reset-before'] as const)(
  'the one who tries the credits and gets no answer goes on with its own turn, and then the others do: %s',
  async (kind) => {
    const sandbox = await openSandbox({ jobs: 1, candidates: 3 });
    onTestFinished(() => sandbox[Symbol.asyncDispose]());
    const [flow] = (await sandbox.partner.readAll(contract.onboarding.listFlows)).items;
    const { deps, store, ref } = await hired(sandbox, flow?.flowId ?? '');
    const other = { ...ref, jobCandidateId: '4711' };
    await insertHires(store, [{ ...other, state: 'open' }]);
    await updateHire(store, other, { step: 'await-credits' });
    const told: string[] = [];
    deps.signalHire = async ({ jobCandidateId }) => told.push(jobCandidateId) > 0;
    const enrolments = async () => (await sandbox.partner.readAll(contract.onboarding.listCandidates)).items.length;
    const before = await enrolments();
    await closeCreditGate(store, 'acme', { at: 1, canary: 'none' }, { required: 1, available: 0 });
    // As the answer retry does.
    await releaseCanary(store, 'acme');
    await sandbox.control.act('setFaults', { faults: [{ kind, on: 'onboarding.enrol', nth: 1 }] });
    await expect(enrol(deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
    expect(await enrol(deps, other)).toMatchObject({ verdict: 'no-credits' });
    expect(told).toEqual([]);
    await store.kysely
      .updateTable('intents')
      .set((eb) => ({ give_up_at: eb('give_up_at', '-', 120_000) }))
      .execute();
    expect(await enrol(deps, ref)).toMatchObject({ verdict: 'enrolled' });
    expect(await isCreditGateOpen(store, 'acme')).toBe(true);
    expect(told).toEqual(['4711']);
    expect(await enrolments()).toBe(before + 1);
  },
);

test.each(kinds)(
  'an enrolment that waits for the rate limit is not sent once another process saw the credits gone, in %s',
  async (database) => {
    const sandbox = await openSandbox({ jobs: 1, candidates: 3 });
    onTestFinished(() => sandbox[Symbol.asyncDispose]());
    const [flow] = (await sandbox.partner.readAll(contract.onboarding.listFlows)).items;
    const { deps, store, ref, meanwhile } = await hired(sandbox, flow?.flowId ?? '', database);
    const enrolments = async () => (await sandbox.partner.readAll(contract.onboarding.listCandidates)).items.length;
    const before = await enrolments();
    const none = { required: 1, available: 0 };
    meanwhile.push(() => closeCreditGate(store, 'acme', { at: Date.now(), canary: 'none' }, none));
    await expect(enrol(deps, ref)).rejects.toMatchObject({ code: 'CREDIT_GATE_CLOSED', action: 'retry' });
    expect(await enrolments()).toBe(before);
    expect(await enrol(deps, ref)).toMatchObject({ verdict: 'no-credits' });
    // The canary is sent although the gate is closed.
    await releaseCanary(store, 'acme');
    expect(await enrol(deps, ref)).toMatchObject({ verdict: 'enrolled' });
    expect(await enrolments()).toBe(before + 1);
  },
);

test.each(kinds)(
  'a run whose hire was ended elsewhere ends and begins anew, and is no sign of a restored store, in %s',
  async (database) => {
    const sandbox = await openSandbox({ jobs: 1, candidates: 3 });
    onTestFinished(() => sandbox[Symbol.asyncDispose]());
    const [flow] = (await sandbox.partner.readAll(contract.onboarding.listFlows)).items;
    const { deps, store, ref } = await hired(sandbox, flow?.flowId ?? '', database);
    await recordReconcile(store, 'acme', true);
    await endHire(store, ref, 'left');
    const run = bindActivities(deps).enrol(ref);
    const error = await run.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'HIRE_OVER' });
    expect(toFailure(error)).toMatchObject({ type: 'HIRE_BEHIND', nonRetryable: true });
    expect(await noteFailure(deps, { name: 'enrol', input: ref, attempt: 30 }, error)).toBeUndefined();
    expect(await readTenantState(store, 'acme')).toMatchObject({ fully_reconciled_at: expect.any(Number) });
  },
);

test('a request of before the credits were used up proves nothing about them once it is found', async () => {
  const sandbox = await openSandbox({ jobs: 1, candidates: 3 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const [flow] = (await sandbox.partner.readAll(contract.onboarding.listFlows)).items;
  const { deps, store, ref } = await hired(sandbox, flow?.flowId ?? '');
  await sandbox.control.act('setFaults', { faults: [{ kind: 'answer-lost', on: 'onboarding.enrol', nth: 1 }] });
  await expect(enrol(deps, ref)).rejects.toMatchObject({ code: 'OUTCOME_UNKNOWN' });
  await store.kysely
    .updateTable('intents')
    .set((eb) => ({ sent_at: eb('sent_at', '-', 1) }))
    .execute();
  await closeCreditGate(store, 'acme', { at: 1, canary: 'none' }, { required: 1, available: 0 });
  expect(await enrol(deps, ref)).toMatchObject({ verdict: 'enrolled' });
  expect(await isCreditGateOpen(store, 'acme')).toBe(false);
});
