import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createPartnerClient, type PartnerClient } from '../../../src/partner/client/create-partner-client.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { type ControlClient, createControlClient } from '../../../src/sandbox/control/client.ts';
import { errorOf } from '../../http/servers.ts';
import { type HostedSandbox, hostSandbox } from '../../sandbox/hosted-sandbox.ts';

/** Client and sandbox meet on the wire; what happened is read from the sandbox's ledger over its control plane. */
let sandbox: HostedSandbox;
let control: ControlClient;
let partner: PartnerClient;

beforeAll(async () => {
  sandbox = await hostSandbox({ seed: 5, jobs: 3, candidates: 230, otherKey: `sk_test_${'o'.repeat(22)}` });
  control = createControlClient(sandbox.controlUrl);
  partner = clientWith(sandbox.key);
});
afterAll(async () => {
  await partner.close();
  await sandbox.close();
});
beforeEach(() => control.act('clearFaults'));

function clientWith(apiKey: string): PartnerClient {
  return createPartnerClient({
    baseUrl: sandbox.url,
    apiKey,
    environment: 'sandbox',
    allowPrivate: true,
    timeouts: { totalMs: 2000 },
  });
}

async function requests(operation: string): Promise<number> {
  return (await control.ledger({ kind: 'request', name: operation })).length;
}

/** A job, its pipeline's stages by type, and one candidate in it. */
async function hireable(email: string) {
  const job = await partner.jobs.create({
    body: { title: 'Engineer', city: 'Oslo', state: '', country: 'Norway', status: 'ACTIVE' },
  });
  const { items: pipelines } = await partner.readAll(contract.pipelines.list);
  const stages = pipelines.find((pipeline) => pipeline.id === job.pipelineId)?.stages ?? [];
  const added = await partner.candidates.add({
    body: {
      firstName: 'Ada',
      lastName: 'Lovelace',
      email,
      jobId: job.id,
      shouldParseResume: false,
      city: 'Oslo',
      country: 'Norway',
      educations: [],
      workExperiences: [],
    },
  });
  const stage = (type: string) => stages.find((one) => one.type === type)?.id ?? 0;
  return { job, stage, candidateId: added.data.id, jobCandidateId: added.data.jobCandidateId ?? 0 };
}

test('whoever is moved to HIRED is found by stage type, stage, job and id', async () => {
  const { job, stage, candidateId, jobCandidateId } = await hireable('hire@example.com');
  expect(
    (await partner.readAll(contract.jobs.list, { query: { status: 'ACTIVE' } })).items.map((item) => item.id),
  ).toContain(job.id);
  expect((await partner.candidates.get({ params: { candidateId } })).data.email).toBe('hire@example.com');

  await partner.jobCandidates.move(
    { params: { jobCandidateId }, body: { stageId: stage('HIRED') } },
    { priority: 'live' },
  );
  const byType = await partner.readAll(contract.jobCandidates.listByStageType, {
    query: { stageType: 'HIRED', jobId: job.id },
  });
  const byStage = await partner.readAll(contract.jobCandidates.listByStage, {
    params: { stageId: stage('HIRED') },
    query: { jobId: job.id },
  });
  const byJob = await partner.readAll(contract.jobCandidates.listByJob, { params: { jobId: job.id } });
  expect(byType.items.map((item) => item.jobCandidateDetails.id)).toEqual([jobCandidateId]);
  expect(byStage.items.map((item) => item.jobCandidateDetails.id)).toEqual([jobCandidateId]);
  expect(byJob.items.map((item) => item.id)).toEqual([jobCandidateId]);
  const fetched = await partner.inChunks(contract.jobCandidates.bulkFetch, {
    body: { jobCandidateIds: [jobCandidateId] },
  });
  expect(fetched).toMatchObject([
    { ok: true, value: { items: [{ id: jobCandidateId, candidateId }], unreadable: [] } },
  ]);
});

