import { expect, test } from 'vitest';
import { openSandbox } from './open-sandbox.ts';

const ada = { firstName: 'Ada', lastName: 'Lovelace', email: 'ada@example.com' };

async function openWithFlow() {
  const sandbox = await openSandbox();
  const flowId: string = (await sandbox.api('GET', '/onboarding/flows')).body.data.flows[0].flowId;
  const enrol = (body: unknown) => sandbox.api('POST', `/onboarding/flows/${flowId}/candidates`, body);
  const bulk = (candidates: unknown) =>
    sandbox.api('POST', `/onboarding/flows/${flowId}/candidates/bulk`, { candidates });
  const effects = async () => (await sandbox.control.counts({ kind: 'effect' })).effect ?? {};
  return { ...sandbox, flowId, enrol, bulk, effects };
}

test('flows are paged, filtered by status, and show their steps', async () => {
  await using sandbox = await openWithFlow();
  await sandbox.control.act('createOnboardingFlow', {
    name: 'Old',
    status: 'INACTIVE',
    steps: [{ stepKey: 'doc_collection' }, { stepKey: 'pre_employment_medical_test', isActive: false }],
  });
  const all = (await sandbox.api('GET', '/onboarding/flows?limit=1')).body.data;
  expect([all.flows.length, all.pagination]).toEqual([1, { page: 1, limit: 1, total: 2, totalPages: 2 }]);
  const [old] = (await sandbox.api('GET', '/onboarding/flows?status=INACTIVE')).body.data.flows;
  expect(old.steps).toEqual([
    { stepKey: 'doc_collection', stepOrder: 1, isActive: true },
    { stepKey: 'pre_employment_medical_test', stepOrder: 2, isActive: false },
  ]);
  expect((await sandbox.api('POST', `/onboarding/flows/${old.flowId}/candidates`, ada)).status).toBe(400);
  for (const query of ['limit=101', 'limit=0', 'page=0'])
    expect((await sandbox.api('GET', `/onboarding/flows?${query}`)).status).toBe(400);
});

