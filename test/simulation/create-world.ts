import { isEventName } from '../../src/partner/contract/events.ts';
import { readDelivery } from '../../src/receiver/admit.ts';
import { runDueTasks } from '../../src/sandbox/background.ts';
import { act } from '../../src/sandbox/control/server.ts';
import { createSandboxState } from '../../src/sandbox/prepare.ts';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import { nextDeliveryAt, settleDelivery, takeDueDeliveries } from '../../src/sandbox/records/deliveries.ts';
import { nextTaskAt } from '../../src/sandbox/records/tasks.ts';
import { insertDelivery } from '../../src/store/inbox.ts';
import * as workflows from '../../workflows/index.ts';
import { addCustomer, addSibling, applySiblings } from './add-customer.ts';
import type { Employee } from './hris-double.ts';
import { ownTime } from './own-time.ts';
import { leaveEarly } from './people.ts';
import { createProcess, currentProcess, kill, type Process, stop } from './processes.ts';
import { has, type Scenario } from './scenario.ts';
import { createStoreDouble } from './store-double.ts';
import { createTemporalDouble } from './temporal-double.ts';
import { currentAttempt } from './temporal-tasks.ts';
import { policies } from './tenants.ts';
import { createTimeline } from './timeline.ts';
import { watchListings } from './watch-listings.ts';
import { startWorker } from './worker.ts';
import { humanOf, reconcile, served, type World } from './world.ts';

/** Where the clock of every seed begins: a Monday morning. */
const START = Date.UTC(2026, 0, 5, 9);
const RESTART_MS = 3_000;

/** Sets the seed's world up and starts the product in it. */
export async function createWorld(scenario: Scenario): Promise<World> {
  const random = createRandom(scenario.seed * 7_919 + 1);
  const timeline = createTimeline(START, random);
  ownTime(timeline, random);
  const { state, ...companies } = createSandboxState({
    file: ':memory:',
    clock: timeline,
    seed: scenario.seed,
    key: keyOf('A', scenario.seed),
    otherKey: keyOf('B', scenario.seed),
  });
  const store = await createStoreDouble(timeline.now);
  const world: World = {
    ...emptyWorld(),
    scenario,
    timeline,
    random,
    whims: createRandom(scenario.seed * 104_729 + 3),
    state,
    store,
    outside: store.connect(() => undefined),
    temporal: createTemporalDouble({ timeline, random, workflows, longHistories: scenario.longHistories }),
    lastDeedAt: START,
    killAt: drawPoints(random, scenario.kills),
    stopAt: drawPoints(random, scenario.stops),
    stopSends: scenario.stops > 0 ? 1 : 0,
    pause: (process, point) => pass(world, process, point),
    act: (name, customer, input) => act(state, name, { companyId: customer.companyId, ...input }),
    hrisWorld: {
      findsNames: has({ scenario }, 'merged-candidates'),
      timeline,
      random,
      pause: (process, point) => pass(world, process, point),
      humanOf: (reference) => humanOf(world, reference.split(':')[0] ?? '', reference.split(':')[1] ?? ''),
      created: (human) => {
        for (const customer of served(world))
          if (human.startsWith(`${customer.companyId}:`)) leaveEarly(world, customer, human);
      },
      touched: (employee, verb) => noteTouch(world, employee, verb),
    },
  };
  addCustomer(world, companies.companyId);
  if (has(world, 'shared-company')) addSibling(world);
  addCustomer(world, companies.otherCompanyId ?? 0);
  if (has(world, 'shared-company')) applySiblings(world);
  rememberPeople(world);
  watchListings(world);
  state.onEvents = () => pump(world);
  takeUpQuirks(world);
  for (const count of ['one', 'two']) launch(world, `worker-${count}`);
  scheduleReconciles(world);
  return world;
}

/** I2, at the moment it would break: a hire writes into its own person's record only. */
function noteTouch(world: World, { id, human }: Employee, verb: string): void {
  const { tenantId, jobCandidateId } = (currentAttempt.getStore()?.input ?? {}) as Record<string, string>;
  const customer = served(world).find(({ tenant }) => tenant.tenant === tenantId);
  if (customer === undefined || jobCandidateId === undefined) return;
  const own = humanOf(world, customer.companyId, world.people.get(jobCandidateId) ?? '');
  if (own !== human)
    world.violations.push(`I2 ${verb} for job candidate ${jobCandidateId} (${own}) changed employee ${id} of ${human}`);
}

/** Nobody in it, and nothing has happened. */
function emptyWorld() {
  return {
    customers: [],
    wire: [],
    acknowledged: [],
    workers: [],
    relays: new Map(),
    calm: false,
    pumping: false,
    points: 0,
    storeLost: false,
    storeLostAt: 0,
    storeRestoredAt: 0,
    storeSavedAt: 0,
    tracedBy: new Map(),
    people: new Map(),
    emails: new Map(),
    jobs: new Map(),
    aliases: new Map(),
    merged: new Map(),
    gone: new Set(),
    hiredBefore: new Set(),
    names: new Map(),
    answeredWrongly: new Set(),
    given: [],
    onEnrolled: [],
    violations: [],
  } satisfies Partial<World>;
}

