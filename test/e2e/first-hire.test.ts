import { expect, onTestFinished, test } from 'vitest';
import { joinFleet } from '../harness/fleet.ts';
import { readStatus, untilHired } from '../harness/hiring.ts';
import { until, writtenBack } from '../harness/world.ts';

test('one hired event makes one enrolment, one employee, one Employee ID; earlier hires stay untouched', async () => {
  const world = await joinFleet({ hired: 3 });
  onTestFinished(world.close);
  expect((await readStatus(world)).hires).toEqual({ 'before-go-live': 3 });
  const [applicant] = await world.applicants();
  if (applicant === undefined) throw new Error('the sandbox has nobody to hire');
  await world.control.act('move', { jobCandidateIds: [applicant.jobCandidateId], stageType: 'HIRED' });
  await until('the enrolment', async () => (await world.effects('enrolment')).length === 1);
  await untilHired(world, 1);
  const id = String(applicant.jobCandidateId);
  const employees = await world.employees();
  expect(employees).toHaveLength(1);
  expect(employees[0]?.reference).toBe(`${world.company}:${applicant.candidateId}`);
  expect((await writtenBack(world)).get(id)).toBe(employees[0]?.number);
  expect(await world.effects('enrolment')).toHaveLength(1);
  expect((await readStatus(world)).hires).toEqual({ 'before-go-live': 3, done: 1 });
  const { stdout } = await world.cli(['status', '--verbose']);
  expect(stdout).toMatch(new RegExp(`${world.tenant}.*1 done`));
});
