import { writeFile } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { drawSamples, judgeFlat, type Sample } from '../soak/flat.ts';
import { createWorld, killWorker } from './create-world.ts';
import { answerHolds } from './operator.ts';
import { gatherFacts } from './oracle/facts.ts';
import { checkFinished, checkHolds } from './oracle/finished.ts';
import { checkClaims, checkEmployees, checkEnrolments, checkTerminations } from './oracle/once.ts';
import { takeOverTime } from './own-time.ts';
import { addApplicant, hiredNow, move, moveOn, sendPeople, setStartDate } from './people.ts';
import { closeWorld, prepareSeeds } from './run-seed.ts';
import { drawScenario, type Scenario } from './scenario.ts';
import { beginStorm, endStorm } from './storm.ts';
import { type Customer, served, type World } from './world.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const QUIET_MS = 2 * HOUR_MS;
/** Four samples a day. */
const SAMPLE_MS = 6 * HOUR_MS;
const KILL_MS = 4 * HOUR_MS;
const ANSWER_MS = 600_000;
/** One in so many leaves or changes jobs. */
const CHANGE = 10;

/** Tables whose rows stay with a hire, emptied of values in time: judged by rows a hire. */
const OF_HIRES = new Set(['intents', 'persons', 'person_keys', 'holds', 'audit', 'plans', 'foreign_writes']);
const GROWS = new Set(['hires', 'hire_counts']);

/**
 * Weeks of a customer in virtual time, a hire an hour, with faults of the partner all the time and a worker killed
 * every four hours: `npm run test:month -- [--days N] [--hires-a-day N] [--curves FILE.svg]`. Memory, timers, rows of
 * every table, the time of a hire and the work for each person in the stage have to stay what they are; who was made an
 * employee is judged by the simulation's oracle. A reconcile comes every five minutes, as by default; the other
 * policies are the simulation's: retention of seconds.
 */
export async function playMonth(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      days: { type: 'string', default: '30' },
      'hires-a-day': { type: 'string', default: '24' },
      curves: { type: 'string' },
    },
  });
  const days = Number(values.days);
  const cpu = process.cpuUsage.bind(process);
  await prepareSeeds();
  takeOverTime();
  const world = await createWorld(monthly());
  const { timeline } = world;
  const start = timeline.now();
  beginStorm(world, start);
  sendPeople(world);
  const took = watchHires(world);
  const end = start + days * DAY_MS;
  every(world, { ms: DAY_MS / Number(values['hires-a-day']), end }, () => hireSomebody(world, served(world)[0]!));
  every(world, { ms: KILL_MS, end }, () => world.workers[0] && killWorker(world, world.workers[0]));
  every(world, { ms: ANSWER_MS, end }, () => void answerHolds(world));
  const samples: Sample[] = [];
  let spent = cpu();
  for (let at = start + SAMPLE_MS; at <= end; at += SAMPLE_MS) {
    await timeline.runUntil(at);
    const { user, system } = cpu(spent);
    samples.push({ at: (at - start) / 1000, values: measure(world, took, (user + system) / 1e3) });
    spent = cpu();
    process.stderr.write(`day ${((at - start) / DAY_MS).toFixed(2)} of ${days}: ${world.people.size} people\n`);
  }
  endStorm(world);
  await timeline.runUntil(end + QUIET_MS);
  for (let round = 0; round < 8 && (await answerHolds(world)) > 0; round += 1)
    await timeline.runUntil(timeline.now() + QUIET_MS);
  const violations = judge(world);
  const { table, isFlat } = judgeFlat(samples, GROWS);
  process.stdout.write(`${table}\n`);
  const hires = world.store.all('select 1 from hires').length;
  process.stdout.write(`${days} days, ${hires} hires, ${violations.length} violations\n`);
  for (const text of violations) process.stdout.write(`${text}\n`);
  if (values.curves !== undefined) await writeFile(values.curves, drawSamples(`${days} days in virtual time`, samples));
  closeWorld(world);
  process.exit(isFlat && violations.length === 0 && hires > 0 ? 0 : 1);
}

