import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HrisSource } from '../../src/counterparts/hris-sources.ts';
import { startTraffic, type Traffic } from '../harness/hire-traffic.ts';
import { readStatus, takeApplicants, untilBaseline } from '../harness/hiring.ts';
import { type Evidence, gatherEvidence } from '../harness/judge-hires.ts';
import { type Kill, killWorkerAt } from '../harness/kill-worker.ts';
import { distinct, recordPoints } from '../harness/recorded-failpoints.ts';
import { shortWaits } from '../harness/short-waits.ts';
import { type Applicant, startWorld, until, type World } from '../harness/world.ts';
import type { KillRow } from './kill-rows.ts';

export interface Settings {
  temporalAddress: string;
  times: number;
  inFlight: number;
  /** Instead of an SQL table. */
  hris?: HrisSource | undefined;
}

/** People of one world. A kill uses up to about twenty. */
const PEOPLE = 700;
const FEW = 60;
/** Hired before go-live: a reconcile clears what it noted of them, which is a point of its own. */
const HIRED_BEFORE = 3;
const GO_LIVE = 'go-live ';

async function openWorld({ temporalAddress, hris }: Settings, people: number, hired = 0): Promise<World> {
  const otherHris = await hris?.open();
  const world = await startWorld({
    temporalAddress,
    ...(otherHris === undefined ? {} : { otherHris }),
    jobs: 4,
    candidates: people + hired,
    hired,
    // Reconciles as often as that are under way at most kills, and their own points come up.
    policies: 'onboarding: { flow: "{flow}" }\n  reconcile: { every: 2s }\n  cancel: { grace: 2s }',
    env: { ...shortWaits, HIREBRIDGE_BUNDLE_DIR: join(tmpdir(), 'hirebridge-marathon-bundle') },
  });
  const close = async () => {
    await world.close();
    await otherHris?.close();
  };
  return { ...world, close };
}

/**
 * Every point that a faultless run passes; those passed only before a tenant's baseline is complete begin with `go-live
 * `.
 */
export async function listPoints(settings: Settings): Promise<string[]> {
  const world = await openWorld(settings, 40, HIRED_BEFORE);
  try {
    await world.startReceiver();
    const recorded = await recordPoints(world, await takeApplicants(world, 12));
    const hires = distinct(recorded.hires);
    const once = distinct(recorded.goLive).filter((point) => !hires.includes(point));
    return [...hires, ...once.map((point) => GO_LIVE + point)];
  } finally {
    await world.close();
  }
}

interface Killed {
  point: string;
  kills: Kill[];
}

/**
 * Kills at each point in turn in one world, lets everything end, and judges. `rest` are points it had no people left
 * for.
 */
export async function killInOneWorld(
  settings: Settings,
  points: readonly string[],
): Promise<{ rows: KillRow[]; rest: string[] }> {
  const world = await openWorld(settings, PEOPLE, HIRED_BEFORE);
  try {
    await world.startReceiver();
    const first = await world.startWorker();
    await untilBaseline(world);
    await first.stop();
    const traffic = startTraffic(world, await applicantsOf(world));
    const killed: Killed[] = [];
    for (const point of points) {
      if (traffic.left() < (FEW * settings.times) / 5) break;
      killed.push(await killTimes(world, traffic, point, settings));
    }
    await drain(world, traffic);
    const evidence = await gatherEvidence(world);
    const rows = killed.map((one) => rowOf(one, evidence));
    const strays = evidence.all.employees - traffic.hired.length + evidence.all.credits - traffic.hired.length;
    if (strays !== 0) throw new Error(`${strays} employees or credits belong to no hire: ${world.dir}`);
    return { rows, rest: points.slice(killed.length) };
  } finally {
    await world.close();
  }
}

async function applicantsOf(world: World): Promise<Applicant[]> {
  const people = new Map((await world.applicants()).map((one) => [one.candidateId, one]));
  return [...people.values()];
}

async function killTimes(
  world: World,
  traffic: Traffic,
  point: string,
  { times, inFlight }: Settings,
): Promise<Killed> {
  const kills: Kill[] = [];
  let deepest = 3;
  // A kill with fewer hires under way than asked for does not count and is done again.
  for (let tries = 0; kills.length < times && tries < times + 3; tries += 1) {
    const nth = (kills.length % deepest) + 1;
    const kill = await killWorkerAt(world, traffic, `${point}#${nth}`, { inFlight });
    if (kill.died && kill.inFlight.length >= inFlight) kills.push(kill);
    else process.stderr.write(`${point}#${nth}: died ${kill.died}, ${kill.inFlight.length} under way, again\n`);
    // Some points are passed once in a worker's life.
    if (!kill.died) deepest = 1;
  }
  return { point, kills };
}

async function drain(world: World, traffic: Traffic): Promise<void> {
  await traffic.keep(0);
  const last = await world.startWorker();
  await until('everybody has an Employee ID', async () => (await traffic.inFlight()).length === 0, {
    timeoutMs: 180_000,
  }).catch(async (error: Error) => {
    const ids = (await traffic.inFlight()).map((one) => one.jobCandidateId);
    throw new Error(`${error.message}: ${ids.join(', ')} in ${world.dir}`);
  });
  await until('every hire is done', async () => ((await readStatus(world)).hires['open'] ?? 0) === 0, {
    everyMs: 500,
  });
  await traffic.close();
  await last.stop();
}

function rowOf({ point, kills }: Killed, evidence: Evidence): KillRow {
  const people = new Map(kills.flatMap((kill) => kill.inFlight).map((one) => [one.jobCandidateId, one]));
  const inFlight = Math.min(...kills.map((kill) => kill.inFlight.length));
  return { point, killed: kills.length, inFlight, ...evidence.of(people.values()) };
}

/**
 * Some points of a tenant's first reconcile, each once: nobody may be hired before it is complete, so the hires come
 * after it.
 */
export async function killAtGoLive(settings: Settings, points: readonly string[]): Promise<KillRow[]> {
  const rows = points.map((point) => ({
    point,
    killed: 0,
    inFlight: 0,
    hires: 0,
    employees: 0,
    credits: 0,
    verified: 0,
  }));
  for (let time = 0; time < settings.times; time += 1) {
    const world = await openWorld(settings, 40, HIRED_BEFORE);
    try {
      await world.startReceiver();
      const traffic = startTraffic(world, await takeApplicants(world, settings.inFlight));
      for (const row of rows) {
        const kill = await killWorkerAt(world, traffic, row.point.slice(GO_LIVE.length), { inFlight: -4 });
        if (kill.died) row.killed += 1;
      }
      const last = await world.startWorker();
      await untilBaseline(world);
      await last.stop();
      await traffic.keep(settings.inFlight);
      await drain(world, traffic);
      const judged = (await gatherEvidence(world)).of(traffic.hired);
      for (const row of rows)
        for (const name of ['hires', 'employees', 'credits', 'verified'] as const) row[name] += judged[name];
    } finally {
      await world.close();
    }
  }
  return rows;
}