test('an enrolment is made once, found by its reference, told its employee and terminated once', async () => {
  const flow = await control.act('createOnboardingFlow', { name: 'Flow' });
  const { items: flows } = await partner.readAll(contract.onboarding.listFlows);
  const flowId = flows.find((one) => one.name === 'Flow')?.flowId ?? '';
  expect(flow).toBeDefined();
  await control.act('setCredits', { onboardingCredits: 5 });
  const enrolment = {
    firstName: 'Ada',
    lastName: 'Lovelace',
    email: 'hire@example.com',
    externalRef: 'hirebridge:1:1',
  };
  const enrolled = await partner.onboarding.enrol({ params: { flowId }, body: enrolment }, { priority: 'live' });
  const { onboardingCandidateId } = enrolled.data;
  const found = await partner.readAll(contract.onboarding.listCandidates, {
    query: { externalRef: enrolment.externalRef },
  });
  expect(found.items.map((item) => item.onboardingCandidateId)).toEqual([onboardingCandidateId]);
  expect(await errorOf(partner.onboarding.enrol({ params: { flowId }, body: enrolment }))).toMatchObject({
    code: 'DUPLICATE_ENROLLMENT',
    action: 'reject',
    status: 409,
  });

  const params = { onboardingCandidateId };
  await partner.onboarding.setExternalStatus({ params, body: { status: 'ACTIVE', employeeId: 'E-1' } });
  const read = await partner.onboarding.getCandidate({ params });
  expect(read.data.externalStatus).toMatchObject({ status: 'ACTIVE', employeeId: 'E-1' });
  await partner.onboarding.terminate({ params });
  expect(await errorOf(partner.onboarding.terminate({ params, body: { reason: 'again' } }))).toMatchObject({
    code: 'ALREADY_TERMINAL',
    status: 409,
  });
});

test('custom fields are listed, and values upserted singly and in bulk are read back', async () => {
  const { candidateId } = await hireable('fields@example.com');
  await control.act('createCustomField', { entityType: 'candidate', fieldLabel: 'Start date', fieldType: 'date' });
  const { items } = await partner.readAll(contract.customFields.list, { query: { entityType: 'candidate' } });
  const customFieldId = items.find((item) => item.fieldLabel === 'Start date')?.id ?? '';
  const value = { customFieldId, entityType: 'candidate' as const, entityId: candidateId, value: '2030-02-01' };
  await partner.customFieldValues.upsert({ body: value });
  const outcomes = await partner.inChunks(contract.customFieldValues.upsertBulk, {
    body: [{ ...value, value: '2030-03-01' }],
  });
  expect(outcomes).toMatchObject([{ ok: true }]);
  const read = await partner.readAll(contract.customFieldValues.list, {
    query: { entityType: 'candidate', entityId: String(candidateId) },
  });
  expect(read).toMatchObject({ items: [{ customFieldId, value: '2030-03-01' }], unreadable: [] });
});

test('a long list is read in as many calls as it has pages', async () => {
  const before = await requests('candidates.list');
  const { items, unreadable } = await partner.readAll(contract.candidates.list);
  expect(new Set(items.map((item) => item.id)).size).toBe(items.length);
  expect(items.length).toBeGreaterThanOrEqual(230);
  expect(unreadable).toEqual([]);
  expect((await requests('candidates.list')) - before).toBe(Math.ceil(items.length / 100));
});

test('every call is found in the ledger under the id that its report and its error carry', async () => {
  const error = await errorOf<{ requestId?: string }>(partner.candidates.get({ params: { candidateId: 999_999_999 } }));
  expect(error).toMatchObject({ code: 'NOT_FOUND', status: 404 });
  expect(await control.ledger({ kind: 'request', requestId: error.requestId ?? '' })).toMatchObject([
    { name: 'candidates.get', status: 404 },
  ]);
});

