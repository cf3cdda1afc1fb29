import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { takeApplicants } from './hiring.ts';
import { type Applicant, type Process, until, type World } from './world.ts';

/** Every wait of the product shortened, so that a killed worker's work goes on within seconds. */
export const killEnv: NodeJS.ProcessEnv = {
  HIREBRIDGE_HEARTBEAT_MS: '1500',
  HIREBRIDGE_GIVE_UP_MS: '3000',
  HIREBRIDGE_REQUEST_MS: '1000',
  HIREBRIDGE_PARTNER_LAG_MS: '200',
  HIREBRIDGE_STICKY_MS: '500',
  HIREBRIDGE_RETRY_MS: '200',
  HIREBRIDGE_PAUSED_MS: '1000',
  LOG_LEVEL: 'warn',
};

/** One hire without faults, every point of it recorded: the list of points is what the product really passes. */
export async function recordPoints(world: World, applicant: Applicant): Promise<string[]> {
  const listFile = join(world.dir, 'points.txt');
  const worker = await world.startWorker({ HIREBRIDGE_KILL_LIST: listFile });
  await world.control.act('move', { jobCandidateIds: [applicant.jobCandidateId], stageType: 'HIRED' });
  await playUntilWrittenBack(world, 1);
  await until('the end of the hire', async () =>
    (await readFile(listFile, 'utf8')).includes('endHire/store.update.hires/after'),
  );
  await worker.stop();
  return (await readFile(listFile, 'utf8')).trimEnd().split('\n');
}

/** The points of the hire itself, each once, in the order of their first passing. */
export function hirePoints(passed: readonly string[]): string[] {
  const elsewhere = /^(loop|sweepTenant)\//;
  return [...new Set(passed)].filter((point) => !elsewhere.test(point));
}

/** Finishes each onboarding of the ledger once it is there, until so many Employee IDs are written back. */
export async function playUntilWrittenBack(world: World, count: number, timeoutMs = 120_000): Promise<void> {
  await until(
    `${count} Employee IDs written back`,
    async () => {
      await finishFromLedger(world);
      return new Set((await world.effects('external-status')).map((row) => row.subject)).size >= count;
    },
    { timeoutMs, everyMs: 200 },
  );
}

const finished = new WeakMap<World, Set<string>>();

/** By the ledger alone, without a call to the partner API: the ledger's requests are then the product's own. */
export async function finishFromLedger(world: World): Promise<void> {
  const done = finished.get(world) ?? new Set<string>();
  finished.set(world, done);
  for (const row of await world.effects('enrolment')) {
    const onboardingCandidateId = String(row.subject);
    if (done.has(onboardingCandidateId)) continue;
    await world.control.act('finishOnboarding', { onboardingCandidateId });
    done.add(onboardingCandidateId);
  }
}

export interface Kill {
  point: string;
  /** Whether the worker died there. */
  died: boolean;
}

/**
 * Kills one worker after another, each at its point, while hires are under way: every time `perKill` people are hired, so that there is
 * something to die at. The last worker of the row is not armed and is left running.
 */
export async function killRow(
  world: World,
  points: readonly string[],
  people: Applicant[],
  perKill: number,
  onKill: (kill: Kill, index: number) => void = () => undefined,
): Promise<{ kills: Kill[]; hired: Applicant[]; last: Process }> {
  const kills: Kill[] = [];
  const hired: Applicant[] = [];
  for (const [index, point] of points.entries()) {
    const worker = await world.startWorker({ HIREBRIDGE_KILL_AT: point });
    const next = people.splice(0, perKill);
    hired.push(...next);
    if (next.length > 0)
      await world.control.act('move', { jobCandidateIds: next.map((one) => one.jobCandidateId), stageType: 'HIRED' });
    const kill = { point, died: await diesWithin(world, worker, 30_000) };
    if (!kill.died) await worker.kill();
    kills.push(kill);
    onKill(kill, index);
  }
  return { kills, hired, last: await world.startWorker() };
}

async function diesWithin(world: World, worker: Process, ms: number): Promise<boolean> {
  let ended: number | NodeJS.Signals | null | undefined;
  void worker.ended.then((how) => {
    ended = how;
  });
  for (const end = performance.now() + ms; performance.now() < end; await pause(100)) {
    if (ended !== undefined) return ended === 'SIGKILL';
    await finishFromLedger(world);
  }
  return false;
}

export async function peopleToHire(world: World, count: number): Promise<Applicant[]> {
  return takeApplicants(world, count);
}

/** A generator of numbers in [0, 1) that a seed repeats. */
export function choose<T>(list: readonly T[], count: number, random: () => number): T[] {
  const left = [...list];
  return Array.from({ length: Math.min(count, left.length) }, () =>
    left.splice(Math.floor(random() * left.length), 1),
  ).flat();
}
