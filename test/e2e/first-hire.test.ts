import { afterAll, beforeAll, expect, test } from 'vitest';
import { temporalForTests } from '../harness/temporal.ts';
import { startWorld, until, type World, writtenBack } from '../harness/world.ts';

let world: World;

beforeAll(async () => {
  const { address } = await temporalForTests();
  world = await startWorld({ temporalAddress: address, hired: 3 });
});

afterAll(() => world?.close());

test('one hired event makes one enrolment, one employee, one Employee ID; earlier hires stay untouched', async () => {
  await Promise.all([world.startReceiver(), world.startWorker()]);
  await until('the baseline is complete', async () =>
    (await world.cli(['status'])).stdout.includes('3 before-go-live'),
  );
  const [applicant] = await world.applicants();
  if (applicant === undefined) throw new Error('the sandbox has nobody to hire');
  await world.control.act('move', { jobCandidateIds: [applicant.jobCandidateId], stageType: 'HIRED' });
  await until('the enrolment', async () => (await world.effects('enrolment')).length === 1);
  await world.finishOnboardings();
  const id = String(applicant.jobCandidateId);
  await until('the write-back', async () => (await writtenBack(world)).get(id));
  const employees = await world.employees();
  expect(employees).toHaveLength(1);
  expect(employees[0]?.reference).toBe(`${world.company}:${applicant.candidateId}`);
  expect((await writtenBack(world)).get(id)).toBe(employees[0]?.number);
  expect(await world.effects('enrolment')).toHaveLength(1);
  await until('the hire is done', async () => (await world.cli(['status'])).stdout.includes('1 done'));
});
