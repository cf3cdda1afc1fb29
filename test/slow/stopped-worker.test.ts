import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { expectExactlyHired, readStatus, takeApplicants, untilBaseline } from '../harness/exactly-hired.ts';
import { startTraffic } from '../harness/hire-traffic.ts';
import { isStopped } from '../harness/is-stopped.ts';
import { createDatabase } from '../harness/postgres.ts';
import { readPoints } from '../harness/recorded-failpoints.ts';
import { shortWaits } from '../harness/short-waits.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { type Applicant, type Process, startWorld, until, type World, type WorldOptions } from '../harness/world.ts';

const worlds: World[] = [];
const stopped: Process[] = [];

afterAll(async () => {
  // SIGTERM waits for SIGCONT.
  await Promise.all(stopped.map((worker) => worker.kill()));
  await Promise.all(worlds.map((world) => world.close()));
});

async function build(options: Partial<WorldOptions> = {}): Promise<World> {
  const { address } = await temporalForTests();
  const world = await startWorld({ temporalAddress: address, candidates: 12, env: shortWaits, ...options });
  worlds.push(world);
  await world.startReceiver();
  const first = await world.startWorker();
  await untilBaseline(world);
  await first.stop();
  return world;
}

const writes = {
  enrol: {
    point: 'enrol/deadline',
    call: 'enrol/partner.onboarding.enrol/after',
    retried: async (world: World) => (await world.effects('enrolment')).length === 1,
  },
  create: {
    point: 'applyPlan/deadline',
    call: 'applyPlan/hris.create/after',
    retried: async (world: World) => (await world.employees()).length === 1 || (await isHeld(world)),
  },
};

/**
 * One hire whose worker stands still at this point until another worker's retry has succeeded; then the first is woken.
 */
async function stopAndWake(world: World, write: keyof typeof writes, side: 'before' | 'after'): Promise<Applicant[]> {
  const { point, call, retried } = writes[write];
  const listFile = join(world.dir, 'stopped.points');
  const people = await takeApplicants(world, 1);
  let woken = false;
  // An enrolment lasts longer than a worker stands still: days, not seconds.
  const traffic = startTraffic(world, people, { mayFinish: () => woken || write === 'create' });
  const first = await world.startWorker({
    HIREBRIDGE_FAILPOINT_STOP: `${point}/${side}`,
    HIREBRIDGE_FAILPOINT_LIST: listFile,
  });
  stopped.push(first);
  await traffic.keep(1);
  await until('the worker stands still', async () => isStopped(first));
  await world.startWorker();
  await until('the retry of the second worker', () => retried(world), { timeoutMs: 120_000, everyMs: 500 });
  expect(await readPoints(listFile)).not.toContain(call);
  first.child.kill('SIGCONT');
  await until('the end of the woken call', async () => (await readPoints(listFile)).includes(call));
  woken = true;
  await until('the hire is done or held', async () => (await isDone(world)) || (await isHeld(world)), {
    timeoutMs: 120_000,
    everyMs: 500,
  });
  await traffic.close();
  return people;
}

async function isDone(world: World): Promise<boolean> {
  return (await readStatus(world)).hires['done'] === 1;
}

async function isHeld(world: World): Promise<boolean> {
  return (await world.cli(['hold', 'list'])).stdout.includes('CREATE_UNKNOWN');
}

/**
 * One, and not none: where nobody can tell whether the create worked, a person looks there and answers, and the hire
 * ends with its one employee.
 */
async function expectOneEmployee(world: World): Promise<void> {
  await until('the hire is done, its question answered', async () => (await isDone(world)) || answer(world), {
    timeoutMs: 120_000,
    everyMs: 500,
  });
  expect(await world.employees()).toHaveLength(1);
}

/** Answers what is asked, and is not done with that. */
async function answer(world: World): Promise<false> {
  const { stdout } = await world.cli(['hold', 'list', '--code', 'CREATE_UNKNOWN', '--json']);
  const [hold] = JSON.parse(stdout) as { holdId: string }[];
  if (hold === undefined) return false;
  const [employee] = await world.employees();
  const words = employee === undefined ? ['create'] : ['link', employee.id];
  await world.cli(['hold', 'answer', hold.holdId, ...words]);
  return false;
}

async function answersTo(world: World, operation: string): Promise<number[]> {
  return (await world.control.ledger({ kind: 'request', name: operation })).map((row) => row.status ?? 0);
}

// Mostly waits for heartbeats and deadlines, so all of them wait together.
describe.concurrent('a worker stopped between intent and send, woken when another worker’s retry has succeeded', () => {
  test('sends no second enrolment', async () => {
    const world = await build();
    const people = await stopAndWake(world, 'enrol', 'before');
    expect(await answersTo(world, 'onboarding.enrol')).toEqual([201]);
    await expectExactlyHired(world, people);
  });

  test('creates no second employee', async () => {
    const world = await build();
    const people = await stopAndWake(world, 'create', 'before');
    await expectExactlyHired(world, people);
  });

  test('stopped after its last look at the clock, enrols nobody twice: the partner refuses a second one', async () => {
    const world = await build();
    const people = await stopAndWake(world, 'enrol', 'after');
    const answers = await answersTo(world, 'onboarding.enrol');
    // Woken late, its connection may be gone before the request leaves.
    expect([[201], [201, 409]]).toContainEqual(answers.toSorted());
    await expectExactlyHired(world, people);
  });

  test('stopped after its last look at the clock, creates nobody twice in SQLite without any unique key', async () => {
    const world = await build({ hris: { referenceColumn: 'none' } });
    await stopAndWake(world, 'create', 'after');
    await expectOneEmployee(world);
  });

  test('stopped after its last look at the clock, creates nobody twice in Postgres without a unique key', async () => {
    const [store, hris] = await Promise.all([createDatabase(), createDatabase()]);
    const world = await build({ storeUrl: store.url, hrisUrl: hris.url, hris: { referenceColumn: 'none' } });
    await stopAndWake(world, 'create', 'after');
    await expectOneEmployee(world);
  });
});