test('an enrolment costs one credit, tells once, and can be found by its reference', async () => {
  await using sandbox = await openWithFlow();
  const { status, body } = await sandbox.enrol({
    ...ada,
    phoneNumber: '+447700900123',
    externalRef: 'hirebridge:1:1',
    metadata: { a: 1 },
  });
  expect([status, body.data.overallStatus, body.data.metadata]).toEqual([201, 'not_started', { a: 1 }]);
  expect(body.data.stepProgress).toHaveLength(2);
  expect(body.data.enrolledAt).toBeTypeOf('number');
  expect(body.data.journeyUrl).toMatch(/^http:.*\/journey\//);
  expect(await sandbox.effects()).toMatchObject({ enrolment: 1, 'onboarding-credit': 1 });
  expect((await sandbox.control.act('showCompany')).onboardingCredits).toBe(999);
  const found = (await sandbox.api('GET', '/onboarding/candidates?externalRef=hirebridge:1:1')).body.data;
  expect(found.candidates).toHaveLength(1);
  expect(found.candidates[0]).toMatchObject({ onboardingCandidateId: body.data.onboardingCandidateId });
  expect('stepProgress' in found.candidates[0]).toBe(false);
  const events = await sandbox.control.ledger({ kind: 'event' });
  expect(events.map((event) => [event.name, event.detail['onboardingCandidateId']])).toEqual([
    ['onboarding.candidate.enrolled', body.data.onboardingCandidateId],
  ]);
});

test('a second active enrolment of an e-mail or reference is 409; a terminal one does not count', async () => {
  await using sandbox = await openWithFlow();
  const first = (await sandbox.enrol({ ...ada, externalRef: 'r1' })).body.data;
  for (const body of [
    { ...ada, email: 'ADA@example.com' },
    { ...ada, email: 'other@example.com', externalRef: 'r1' },
  ]) {
    const refused = await sandbox.enrol(body);
    expect([refused.status, refused.body.error.code]).toEqual([409, 'DUPLICATE_ENROLLMENT']);
  }
  const flow = await sandbox.control.act('createOnboardingFlow', { name: 'Another' });
  expect(
    (await sandbox.api('POST', `/onboarding/flows/${String(flow['flowId'])}/candidates`, { ...ada, externalRef: 'r1' }))
      .status,
  ).toBe(201);
  await sandbox.api('POST', `/onboarding/candidates/${first.onboardingCandidateId}/terminate`);
  expect((await sandbox.enrol({ ...ada, externalRef: 'r1' })).status).toBe(201);
  expect((await sandbox.enrol({ ...ada, email: 'b@example.com' })).status).toBe(201);
  expect((await sandbox.enrol({ ...ada, email: 'c@example.com' })).status).toBe(201);
});

test('bulk enrolment is all or nothing on credits, with the two numbers', async () => {
  await using sandbox = await openWithFlow();
  await sandbox.control.act('setCredits', { onboardingCredits: 2 });
  const three = ['a', 'B', 'c'].map((name) => ({ ...ada, email: `${name}@example.com` }));
  const refused = await sandbox.bulk(three);
  expect([refused.status, refused.body.error.code, refused.body.error.details]).toEqual([
    402,
    'INSUFFICIENT_ONBOARDING_CREDITS',
    { requiredCredits: 3, availableCredits: 2 },
  ]);
  expect(await sandbox.effects()).toEqual({});
  const done = await sandbox.bulk(three.slice(0, 2));
  expect([done.status, done.body.data.enrolled.map((one: { email: string }) => one.email)]).toEqual([
    201,
    // As it was sent: an entry without an externalRef is known by it.
    ['a@example.com', 'B@example.com'],
  ]);
  expect((await sandbox.control.counts()).event).toEqual({ 'onboarding.candidate.enrolled': 2 });
  const single = await sandbox.enrol(three[2]);
  expect(single.body.error.details).toEqual({ requiredCredits: 1, availableCredits: 0 });
});

test.each([
  ['a repeated e-mail', [ada, { ...ada, email: 'ADA@example.com' }], 409],
  [
    'a repeated reference',
    [
      { ...ada, externalRef: 'x' },
      { ...ada, email: 'b@example.com', externalRef: 'x' },
    ],
    409,
  ],
  ['one bad e-mail', [ada, { ...ada, email: 'nobody' }], 400],
  ['none', [], 400],
  ['101', Array.from({ length: 101 }, (_, n) => ({ ...ada, email: `p${n}@example.com` })), 400],
])('a bulk enrolment with %s enrols no one', async (_name, candidates, status) => {
  await using sandbox = await openWithFlow();
  expect((await sandbox.bulk(candidates)).status).toBe(status);
  expect(await sandbox.effects()).toEqual({});
});

test.each([
  ['no last name', { firstName: 'A', email: 'a@example.com' }],
  ['a phone that is not E.164', { ...ada, phoneNumber: '0770 0900' }],
  ['a reference of 256 characters', { ...ada, externalRef: 'x'.repeat(256) }],
])('an enrolment with %s is 400', async (_name, body) => {
  await using sandbox = await openWithFlow();
  expect((await sandbox.enrol(body)).body.error.code).toBe('INVALID_REQUEST');
});

test('overallStatus follows the steps, and only a person completes it', async () => {
  await using sandbox = await openWithFlow();
  const { onboardingCandidateId } = (await sandbox.enrol(ada)).body.data;
  const read = async () => (await sandbox.api('GET', `/onboarding/candidates/${onboardingCandidateId}`)).body.data;
  const walk: [() => Promise<unknown>, string][] = [
    [
      () =>
        sandbox.control.act('submitStep', { onboardingCandidateId, stepKey: 'doc_collection', status: 'in_progress' }),
      'in_progress',
    ],
    [
      () => sandbox.control.act('submitStep', { onboardingCandidateId, stepKey: 'doc_collection' }),
      'partial_submission',
    ],
    [
      () => sandbox.control.act('submitStep', { onboardingCandidateId, stepKey: 'background_verification' }),
      'under_review',
    ],
    [() => sandbox.control.act('verifyStep', { onboardingCandidateId, stepKey: 'doc_collection' }), 'under_review'],
    [
      () =>
        sandbox.control.act('rejectStep', {
          onboardingCandidateId,
          stepKey: 'background_verification',
          reason: 'Blurred',
        }),
      'partial_submission',
    ],
    [() => sandbox.control.act('finishOnboarding', { onboardingCandidateId, as: 'final_handoff' }), 'final_handoff'],
    [
      () => sandbox.control.act('setOnboardingStatus', { onboardingCandidateId, overallStatus: 'completed' }),
      'completed',
    ],
  ];
  for (const [step, status] of walk) {
    await step();
    expect((await read()).overallStatus).toBe(status);
  }
  expect((await read()).stepProgress).toMatchObject([
    { status: 'verified', verifiedAt: expect.any(Number), rejectionReason: null },
    { status: 'verified' },
  ]);
  const events = await sandbox.control.counts({ kind: 'event' });
  expect(events.event?.['onboarding.candidate.completed']).toBe(1);
  await expect(
    sandbox.control.act('verifyStep', { onboardingCandidateId, stepKey: 'doc_collection' }),
  ).rejects.toMatchObject({ code: 'ALREADY_TERMINAL' });
});

test('terminate ends a live enrolment once, with or without a body; a terminal one is 409', async () => {
  await using sandbox = await openWithFlow();
  const { onboardingCandidateId: id } = (await sandbox.enrol(ada)).body.data;
  const ended = await sandbox.api('POST', `/onboarding/candidates/${id}/terminate`, { reason: 'Declined' });
  expect([ended.status, ended.body.data.overallStatus]).toEqual([200, 'terminated']);
  for (const overallStatus of ['terminated', 'completed', 'rejected', 'failed'] as const) {
    await sandbox.control.act('setOnboardingStatus', { onboardingCandidateId: id, overallStatus });
    const refused = await sandbox.api('POST', `/onboarding/candidates/${id}/terminate`);
    expect([overallStatus, refused.status, refused.body.error.code]).toEqual([overallStatus, 409, 'ALREADY_TERMINAL']);
  }
  expect(await sandbox.effects()).toMatchObject({ termination: 1 });
});

test('the external status is stored, merged, returned by get, and taken in every state', async () => {
  await using sandbox = await openWithFlow();
  const { onboardingCandidateId: id } = (await sandbox.enrol(ada)).body.data;
  const path = `/onboarding/candidates/${id}/external-status`;
  await sandbox.api('PATCH', path, { status: 'created', employeeId: 'E-17' });
  await sandbox.control.act('setOnboardingStatus', { onboardingCandidateId: id, overallStatus: 'rejected' });
  await sandbox.api('PATCH', path, { status: 'active' });
  expect((await sandbox.api('GET', `/onboarding/candidates/${id}`)).body.data.externalStatus).toMatchObject({
    status: 'active',
    employeeId: 'E-17',
  });
  expect((await sandbox.api('PATCH', path, {})).status).toBe(400);
  expect(await sandbox.effects()).toMatchObject({ 'external-status': 2 });
});

test('the list filters by flow and status, and refuses a status that is none', async () => {
  await using sandbox = await openWithFlow();
  await sandbox.bulk([ada, { ...ada, email: 'b@example.com' }]);
  const ids = (await sandbox.api('GET', '/onboarding/candidates')).body.data.candidates.map(
    (one: { onboardingCandidateId: string }) => one.onboardingCandidateId,
  );
  await sandbox.control.act('setOnboardingStatus', { onboardingCandidateId: ids[0], overallStatus: 'failed' });
  const failed = (await sandbox.api('GET', `/onboarding/candidates?status=failed&flowId=${sandbox.flowId}`)).body.data;
  expect([
    failed.candidates.map((one: { onboardingCandidateId: string }) => one.onboardingCandidateId),
    failed.pagination.total,
  ]).toEqual([[ids[0]], 1]);
  expect((await sandbox.api('GET', '/onboarding/candidates?status=lost')).status).toBe(400);
});
