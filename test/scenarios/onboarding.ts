import { setTimeout as pause } from 'node:timers/promises';
import { overallStatuses } from '../../src/partner/contract/onboarding.ts';
import { takeApplicants } from '../harness/hiring.ts';
import { type Applicant, until, type World } from '../harness/world.ts';
import { answer, type Counts, policies, type Scenario, untilEffects, untilHeld } from './scenario.ts';

function hire(world: World, people: readonly Applicant[]) {
  return world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
}

const employs: ReadonlySet<string> = new Set(['final_handoff', 'completed']);
const holds: ReadonlySet<string> = new Set(['rejected', 'failed', 'terminated']);

const states: Scenario[] = overallStatuses.map((overallStatus) => ({
  name: `onboarding set to ${overallStatus} in the dashboard`,
  expected: {
    enrolments: 1,
    credits: 1,
    employees: employs.has(overallStatus) ? 1 : 0,
    holds: holds.has(overallStatus) ? 1 : 0,
    verified: employs.has(overallStatus) ? 1 : 0,
  },
  async run(world) {
    await hire(world, await takeApplicants(world, 1));
    await untilEffects(world, 'enrolment', 1);
    const [row] = await world.effects('enrolment');
    await world.control.act('setOnboardingStatus', { onboardingCandidateId: String(row?.subject), overallStatus });
    await pause(2_000);
  },
}));

export const onboarding: Scenario[] = [
  ...states,
  {
    name: 'onboarding not ready before the deadline',
    expected: { enrolments: 1, credits: 1, employees: 0, holds: 1, verified: 0 },
    world: { policies: policies({ deadline: '3s' }) },
    async run(world) {
      await hire(world, await takeApplicants(world, 1));
      await untilHeld(world, 'ONBOARDING_DEADLINE');
    },
  },
  {
    name: 'rejected, then enrolled anew by answer',
    expected: { enrolments: 2, credits: 2, employees: 1, holds: 1, verified: 1 },
    async run(world) {
      await hire(world, await takeApplicants(world, 1));
      await untilEffects(world, 'enrolment', 1);
      const [row] = await world.effects('enrolment');
      await world.control.act('setOnboardingStatus', {
        onboardingCandidateId: String(row?.subject),
        overallStatus: 'rejected',
      });
      await answer(world, await untilHeld(world, 'ONBOARDING_REJECTED'), 're-enrol');
      await untilEffects(world, 'enrolment', 2);
      await world.finishOnboardings();
    },
  },
  {
    name: 'already enrolled by hand, adopted by answer',
    expected: { enrolments: 1, credits: 1, employees: 1, holds: 1, verified: 1 },
    async run(world) {
      const people = await takeApplicants(world, 1);
      const { data } = await world.partner.candidates.get({ params: { candidateId: people[0]?.candidateId ?? 0 } });
      const { firstName, lastName, email } = data;
      await world.control.act('enrol', {
        flowId: world.flowId,
        firstName: String(firstName),
        lastName: String(lastName),
        email: String(email),
      });
      const [row] = await world.effects('enrolment');
      await hire(world, people);
      await answer(world, await untilHeld(world, 'ENROLLED_ELSEWHERE'), 'adopt', String(row?.subject));
      await world.finishOnboardings();
    },
  },
  {
    name: 'enrol answer lost and the enrolment terminal before the retry',
    expected: { enrolments: 1, credits: 1, employees: 0, holds: 1, verified: 0 },
    async run(world) {
      await world.control.act('addFault', { kind: 'answer-lost', on: 'onboarding.enrol', nth: 1 });
      await hire(world, await takeApplicants(world, 1));
      await untilEffects(world, 'enrolment', 1);
      const [row] = await world.effects('enrolment');
      await world.control.act('setOnboardingStatus', {
        onboardingCandidateId: String(row?.subject),
        overallStatus: 'terminated',
      });
      await untilHeld(world, 'ONBOARDING_TERMINATED');
    },
  },
  {
    name: '100 hires with 3 credits, then a top-up',
    expected: { enrolments: 100, credits: 100, employees: 100, holds: 1, verified: 100 } satisfies Counts,
    world: { jobs: 3, candidates: 150 },
    async run(world) {
      await world.control.act('setCredits', { onboardingCredits: 3 });
      await hire(world, await takeApplicants(world, 100));
      await untilHeld(world, 'CREDITS_USED_UP');
      const refusedAtOnce = await settledRefusals(world);
      await pause(7_000);
      const refused = await refusals(world);
      if ((await world.effects('enrolment')).length !== 3)
        throw new Error('more than three enrolments from three credits');
      if (refused - refusedAtOnce > 3)
        throw new Error(`${refused - refusedAtOnce} refused calls in 7 s with a canary every 3 s`);
      await world.control.act('setCredits', { onboardingCredits: 1_000 });
      await untilEffects(world, 'enrolment', 100, 90_000);
      await until(
        '100 employees',
        async () => {
          await world.finishOnboardings();
          return (await world.employees()).length >= 100;
        },
        { timeoutMs: 120_000, everyMs: 1_000 },
      );
      // In flight when the gate closed: at most the calls that one worker sends at once.
      if (refusedAtOnce > 17) throw new Error(`${refusedAtOnce} refused calls were in flight`);
    },
  },
];

async function refusals(world: World): Promise<number> {
  return (await world.control.ledger({ kind: 'request', name: 'onboarding.enrol', status: 402 })).length;
}

/** Calls that had left when the gate closed come back within a moment. */
async function settledRefusals(world: World): Promise<number> {
  await pause(1_000);
  return refusals(world);
}
