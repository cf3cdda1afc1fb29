import { setTimeout as pause } from 'node:timers/promises';
import { takeApplicants } from '../harness/hiring.ts';
import { isStopped } from '../harness/is-stopped.ts';
import { type Applicant, until, type World } from '../harness/world.ts';
import { type Scenario, startProduct, untilEffects, untilHeld, untilHires } from './scenario.ts';

type Moment = 'before enrolment' | 'while onboarding' | 'during the create call' | 'after done';
type Away = (world: World, person: Applicant) => Promise<unknown>;

const moments: Moment[] = ['before enrolment', 'while onboarding', 'during the create call', 'after done'];

async function one(world: World): Promise<Applicant> {
  const [person] = await takeApplicants(world, 1);
  if (person === undefined) throw new Error('nobody to hire');
  return person;
}

function move(world: World, person: Applicant, stageType: 'HIRED' | 'SCREEN') {
  return world.control.act('move', { jobCandidateIds: [person.jobCandidateId], stageType });
}

const out: Away = (world, person) => move(world, person, 'SCREEN');
const deleted: Away = (world, person) => world.control.act('deleteCandidate', { candidateIds: [person.candidateId] });

/** Brings a hire to its moment, takes the person away there, and returns when the product has seen it. */
const leaveAt: Record<Moment, (world: World, away: Away, reconcileOnly: boolean) => Promise<Applicant>> = {
  async 'before enrolment'(world, away, reconcileOnly) {
    // Hired and gone before any worker looks, with go-live behind.
    const worker = await world.startWorker();
    if (!reconcileOnly) await world.startReceiver();
    await untilHires(world, 'before-go-live', 1);
    await worker.stop();
    const person = await one(world);
    await move(world, person, 'HIRED');
    await away(world, person);
    await startProduct(world, true);
    await pause(4_000);
    if ((await world.effects('enrolment')).length > 0) throw new Error('a stale event spent a credit');
    return person;
  },
  async 'while onboarding'(world, away, reconcileOnly) {
    await startProduct(world, reconcileOnly);
    const person = await one(world);
    await move(world, person, 'HIRED');
    await untilEffects(world, 'enrolment', 1);
    await away(world, person);
    await untilHires(world, 'left', 1);
    return person;
  },
  async 'during the create call'(world, away, reconcileOnly) {
    // The worker stands still with the call under way: the deadline is checked, and the insert is what it does next.
    const worker = await startProduct(world, reconcileOnly, { HIREBRIDGE_FAILPOINT_STOP: 'applyPlan/deadline/after' });
    const person = await one(world);
    try {
      await move(world, person, 'HIRED');
      await untilEffects(world, 'enrolment', 1);
      await world.finishOnboardings();
      await until('the create to be under way', async () => isStopped(worker));
      await away(world, person);
    } finally {
      worker.child.kill('SIGCONT');
    }
    await untilEffects(world, 'external-status', 1);
    await untilHeld(world, 'LEFT_BEFORE_START');
    return person;
  },
  async 'after done'(world, away, reconcileOnly) {
    await startProduct(world, reconcileOnly);
    const person = await one(world);
    await move(world, person, 'HIRED');
    await untilEffects(world, 'enrolment', 1);
    await world.finishOnboardings();
    await untilHires(world, 'done', 1);
    await away(world, person);
    await untilHeld(world, 'LEFT_BEFORE_START');
    return person;
  },
};

async function finishAll(world: World, employees: number): Promise<void> {
  for (let turn = 0; turn < 60 && (await world.employees()).length < employees; turn += 1) {
    await world.finishOnboardings().catch(() => undefined);
    await pause(300);
  }
}

const counts = (enrolments: number, employees: number, holds: number) => ({
  enrolments,
  credits: enrolments,
  employees,
  holds,
  verified: employees,
});

const backExpected: Record<Moment, ReturnType<typeof counts>> = {
  'before enrolment': counts(1, 1, 0),
  'while onboarding': counts(2, 1, 0),
  'during the create call': counts(1, 1, 1),
  'after done': counts(1, 1, 1),
};

const goneExpected: Record<Moment, ReturnType<typeof counts>> = {
  'before enrolment': counts(0, 0, 0),
  'while onboarding': counts(1, 0, 0),
  'during the create call': counts(1, 1, 1),
  'after done': counts(1, 1, 1),
};

const slowHris = { HIREBRIDGE_GIVE_UP_MS: '15000', HIREBRIDGE_REQUEST_MS: '4000' };

export const changingMinds: Scenario[] = moments.flatMap((moment): Scenario[] => [
  ...[false, true].map(
    (reconcileOnly): Scenario => ({
      name: `out and back ${moment}, by ${reconcileOnly ? 'reconcile alone' : 'webhook'}`,
      expected: backExpected[moment],
      reconcileOnly,
      ownStart: true,
      world: { hired: 1, env: slowHris },
      async run(world) {
        const person = await leaveAt[moment](world, out, reconcileOnly);
        await move(world, person, 'HIRED');
        await finishAll(world, 1);
      },
    }),
  ),
  {
    name: `candidate deleted ${moment}`,
    expected: goneExpected[moment],
    ownStart: true,
    world: { hired: 1, env: slowHris },
    run: async (world) => void (await leaveAt[moment](world, deleted, false)),
  },
]);

export const graceScenario: Scenario = {
  name: 'out and back within the grace',
  expected: counts(1, 1, 0),
  world: { policies: 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 1h }\n  cancel: { grace: 5s }' },
  async run(world) {
    const person = await one(world);
    await move(world, person, 'HIRED');
    await untilEffects(world, 'enrolment', 1);
    await out(world, person);
    await pause(1_500);
    await move(world, person, 'HIRED');
    await finishAll(world, 1);
  },
};
