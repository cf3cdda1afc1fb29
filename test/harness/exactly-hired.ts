import { expect } from 'vitest';
import { type Applicant, type TenantWorld, writtenBack } from './world.ts';

export { deliverEvents, hireSilently, readStatus, takeApplicants, untilBaseline, untilHired } from './hiring.ts';

/** These people, each exactly once, and nobody else: by the partner's ledger and the HRIS's table. */
export async function expectExactlyHired(world: TenantWorld, people: readonly Applicant[]): Promise<void> {
  const [employees, enrolments, credits, written] = await Promise.all([
    world.employees(),
    world.effects('enrolment'),
    world.effects('onboarding-credit'),
    writtenBack(world),
  ]);
  const ids = people.map((one) => String(one.jobCandidateId)).toSorted();
  expect(enrolments.map((row) => String(row.detail['externalRef']).split(':')[1]).toSorted()).toEqual(ids);
  expect(credits).toHaveLength(people.length);
  const references = new Map(people.map((one) => [`${world.company}:${one.candidateId}`, String(one.jobCandidateId)]));
  expect(employees.map((one) => one.reference).toSorted()).toEqual([...references.keys()].toSorted());
  expect(new Set(employees.map((one) => one.number)).size).toBe(people.length);
  const expected = employees.map((one) => [references.get(one.reference ?? ''), one.number]);
  expect([...written].toSorted()).toEqual(expected.toSorted());
}
