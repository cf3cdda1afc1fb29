import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection } from '@temporalio/client';
import { contract } from '../../src/partner/contract/index.ts';
import { deliverEvents, hireSilently, readStatus, takeApplicants, untilHired } from '../harness/hiring.ts';
import { type Applicant, until, type World } from '../harness/world.ts';
import { type Counts, type Scenario, untilEffects, untilHires } from './scenario.ts';

const all = (n: number, holds = 0): Counts => ({ enrolments: n, credits: n, employees: n, holds, verified: n });

function hire(world: World, people: readonly Applicant[]) {
  return world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
}

/** Removes every hire of the installation from the server, as the end of retention does. */
async function deleteWorkflows(world: World): Promise<void> {
  const { installationId } = JSON.parse(
    (await world.logs()).split('\n').find((line) => line.includes('"installationId"')) ?? '{}',
  ) as { installationId: string };
  const connection = await Connection.connect({ address: world.env['TEMPORAL_ADDRESS'] ?? '' });
  try {
    for (const hired of await world.effects('enrolment')) {
      const jobCandidateId = String(hired.detail['externalRef']).split(':')[1];
      const workflowId = `${installationId}/hire/acme/${jobCandidateId}`;
      await connection.workflowService.deleteWorkflowExecution({
        namespace: 'default',
        workflowExecution: { workflowId },
      });
      await until('the workflow to be gone', async () =>
        connection.workflowService
          .describeWorkflowExecution({ namespace: 'default', execution: { workflowId } })
          .then(() => false)
          .catch(() => true),
      );
    }
  } finally {
    await connection.close();
  }
}

export const people: Scenario[] = [
  {
    name: 'hired event after done, workflow deleted from the server',
    expected: all(1),
    async run(world) {
      const some = await takeApplicants(world, 1);
      await hire(world, some);
      await untilHired(world, 1);
      await deleteWorkflows(world);
      await world.control.act('announceHired', { jobCandidateIds: some.map((one) => one.jobCandidateId) });
      await pause(3_000);
    },
  },
  {
    name: '500 old hires at go-live and a 501st after',
    expected: all(1),
    world: { jobs: 3, candidates: 12, hired: 500 },
    async run(world) {
      await untilHires(world, 'before-go-live', 500);
      await hire(world, await takeApplicants(world, 1));
      await untilHired(world, 1);
    },
  },
  {
    name: 'an old hire, and one announced before any worker took the baseline',
    expected: all(1),
    world: { hired: 1 },
    ownStart: true,
    async run(world) {
      await world.startReceiver();
      await hire(world, await takeApplicants(world, 1));
      await until('a delivery is kept', async () => ((await readStatus(world)).inbox['waiting'] ?? 0) > 0);
      await world.startWorker();
      await untilHired(world, 1);
    },
  },
  {
    name: 'one candidate hired on two jobs in the same second',
    expected: all(1, 1),
    async run(world) {
      const [first] = await takeApplicants(world, 1);
      if (first === undefined) throw new Error('nobody to hire');
      const { items: jobs } = await world.partner.readAll(contract.jobs.list);
      const other = jobs.find((job) => Number(job.id) !== first.jobId);
      const { data } = await world.partner.candidates.get({ params: { candidateId: first.candidateId } });
      const second = (await world.control.act('addCandidate', {
        candidate: { email: String(data.email) },
        jobId: Number(other?.id),
      })) as { id?: number; jobCandidateId?: number };
      const jobCandidateIds = [first.jobCandidateId, Number(second.jobCandidateId ?? second.id)];
      await world.control.act('move', { jobCandidateIds, stageType: 'HIRED' });
      await untilEffects(world, 'enrolment', 1);
      await pause(2_000);
      await world.finishOnboardings();
    },
  },
  {
    // On one connection they are refused before anything starts; here a customer named one HRIS twice.
    name: 'two tenants with one HRIS under two names hire one person',
    expected: all(1, 1),
    reconcileOnly: true,
    ownStart: true,
    async run(world) {
      const file = await readFile(join(world.tenantsDir, 'acme.yaml'), 'utf8');
      const twin = file.replace('tenant: acme', 'tenant: twin').replace('connection: acme-hr', 'connection: twin-hr');
      await writeFile(join(world.tenantsDir, 'twin.yaml'), twin);
      await world.startWorker();
      await until('both baselines', async () => {
        const { tenants } = JSON.parse((await world.cli(['status', '--json'])).stdout) as {
          tenants: Array<{ baseline: string }>;
        };
        return tenants.length === 2 && tenants.every((one) => one.baseline === 'done');
      });
      await hire(world, await takeApplicants(world, 1));
      await untilEffects(world, 'enrolment', 1);
      await pause(4_000);
      await world.finishOnboardings();
    },
  },
  {
    name: 'a stale hired event after an un-hire',
    expected: all(0),
    async run(world) {
      const some = await takeApplicants(world, 2);
      const jobCandidateIds = some.map((one) => one.jobCandidateId);
      await hireSilently(world, some);
      await world.control.act('move', { jobCandidateIds, stageType: 'SCREEN' });
      await deliverEvents(world);
      await world.control.act('announceHired', { jobCandidateIds });
      await pause(4_000);
    },
  },
];
