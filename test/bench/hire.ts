import { setTimeout as pause } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { cpuSecondsOf } from '../cost/process-cpu.ts';
import { startCountedWorld } from '../harness/count-calls.ts';
import { takeApplicants } from '../harness/hiring.ts';
import type { Applicant, World } from '../harness/world.ts';
import { type PostgresWorld, transactionsOf, withClient, withPostgresWorld, withTemporal } from './bench-world.ts';
import { type BareHires, startBareHires } from './floor-hire.ts';
import { type Bench, type Ledger, openLedger, type Scale } from './measured.ts';
import { costOf, type TemporalCost } from './temporal-cost.ts';

const BARE_ALONE = 'bare workflow, alone';
const BARE_TOGETHER = 'bare workflows at once';

/** From the move in the partner until the store says that the hire is done, alone and many at once. */
export const hire: Bench = {
  name: 'hire',
  leavesOut:
    'onboarding, which a person does, and an HR system that takes its time: its calls are Postgres beside us. ' +
    'Worker, Temporal, Postgres, receiver and sandbox share the machine; whose processors it needs stands in the ' +
    'last rows.',
  measure: (scale) =>
    withTemporal((temporalAddress) => {
      const [alone, together] = scale.quick ? [3, 20] : [10, 100];
      const candidates = (alone + together) * scale.rounds + 10;
      const options = { temporalAddress, jobs: 1, candidates, startDates: true };
      const measureIn = (opened: PostgresWorld) =>
        withClient(temporalAddress, (client) => measure({ opened, client, alone, together, scale }, temporalAddress));
      return withPostgresWorld(options, measureIn, (world) => startCountedWorld('skip', world));
    }),
};

interface Play {
  opened: PostgresWorld;
  client: Client;
  alone: number;
  together: number;
  scale: Scale;
}

async function measure(play: Play, address: string) {
  const { opened, client, alone, together, scale } = play;
  const ledger = openLedger('hire');
  const bare = await startBareHires(client, address);
  const people = await takeApplicants(opened.world, (alone + together) * scale.rounds);
  const take = (count: number): Applicant[] => people.splice(0, count);
  try {
    for (let round = 1; round <= scale.rounds; round += 1) {
      await playAlone(play, ledger, bare, take(alone));
      await playTogether(play, ledger, bare, take(together));
    }
  } finally {
    bare.stop();
  }
  return { measured: ledger.measured() };
}

/** One after the other. Its foreign calls are as many as the sandbox counts, each as long as a bare one. */
async function playAlone(play: Play, ledger: Ledger, bare: BareHires, people: readonly Applicant[]): Promise<void> {
  const { opened, client, scale } = play;
  const { world } = opened;
  const callsBefore = await callsOf(world);
  let seconds = 0;
  for (const one of people) seconds += (await playHires(opened, [one])) / people.length;
  const calls = ((await callsOf(world)) - callsBefore) / people.length;
  const { shape, each } = await shapeOf(client, people.length);
  let floor = 0;
  for (const _one of people) floor += (await bare.play(1, shape)) / people.length;
  const foreign = calls * (await roundTrip(world));
  ledger.add(BARE_ALONE, 'ms', floor * 1000);
  ledger.add('hire, alone', 'ms', seconds * 1000, { floor: BARE_ALONE });
  ledger.add('hire beyond its calls, alone', 'ms', (seconds - foreign) * 1000, {
    floor: BARE_ALONE,
    goal: { most: 1.5 },
  });
  ledger.add('partner calls of a hire alone', 'calls', calls);
  ledger.add('actions of a hire', 'actions', each.actions);
  ledger.add('events of a hire', 'events', each.events);
  ledger.add('history of a hire', 'KB', each.historyBytes / 1024);
  scale.say(`alone: ${(seconds * 1000).toFixed(0)} ms a hire, bare ${(floor * 1000).toFixed(0)} ms, ${calls} calls`);
}

