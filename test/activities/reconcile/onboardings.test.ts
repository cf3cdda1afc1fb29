import { expect, test } from 'vitest';
import { contract } from '../../../src/partner/contract/index.ts';
import { insertHires, updateHire } from '../../../src/store/hires.ts';
import { openTenant } from './open-tenant.ts';

/** A tenant past its baseline, with so many people ever enrolled, of whom the last `waiting` belong to open hires. */
async function enrolled(people: number, waiting: number) {
  const tenant = await openTenant(3);
  const { sandbox, store, reconcile } = tenant;
  await reconcile();
  const { items: flows } = await sandbox.partner.readAll(contract.onboarding.listFlows);
  const flowId = flows[0]?.flowId ?? '';
  const names = { firstName: 'Zoe', lastName: 'Enrolled' };
  const persons = Array.from({ length: people }, (_, n) => ({ ...names, email: `zoe.${n}@example.com` }));
  for (let from = 0; from < people; from += 100)
    await sandbox.partner.onboarding.enrolBulk({
      params: { flowId },
      body: { candidates: persons.slice(from, from + 100) },
    });
  const { items } = await sandbox.partner.readAll(contract.onboarding.listCandidates);
  const last = items.slice(-waiting).map(({ onboardingCandidateId }) => onboardingCandidateId);
  for (const [index, onboarding_candidate_id] of last.entries()) {
    const hire = { tenantId: 'acme', jobCandidateId: `9000${index}`, period: 1 };
    await insertHires(store, [{ ...hire, state: 'open', jobId: 'elsewhere' }]);
    await updateHire(store, hire, { onboarding_candidate_id, onboarding_status: 'enrolled' });
  }
  return { ...tenant, last };
}

test('where few of many enrolled people are waited for, they are read one by one', async () => {
  const { reconcile, callsOf, sandbox, started, last } = await enrolled(350, 2);
  await sandbox.control.act('finishOnboarding', { onboardingCandidateId: last[1] ?? '' });
  const calls = await callsOf(reconcile);
  expect(calls).toEqual({ 'jobs.list': 1, 'onboarding.listCandidates': 1, 'onboarding.getCandidate': 2 });
  expect(started).toContain('90001');
});

test('where many are waited for, the list is read', async () => {
  const { reconcile, callsOf, sandbox, started, last } = await enrolled(150, 5);
  await sandbox.control.act('finishOnboarding', { onboardingCandidateId: last[4] ?? '' });
  const calls = await callsOf(reconcile);
  expect(calls).toEqual({ 'jobs.list': 1, 'onboarding.listCandidates': 2 });
  expect(started).toContain('90004');
});

test.each([
  ['in the only page of the list', 5, { 'onboarding.listCandidates': 1 }],
  ['among those read one by one', 350, { 'onboarding.listCandidates': 1, 'onboarding.getCandidate': 3 }],
])('a hire whose enrolment is no longer shown %s is told once', async (_where, people, read) => {
  const { reconcile, callsOf, store, started } = await enrolled(people, 2);
  const hire = { tenantId: 'acme', jobCandidateId: '90009', period: 1 };
  await insertHires(store, [{ ...hire, state: 'open', jobId: 'elsewhere' }]);
  const onboarding = { onboarding_candidate_id: 'cancelled', onboarding_status: 'in_progress' };
  await updateHire(store, hire, { ...onboarding, step: 'onboard' });
  expect(await callsOf(reconcile)).toEqual({ 'jobs.list': 1, ...read });
  expect(started.filter((id) => id === '90009')).toHaveLength(1);
  // As the hire leaves it once it has seen that there is no such enrolment.
  await updateHire(store, hire, { onboarding_status: null });
  await reconcile();
  expect(started.filter((id) => id === '90009')).toHaveLength(1);
});
