import { expect, test } from 'vitest';
import { enrol } from '../../../activities/hire/enrol.ts';
import { openHold, takeAnswer } from '../../../activities/hire/hold-hire.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import type { overallStatuses } from '../../../src/partner/contract/onboarding-candidate.ts';
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