function takeUpQuirks({ scenario, state, timeline }: World): void {
  if (scenario.quirks.length === 0) return;
  const takeUp = (): void => state.quirks.set(scenario.quirks);
  if (scenario.quirksAfterMs === 0) takeUp();
  else timeline.at(START + scenario.quirksAfterMs, takeUp);
}

function rememberPeople({ state, people, jobs, emails, hiredBefore }: World): void {
  for (const { id, companyId, email } of state.all<{ id: number; companyId: number; email: string }>(
    'select id, company_id as companyId, email from candidates',
  ))
    emails.set(`${companyId} ${email}`, String(id));
  const rows = state.all<{ id: number; candidateId: number; jobId: number; type: string }>(
    `select j.id, j.candidate_id as candidateId, j.job_id as jobId, s.type
       from job_candidates j join stages s on s.id = j.stage_id`,
  );
  for (const { id, candidateId, jobId, type } of rows) {
    people.set(String(id), String(candidateId));
    jobs.set(String(id), String(jobId));
    if (type === 'HIRED') hiredBefore.add(String(id));
  }
}

function keyOf(letter: string, seed: number): string {
  return `sk_test_${letter.repeat(12)}${String(seed).padStart(10, '0').slice(-10)}`;
}

function drawPoints(random: Random, count: number): Set<number> {
  return new Set(Array.from({ length: count }, () => Math.floor(random() ** 1.5 * 1_800)));
}

/** Directly before a write that must not be made twice. */
const SENDS = /^(?:hris\.write|partner POST .*\/onboarding\/flows\/.*)\/before$/;

/** A place between two steps: here a process may die, be stopped, or let others go first. */
function pass(world: World, process: Process, point: string): Promise<void> | undefined {
  const { timeline, random } = world;
  if (!process.alive) return new Promise(() => undefined);
  world.points += 1;
  if (!world.calm && world.killAt.delete(world.points)) {
    killWorker(world, process);
    return new Promise(() => undefined);
  }
  if (!world.calm && world.stopAt.delete(world.points))
    stop(process, timeline.now() + (random() < 0.5 ? 5_000 + random() * 25_000 : 30_000 + random() * 150_000));
  if (SENDS.test(point) && !world.calm && world.stopSends > 0 && random() < 0.2) {
    world.stopSends -= 1;
    stop(process, timeline.now() + 33_000 + random() * 150_000);
  }
  if (process.stoppedUntil <= timeline.now() && random() > 0.1) return undefined;
  return new Promise((resolve) => process.later(random() * 3, resolve));
}

/** SIGKILL; another takes its place. */
export function killWorker(world: World, process: Process): void {
  kill(process);
  world.relays.delete(process);
  world.temporal.leave(process);
  world.workers = world.workers.filter((worker) => worker !== process);
  world.timeline.at(world.timeline.now() + world.random() * RESTART_MS, () => launch(world, process.name));
}

function launch(world: World, name: string): void {
  const process = createProcess(name, world.timeline, world.random);
  world.workers.push(process);
  currentProcess.run(process, () => startWorker(world, process));
}

/**
 * Does what the partner has planned, and sends webhooks when they are due, to a receiver that stores before it answers.
 */
function pump(world: World): void {
  const { timeline, state } = world;
  if (world.pumping) return;
  world.pumping = true;
  timeline.at(timeline.now() + 1, () => {
    world.pumping = false;
    runDueTasks(state);
    for (const delivery of takeDueDeliveries(state)) {
      void receive(world, delivery.companyId, delivery.body).then((status) => {
        settleDelivery(state, delivery, status === undefined ? { error: 'ECONNREFUSED' } : { status });
        wakePump(world);
      });
    }
    wakePump(world);
  });
}

function wakePump(world: World): void {
  for (const next of [nextDeliveryAt(world.state), nextTaskAt(world.state)])
    if (next !== undefined) world.timeline.at(next, () => pump(world));
}

async function receive(world: World, companyId: number, body: string): Promise<number | undefined> {
  const customer = served(world).find((one) => one.companyId === companyId);
  if (customer === undefined) return 404;
  const tenantId = customer.tenant.tenant;
  if (!world.calm && world.random() < world.scenario.faultRate) return undefined;
  const delivery = readDelivery(Buffer.from(body), {
    tenantId,
    company: String(companyId),
    classify: (event) => (isEventName(event) ? 'waiting' : 'unknown'),
  });
  await insertDelivery(world.outside, delivery);
  world.acknowledged.push({ tenantId, bodyHash: delivery.bodyHash });
  // Each is told most of the time; what nobody was told of is found when the inbox is looked at the next time.
  for (const worker of world.workers) if (world.random() < 0.8) world.relays.get(worker)?.();
  return !world.calm && world.random() < world.scenario.faultRate ? undefined : 200;
}

function scheduleReconciles(world: World): void {
  const { reconcileMs = policies.reconcileMs } = world.scenario;
  for (const { tenant } of served(world)) {
    const turn = (): void => {
      reconcile(world, tenant.tenant);
      world.timeline.at(world.timeline.now() + reconcileMs, turn);
    };
    world.timeline.at(world.timeline.now() + 200, turn);
  }
}