describe('a fault at the partner', () => {
  const flowOf = async (): Promise<string> => {
    await control.act('setCredits', { onboardingCredits: 50 });
    await control.act('createOnboardingFlow', { name: 'Faults' });
    const { items } = await partner.readAll(contract.onboarding.listFlows);
    return items.at(-1)?.flowId ?? '';
  };
  const enrolments = async (): Promise<number> =>
    (await partner.readAll(contract.onboarding.listCandidates)).items.length;

  test.each([
    ['throttle', { retryAfter: 3 }, { action: 'throttle', retryAfterMs: 3000 }, 0],
    ['throttle', {}, { action: 'throttle' }, 0],
    ['server-error', {}, { action: 'unknown', status: 500 }, 0],
    ['server-error-after', {}, { action: 'unknown', status: 500 }, 1],
    ['reset-before', {}, { action: 'unknown', code: 'NO_ANSWER' }, 0],
    ['answer-lost', {}, { action: 'unknown', code: 'NO_ANSWER' }, 1],
    ['truncated-body', {}, { action: 'unknown' }, 1],
    ['html-body', {}, { action: 'unknown', code: 'UNEXPECTED_ANSWER' }, 1],
    ['revoked-key', {}, { action: 'reauthorize', code: 'INVALID_API_KEY' }, 0],
    ['inactive-account', {}, { action: 'reauthorize', code: 'ACCOUNT_INACTIVE' }, 0],
  ] as const)(
    '(%s %j) makes an enrolment %j, and it was carried out %i times',
    async (kind, extra, expected, carriedOut) => {
      const flowId = await flowOf();
      const before = { enrolments: await enrolments(), requests: await requests('onboarding.enrol') };
      await control.act('addFault', { kind, on: 'onboarding.enrol', times: 1, ...extra });
      const email = `${kind}-${before.requests}@example.com`;
      const error = await errorOf(
        partner.onboarding.enrol({ params: { flowId }, body: { firstName: 'A', lastName: 'B', email } }),
      );
      expect(error).toMatchObject(expected);
      expect((await requests('onboarding.enrol')) - before.requests).toBe(1);
      expect((await enrolments()) - before.enrolments).toBe(carriedOut);
    },
  );

  test('is retry for a read', async () => {
    await control.act('addFault', { kind: 'answer-lost', on: 'pipelines.list', times: 1 });
    expect(await errorOf(partner.pipelines.list())).toMatchObject({ action: 'retry' });
  });
});

test('too few onboarding credits come with both numbers', async () => {
  await control.act('createOnboardingFlow', { name: 'Poor' });
  const { items } = await partner.readAll(contract.onboarding.listFlows);
  await control.act('setCredits', { onboardingCredits: 1 });
  const candidates = [1, 2, 3].map((n) => ({ firstName: 'A', lastName: 'B', email: `poor${n}@example.com` }));
  const error = await errorOf(
    partner.onboarding.enrolBulk({ params: { flowId: items.at(-1)?.flowId ?? '' }, body: { candidates } }),
  );
  expect(error).toMatchObject({
    code: 'INSUFFICIENT_ONBOARDING_CREDITS',
    action: 'reject',
    details: { requiredCredits: 3, availableCredits: 1 },
  });
});

test("another company's key sees nothing of ours", async () => {
  const other = clientWith(sandbox.otherKey ?? '');
  const { job, jobCandidateId } = await hireable('company@example.com');
  expect((await other.readAll(contract.jobs.list)).items.map((item) => item.id)).not.toContain(job.id);
  const outcome = await errorOf(other.jobCandidates.move({ params: { jobCandidateId }, body: { stageId: 1 } }));
  expect(outcome).toMatchObject({ action: 'reject' });
  await other.close();
});

test('a key that was never given is refused, and the client says so', async () => {
  const stranger = clientWith(`sk_test_${'z'.repeat(22)}`);
  expect(await errorOf(stranger.pipelines.list())).toMatchObject({
    code: 'INVALID_API_KEY',
    action: 'reauthorize',
    status: 401,
  });
  await stranger.close();
});
