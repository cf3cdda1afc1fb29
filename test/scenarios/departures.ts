import { contract } from '../../src/partner/contract/index.ts';
import { takeApplicants, untilHired } from '../harness/hiring.ts';
import { type Applicant, until, type World } from '../harness/world.ts';
import { answer, type Counts, type Scenario, untilHeld, untilHires } from './scenario.ts';

const counts = (enrolments: number): Counts => ({
  enrolments,
  credits: enrolments,
  employees: 1,
  holds: 1,
  verified: 1,
});

/** Hired to the end and gone before the first day; then somebody says what that means. */
async function leave(world: World, word: 'no-show' | 'moved' | 'keep'): Promise<Applicant> {
  const [person] = await takeApplicants(world, 1);
  if (person === undefined) throw new Error('nobody to hire');
  await move(world, person.jobCandidateId, 'HIRED');
  await untilHired(world, 1);
  await move(world, person.jobCandidateId, 'SCREEN');
  await answer(world, await untilHeld(world, 'LEFT_BEFORE_START'), word);
  await untilHires(world, word === 'keep' ? 'kept' : 'left', 1);
  return person;
}

/** The same person is hired on another job. */
async function hireElsewhere(world: World, { candidateId, jobId }: Applicant): Promise<void> {
  const { items: jobs } = await world.partner.readAll(contract.jobs.list);
  const other = jobs.find((job) => Number(job.id) !== jobId);
  const { data } = await world.partner.candidates.get({ params: { candidateId } });
  const candidate = { email: String(data.email) };
  const added = await world.control.act('addCandidate', { candidate, jobId: Number(other?.id) });
  const { id, jobCandidateId = id } = added as { id?: number; jobCandidateId?: number };
  await move(world, Number(jobCandidateId), 'HIRED');
  await until('the second hire to be done', async () => {
    await world.finishOnboardings();
    return (await world.cli(['status', '--verbose'])).stdout.includes('1 done');
  });
}

function move(world: World, jobCandidateId: number, stageType: 'HIRED' | 'SCREEN'): Promise<unknown> {
  return world.control.act('move', { jobCandidateIds: [jobCandidateId], stageType });
}

const world = { hris: { endColumn: 'last_day' } };

/** People who leave before their first day, and what a person makes of it. */
export const departures: Scenario[] = [
  {
    name: 'gone before the first day: no-show',
    expected: counts(1),
    world,
    run: async (at) => void (await leave(at, 'no-show')),
  },
  {
    name: 'gone before the first day: keep',
    expected: counts(1),
    world,
    run: async (at) => void (await leave(at, 'keep')),
  },
  {
    name: 'gone before the first day: moved to another job',
    expected: counts(2),
    world,
    run: async (at) => hireElsewhere(at, await leave(at, 'moved')),
  },
  {
    name: 'gone before the first day: no-show, and hired again',
    expected: counts(2),
    world,
    run: async (at) => hireElsewhere(at, await leave(at, 'no-show')),
  },
];
