import { expect, test } from 'vitest';
import { enrol } from '../../../activities/hire/enrol.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import type { overallStatuses } from '../../../src/partner/contract/onboarding.ts';
import { answerHold } from '../../../src/store/holds.ts';
import { fleetAtSandbox } from './fleet-at-sandbox.ts';

type Status = (typeof overallStatuses)[number];

const HELD = 'ENROLMENT_COMPLETED_ELSEWHERE';

/** Somebody whose onboarding a recruiter began and, where asked, ended before their hire was looked at. */
async function enrolledByHand(status: Status, options: { externalRef?: string; flow?: string } = {}) {
  const fleet = await fleetAtSandbox({ startDates: false, candidates: 4 });
  const { control, partner } = fleet.sandbox;
  await fleet.apply('acme');
  await fleet.reconcile('acme');
  const jobCandidateId = await fleet.hire();
  const { data } = await partner.jobCandidates.bulkFetch({ body: { jobCandidateIds: [jobCandidateId] } });
  const [person] = data as { candidate_details?: { email?: string } }[];
  const email = person?.candidate_details?.email ?? '';
  if (options.flow !== undefined) await control.act('createOnboardingFlow', { name: options.flow });
  const { items: flows } = await partner.readAll(contract.onboarding.listFlows);
  const flowId = flows.find((flow) => options.flow === undefined || flow.name === options.flow)?.flowId ?? '';
  const { externalRef = null } = options;
  await control.act('enrol', { flowId, firstName: 'By', lastName: 'Hand', email: email.toUpperCase(), externalRef });
  const [made] = (await partner.readAll(contract.onboarding.listCandidates)).items;
  const onboardingCandidateId = made?.onboardingCandidateId ?? '';
  await control.act('setOnboardingStatus', { onboardingCandidateId, overallStatus: status });
  const ref = { tenantId: 'acme', jobCandidateId, period: 1 };
  return { fleet, ref, onboardingCandidateId };
}

test('an onboarding that somebody else began and that is completed is a question before a second credit', async () => {
  const { fleet, ref, onboardingCandidateId } = await enrolledByHand('completed');
  const opened = await fleet.open('acme', ref.jobCandidateId);
  expect(opened).toMatchObject({
    enrolled: { verdict: 'hold', hold: { code: HELD, details: { onboardingCandidateIds: [onboardingCandidateId] } } },
  });
  expect(await enrol(fleet.deps, ref)).toMatchObject({ verdict: 'hold', hold: { code: HELD } });
  expect(await fleet.enrolments()).toBe(1);
});

test('whoever was enrolled by hand after our own request had been refused is asked about, too', async () => {
  const { fleet, ref } = await enrolledByHand('completed');
  await fleet.open('acme', ref.jobCandidateId);
  const refused = { verb: 'enrol:1', attempt: 1, pinned: '{}', sent_at: 0, give_up_at: 0, outcome: 'refused' } as const;
  const key = { tenant_id: 'acme', job_candidate_id: ref.jobCandidateId, period: 1 };
  await fleet.store.kysely
    .insertInto('intents')
    .values({ ...key, ...refused })
    .execute();
  expect(await enrol(fleet.deps, ref)).toMatchObject({ verdict: 'hold', hold: { code: HELD } });
  expect(await fleet.enrolments()).toBe(1);
});

test.each([
  ['adopt', 1],
  ['re-enrol', 2],
])('answered %s, the hire goes on with %i enrolment(s)', async (answer, enrolments) => {
  const { fleet, ref, onboardingCandidateId } = await enrolledByHand('completed');
  await fleet.open('acme', ref.jobCandidateId);
  const held = await enrol(fleet.deps, ref);
  if (held.verdict !== 'hold') throw new Error(`expected a hold, not ${held.verdict}`);
  const { holdId } = await openHold(fleet.deps, { ...ref, hold: held.hold });
  const given = answer === 'adopt' ? [onboardingCandidateId] : [];
  await answerHold(fleet.store, holdId, { answer, arguments: given, by: 'ada' });
  await takeAnswer(fleet.deps, { ...ref, holdId });
  expect(await enrol(fleet.deps, ref)).toMatchObject({ verdict: 'enrolled' });
  expect(await fleet.enrolments()).toBe(enrolments);
});

