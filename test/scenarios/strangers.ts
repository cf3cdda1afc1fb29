import { contract } from '../../src/partner/contract/index.ts';
import { takeApplicants, untilHired } from '../harness/hiring.ts';
import { type Applicant, type Process, until, type World } from '../harness/world.ts';
import { type Counts, type Scenario, startProduct, untilEffects, untilHires } from './scenario.ts';

const all = (n: number): Counts => ({ enrolments: n, credits: n, employees: n, holds: 0, verified: n });

/** Enrolment begins with the offer, the employee is made of whoever is hired. */
const APART = `enrolAt: [OFFER]
  createAt: [HIRED]
  onboarding: { flow: "{flow}" }
  reconcile: { every: 2s }
  cancel: { grace: 2s }`;

function move(world: World, people: readonly Applicant[], stageType: 'OFFER' | 'HIRED'): Promise<unknown> {
  return world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType });
}

/** The pipelines of a new company have no stage for offers. */
async function startWithOffers(world: World): Promise<Process> {
  const { items: pipelines } = await world.partner.readAll(contract.pipelines.list);
  for (const { id: pipelineId } of pipelines)
    await world.partner.pipelines.saveStage({ body: { pipelineId, name: 'Offer', type: 'OFFER' } });
  return startProduct(world);
}

async function hireToTheEnd(world: World, count: number): Promise<void> {
  await move(world, await takeApplicants(world, count), 'HIRED');
  await untilHired(world, count);
}

/** What a person would see of a tenant that is not at work, or nothing. */
async function untilReconciledAgain(world: World): Promise<void> {
  const reads = async (): Promise<number> =>
    (await world.control.ledger({ kind: 'request', name: 'jobs.list', limit: 100_000 })).length;
  const before = await reads();
  await until('two reconciles', async () => (await reads()) >= before + 2);
  const { stdout } = await world.cli(['status', '--verbose']);
  if (stdout.includes('paused')) throw new Error(`the tenant is paused: ${stdout}`);
}

/** A partner that does what the specification allows and nobody here expected: points 1 to 6, one by one. */
export const strangers: Scenario[] = [
  {
    name: 'a partner that shows the external status beside the other fields',
    quirks: ['flat-external-status'],
    expected: all(2),
    run: (world) => hireToTheEnd(world, 2),
  },
  {
    name: 'an onboarding status that nobody specified, and completed after it',
    quirks: ['unknown-status'],
    expected: all(2),
    run: (world) => hireToTheEnd(world, 2),
  },
  {
    name: 'e-mails with blanks around them',
    quirks: ['blank-emails'],
    expected: all(4),
    async run(world) {
      await hireToTheEnd(world, 4);
      const emails = (await world.employees()).map(({ email }) => email ?? '');
      const unclean = emails.filter((email) => !/^[\x21-\x7e]+@[a-z0-9.-]+$/.test(email));
      if (unclean.length > 0) throw new Error(`${unclean.length} employees have an e-mail that is not clean`);
    },
  },
  {
    name: 'a partner that begins to count createdAt in seconds',
    reconcileOnly: true,
    expected: all(2),
    async run(world) {
      await hireToTheEnd(world, 1);
      await world.control.act('setQuirks', { quirks: ['seconds-created-at'] });
      await untilReconciledAgain(world);
      const [second] = (await takeApplicants(world, 1)).slice(0, 1);
      await move(world, second === undefined ? [] : [second], 'HIRED');
      await untilHired(world, 2);
    },
  },
  {
    name: '500 old hires in lists that move and overstate themselves',
    quirks: ['moving-lists', 'overstated-total'],
    world: { jobs: 1, candidates: 12, hired: 500 },
    expected: all(1),
    async run(world) {
      await untilHires(world, 'before-go-live', 500);
      await hireToTheEnd(world, 1);
    },
  },
  {
    name: 'stages apart, somebody moved straight to the last',
    ownStart: true,
    world: { policies: APART },
    expected: all(1),
    async run(world) {
      await startWithOffers(world);
      await hireToTheEnd(world, 1);
    },
  },
  {
    name: 'stages apart, somebody moved on before the enrolment',
    ownStart: true,
    world: { policies: APART },
    expected: all(1),
    async run(world) {
      const worker = await startWithOffers(world);
      const some = await takeApplicants(world, 1);
      await worker.stop();
      await move(world, some, 'OFFER');
      await move(world, some, 'HIRED');
      await world.startWorker();
      await untilHired(world, 1);
    },
  },
  {
    name: 'stages apart, the offer first and the hire after the enrolment',
    ownStart: true,
    world: { policies: APART },
    expected: all(1),
    async run(world) {
      await startWithOffers(world);
      const some = await takeApplicants(world, 1);
      await move(world, some, 'OFFER');
      await untilEffects(world, 'enrolment', 1);
      await move(world, some, 'HIRED');
      await untilHired(world, 1);
    },
  },
];