/** All at once: what one worker sustains, and whose processor time it takes. */
async function playTogether(play: Play, ledger: Ledger, bare: BareHires, people: readonly Applicant[]): Promise<void> {
  const { opened, client, scale } = play;
  const { shape } = await shapeOf(client, 1);
  const floor = await bare.play(people.length, shape);
  const before = { cpu: cpuOf(), calls: await callsOf(opened.world), transactions: await transactionsOf(opened.store) };
  const seconds = await playHires(opened, people);
  const cpu = cpuOf();
  const each = (now: number, was: number): number => (now - was) / people.length;
  ledger.add(BARE_TOGETHER, 'a minute', (people.length / floor) * 60);
  ledger.add('hires at once', 'a minute', (people.length / seconds) * 60, { floor: BARE_TOGETHER });
  ledger.add('partner calls of one of many', 'calls', each(await callsOf(opened.world), before.calls));
  ledger.add(
    'store transactions of a hire',
    'transactions',
    each(await transactionsOf(opened.store), before.transactions),
  );
  for (const who of Object.keys(programs) as (keyof typeof programs)[])
    ledger.add(`CPU of ${who}`, 'ms a hire', each(cpu[who], before.cpu[who]) * 1000);
  scale.say(`${people.length} at once: ${seconds.toFixed(2)} s, bare ${floor.toFixed(2)} s`);
}

const programs = {
  worker: /main\.ts worker /,
  Temporal: /temporal.* server start-dev/,
  sandbox: /main\.ts sandbox /,
  receiver: /main\.ts serve /,
} as const;

function cpuOf(): Record<keyof typeof programs, number> {
  const entries = Object.entries(programs).map(([who, command]) => [who, cpuSecondsOf(command)]);
  return Object.fromEntries(entries) as Record<keyof typeof programs, number>;
}

/** Seconds, by the store's own table. */
async function playHires({ world, store }: PostgresWorld, people: readonly Applicant[]): Promise<number> {
  const ids = people.map(({ jobCandidateId }) => jobCandidateId);
  const beganAt = performance.now();
  await world.control.act('move', { jobCandidateIds: ids, stageType: 'HIRED' });
  const done = "select count(*) as n from hires where state = 'done' and job_candidate_id = any($1)";
  for (;;) {
    const { rows } = await store.query<{ n: string }>(done, [ids.map(String)]);
    if (Number(rows[0]?.n) === ids.length) return (performance.now() - beganAt) / 1000;
    await pause(5);
  }
}

async function callsOf({ control }: World): Promise<number> {
  const counts = await control.counts({ kind: 'request' });
  return Object.values(counts.request ?? {}).reduce((sum, count) => sum + count, 0);
}

/** Seconds of one small call to the sandbox, as a client makes it that waits for no permit. */
async function roundTrip({ partner }: World): Promise<number> {
  const times = 20;
  const beganAt = performance.now();
  for (let call = 0; call < times; call += 1) await partner.jobs.list({ query: { perPage: 10 } });
  return (performance.now() - beganAt) / 1000 / times;
}

/** Of the last hires that ended, as Temporal kept them. */
async function shapeOf(client: Client, hires: number) {
  const all = await costOf(client, (workflowId) => workflowId.includes('/hire/'));
  const each = (value: number): number => value / all.workflows;
  const cost: TemporalCost = { ...all, ...mapValues(all, each) };
  if (all.workflows < hires) throw new Error(`Temporal shows ${all.workflows} hires, not ${hires}.`);
  const shape = { activities: Math.round(cost.activities), signals: Math.max(1, Math.round(cost.signals)) };
  return { shape, each: cost };
}

function mapValues(cost: TemporalCost, change: (value: number) => number): TemporalCost {
  return Object.fromEntries(
    Object.entries(cost).map(([key, value]) => [key, change(value)]),
  ) as unknown as TemporalCost;
}