test.each<[string, Status, { externalRef?: string; flow?: string }]>([
  ['ended without being completed', 'rejected', {}],
  ['was made by an earlier hire of ours', 'completed', { externalRef: 'hirebridge:1:1' }],
  ['is in another flow', 'completed', { flow: 'Contractors' }],
])('one that %s asks nobody', async (_what, status, options) => {
  const { fleet, ref } = await enrolledByHand(status, options);
  expect(await fleet.open('acme', ref.jobCandidateId)).toMatchObject({ enrolled: { verdict: 'enrolled' } });
  expect(await fleet.enrolments()).toBe(2);
});

/** A person on two jobs, each of another tenant of the company, and the enrolment that a recruiter made for them. */
async function hiredByTwo() {
  const fleet = await fleetAtSandbox({ startDates: false, jobs: 2, candidates: 2 });
  const { control, partner } = fleet.sandbox;
  const jobs = ((await partner.jobs.list()).jobs as { id: number }[]).map(({ id }) => id);
  for (const [nth, tenant] of ['acme', 'sister'].entries()) {
    await fleet.apply(tenant, `scope: { jobs: ["${jobs[nth]}"] }\n`);
    await fleet.reconcile(tenant);
  }
  const email = 'two.jobs@people.example';
  const refs = [];
  for (const [nth, tenantId] of ['acme', 'sister'].entries()) {
    const candidate = { email, firstName: 'Two', lastName: 'Jobs' };
    const added = await control.act('addCandidate', { candidate, jobId: jobs[nth] });
    const { jobCandidateId } = added as { jobCandidateId: number };
    refs.push({ tenantId, jobCandidateId: await fleet.hire(jobCandidateId), period: 1 });
  }
  const [flow] = (await partner.readAll(contract.onboarding.listFlows)).items;
  await control.act('enrol', { flowId: flow?.flowId ?? '', firstName: 'By', lastName: 'Hand', email });
  const [made] = (await partner.readAll(contract.onboarding.listCandidates)).items;
  const id = made?.onboardingCandidateId ?? '';
  for (const ref of refs) {
    await fleet.open(ref.tenantId, ref.jobCandidateId);
    const held = await enrol(fleet.deps, ref);
    if (held.verdict !== 'hold') throw new Error(`expected a hold, not ${held.verdict}`);
    const { holdId } = await openHold(fleet.deps, { ...ref, hold: held.hold });
    await answerHold(fleet.store, holdId, { answer: 'adopt', arguments: [id], by: 'ada' });
    await takeAnswer(fleet.deps, { ...ref, holdId });
  }
  return { fleet, refs, id };
}

test('an enrolment that a hire of another tenant of the company has is not adopted a second time', async () => {
  const { fleet, refs, id } = await hiredByTwo();
  const [first, second] = refs.map((ref) => () => enrol(fleet.deps, ref));
  expect(await first?.()).toMatchObject({ verdict: 'enrolled' });
  expect(await second?.()).toMatchObject({ verdict: 'hold', hold: { code: 'ADOPT_MISFIT' } });
  expect(await fleet.enrolments()).toBe(1);
  const rows = await fleet.store.kysely
    .selectFrom('hires')
    .where('onboarding_candidate_id', '=', id)
    .select('tenant_id')
    .execute();
  expect(rows).toEqual([{ tenant_id: 'acme' }]);
});

test('of two hires that are given one enrolment at once, at most one keeps it, and the other asks', async () => {
  const { fleet, refs, id } = await hiredByTwo();
  const verdicts = await Promise.all(refs.map((ref) => enrol(fleet.deps, ref)));
  expect(verdicts.filter(({ verdict }) => verdict === 'hold').length).toBeGreaterThan(0);
  const rows = await fleet.store.kysely
    .selectFrom('hires')
    .where('onboarding_candidate_id', '=', id)
    .select('tenant_id')
    .execute();
  expect(rows).toHaveLength(verdicts.filter(({ verdict }) => verdict === 'enrolled').length);
});
