import { afterEach, expect, test } from 'vitest';
import { expectExactlyHired, takeApplicants, untilBaseline, untilHired } from '../harness/exactly-hired.ts';
import { readWorkflows } from '../harness/histories.ts';
import { createDatabase } from '../harness/postgres.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { startWorld, until, type World, type WorldOptions } from '../harness/world.ts';

const worlds: World[] = [];

afterEach(async () => {
  await Promise.all(worlds.splice(0).map((world) => world.close()));
});

async function build(options: Omit<WorldOptions, 'temporalAddress'>): Promise<World> {
  const { address } = await temporalForTests();
  const world = await startWorld({ temporalAddress: address, ...options });
  worlds.push(world);
  return world;
}

/**
 * A write that was under way in a killed worker is looked for when its time is over, by default after half a minute.
 */
const quick = {
  HIREBRIDGE_HEARTBEAT_MS: '2000',
  HIREBRIDGE_STICKY_MS: '500',
  HIREBRIDGE_RETRY_MS: '200',
  HIREBRIDGE_REQUEST_MS: '4000',
  HIREBRIDGE_GIVE_UP_MS: '6000',
};

test('two workers on one Postgres store make 50 employees of 50 hires, one of them killed in the middle', async () => {
  const { url } = await createDatabase();
  const hris = await createDatabase();
  const world = await build({ storeUrl: url, hrisUrl: hris.url, jobs: 3, candidates: 90, env: quick });
  const [, doomed] = await Promise.all([world.startReceiver(), world.startWorker(), world.startWorker()]);
  await untilBaseline(world);
  const people = await takeApplicants(world, 50);
  await world.control.act('move', { jobCandidateIds: people.map((one) => one.jobCandidateId), stageType: 'HIRED' });
  await until('some enrolments', async () => (await world.effects('enrolment')).length >= 15);
  await doomed.kill();
  await untilHired(world, 50, { timeoutMs: 120_000 });
  await expectExactlyHired(world, people);
});

test('two installations on one Temporal never run each other’s work', async () => {
  const [one, two] = await Promise.all([build({ candidates: 20, env: quick }), build({ candidates: 20, env: quick })]);
  const all = [one, two];
  await Promise.all(all.flatMap((world) => [world.startReceiver(), world.startWorker()]));
  await Promise.all(all.map(untilBaseline));
  const hired = await Promise.all(
    all.map(async (world) => {
      const people = await takeApplicants(world, 5);
      await world.control.act('move', {
        jobCandidateIds: people.map((person) => person.jobCandidateId),
        stageType: 'HIRED',
      });
      return people;
    }),
  );
  await Promise.all(all.map((world) => untilHired(world, 5)));
  // Each sandbox has a key of its own: a call that went to the wrong one would be a 401 in its ledger.
  for (const [index, world] of all.entries()) {
    await expectExactlyHired(world, hired[index] ?? []);
    expect(await world.control.ledger({ kind: 'request', status: 401 })).toEqual([]);
  }
  const { address } = await temporalForTests();
  const ids = await Promise.all(all.map(installationIdOf));
  expect(ids[0]).not.toBe(ids[1]);
  for (const [index, id] of ids.entries()) {
    const workflows = await readWorkflows(address, id);
    expect(
      workflows
        .filter((one) => one.type === 'hire')
        .map((one) => one.workflowId)
        .toSorted(),
    ).toEqual((hired[index] ?? []).map((person) => `${id}/hire/acme/${person.jobCandidateId}`).toSorted());
    // Whoever worked on them says so in their histories.
    const identities = workflows.flatMap((one) =>
      [...one.history.matchAll(/"identity": ?"(hb[0-9a-f]+)@/g)].map((match) => match[1]),
    );
    expect([...new Set(identities)]).toEqual([id]);
  }
});

async function installationIdOf(world: World): Promise<string> {
  const line = (await world.logs()).split('\n').find((text) => text.includes('"installationId"'));
  return (JSON.parse(line ?? '{}') as { installationId: string }).installationId;
}