/** One tenant; a few faults in a hundred requests, and rows of the past are cleared. */
function monthly(): Scenario {
  return {
    ...drawScenario(1),
    tenants: 1,
    sharedHris: false,
    profile: 'strict',
    skipOnboarding: false,
    hiredBefore: 2,
    hires: 1,
    changesOfMind: false,
    doubleApplications: false,
    enrolledByHand: false,
    sameEmail: false,
    edits: false,
    credits: 100_000,
    webhooks: 'some',
    faultRate: 0.03,
    kills: 0,
    stops: 0,
    loseTemporal: false,
    loseStore: false,
    badKey: 'no',
    longHistories: 0.1,
    answersEarly: false,
    stagesApart: false,
    extras: ['retention'],
    reconcileMs: 300_000,
  };
}

function every(world: World, { ms, end }: { ms: number; end: number }, does: () => void): void {
  const turn = (): void => {
    if (world.timeline.now() >= end) return;
    does();
    world.timeline.at(world.timeline.now() + ms, turn);
  };
  world.timeline.at(world.timeline.now() + ms, turn);
}

let nth = 0;

/** Somebody applies, is hired soon after, and one in ten leaves or takes another job. */
function hireSomebody(world: World, customer: Customer): void {
  const { state, timeline, whims: random } = world;
  nth += 1;
  const email = `person-${nth}@home.example`;
  const [job] = state.all<{ id: number }>(
    'select id from jobs where company_id = ? order by id limit 1',
    customer.companyId,
  );
  const candidate = { email, firstName: 'Robin', lastName: `Month ${nth}` };
  const { jobCandidateId, candidateId } = addApplicant(world, customer, { candidate, jobId: job?.id ?? 0 });
  world.emails.set(`${customer.companyId} ${email}`, String(candidateId));
  const startDate = new Date(timeline.now() + 14 * DAY_MS).toISOString().slice(0, 10);
  setStartDate(world, customer, candidateId, startDate);
  timeline.at(timeline.now() + random() * 600_000, () => move(world, customer, jobCandidateId, 'HIRED'));
  if (nth % CHANGE !== 0) return;
  timeline.at(timeline.now() + 600_000 + random() * HOUR_MS, () => {
    const person = hiredNow(world, customer).find(({ id }) => id === jobCandidateId);
    if (person !== undefined) moveOn(world, customer, person);
  });
}

/** How long a quarter of the hires of the last two days took at most, ms: others wait for a reconcile. */
function watchHires(world: World): () => number {
  return () => {
    const rows = world.store.all<{ took: number }>(
      "select ended_at - opened_at as took from hires where state = 'done' and ended_at > ? order by took",
      world.timeline.now() - 2 * DAY_MS,
    );
    return rows[Math.floor(rows.length / 4)]?.took ?? 0;
  };
}

function measure(world: World, took: () => number, workMs: number): Record<string, number> {
  // What the oracle of short seeds asks about, and what stands for a network and for Temporal's histories.
  world.wire.length = 0;
  world.acknowledged.length = 0;
  world.temporal.attempts.length = 0;
  world.temporal.accepted.clear();
  // The sandbox keeps so many entries only: effects are judged, requests would push them out.
  world.state.run("delete from ledger where kind <> 'effect'");
  globalThis.gc?.();
  const tables = world.store.all<{ name: string }>(
    "select name from sqlite_master where type = 'table' and name not like 'sqlite_%' and name not like 'kysely%'",
  );
  const rows = tables.map(({ name }): [string, number] => [
    name,
    world.store.all<{ n: number }>(`select count(*) as n from "${name}"`)[0]?.n ?? 0,
  ]);
  const hires = Math.max(1, Object.fromEntries(rows)['hires'] ?? 0);
  return {
    'heap, MB': process.memoryUsage().heapUsed / 1e6,
    'timers and waits': world.timeline.waiting(),
    'workflows and attempts': world.temporal.running().length + world.temporal.busy(),
    'a hire, s': took() / 1000,
    // All of them are listed by each reconcile.
    'work a person in the stage, ms': workMs / hires,
    ...Object.fromEntries(rows.map(([name, n]) => (OF_HIRES.has(name) ? [`${name} a hire`, n / hires] : [name, n]))),
  };
}

function judge(world: World): string[] {
  const facts = gatherFacts(world);
  return [
    ...world.violations,
    ...checkFinished(world, facts),
    ...checkEmployees(world, facts),
    ...checkEnrolments(world, facts),
    ...checkTerminations(world, facts),
    ...checkClaims(world),
    ...checkHolds(world, 'answered'),
    ...world.temporal.failures.map(({ workflowId, error }) => `I8 ${workflowId} failed: ${String(error)}`),
  ];
}
