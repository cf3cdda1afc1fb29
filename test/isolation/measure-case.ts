import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { ControlClient } from '../../src/sandbox/control/client.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { type Applicant, type Process, startWorld, until, type World } from '../harness/world.ts';
import { TENANT } from '../harness/world-tenant.ts';
import { buildStage, type Stage } from './build-stage.ts';
import { NEIGHBOUR } from './neighbour.ts';
import type { Scene } from './trouble-steps.ts';
import type { Trouble } from './troubles.ts';

const IDLE = fileURLToPath(new URL('./idle-process.ts', import.meta.url));

const WARM_UP = 2;

export interface CaseOptions {
  temporalAddress: string;
  storeUrl?: string;
  /** A Postgres server for the HR systems of troubles that ask for one. */
  postgres: () => Promise<string>;
  /** Hires of the healthy tenant in each half. */
  hires: number;
  everyMs: number;
  scale: number;
  /** How long the tenant in trouble may take to be right again, ms. */
  patienceMs: number;
}

/** Milliseconds. */
export interface Outcome {
  alone: number[];
  beside: number[];
  /** The longest that event loops stood still beside the trouble; `idle` of a process that does nothing. */
  blocked: { worker: number; receiver: number; idle: number };
  /** Calls of the partner of the tenant in trouble while the other one hired beside it. */
  calls: number;
  close: number;
  /** Undefined: the trouble does not end within a test. */
  rightAgain: number | undefined | 'never';
}

/** The healthy tenant's hires alone, then beside the trouble, in one world. */
export async function measureCase(trouble: Trouble, options: CaseOptions): Promise<Outcome> {
  const { temporalAddress, storeUrl, hires } = options;
  const world = await startWorld({
    temporalAddress,
    jobs: 2,
    candidates: hires * 2 + WARM_UP + 12,
    ...(storeUrl === undefined ? {} : { storeUrl }),
    env: { LOG_LEVEL: 'error' },
  });
  const idle = startIdle();
  const stop = new AbortController();
  const onboardings = [finishOnboardings(world.control, stop.signal)];
  const store = await openStore(world.storeUrl);
  const stage = await buildStage(trouble, { world, store, scale: options.scale, postgres: options.postgres });
  try {
    if (trouble.early !== true) await stage.add();
    if (trouble.asksHris === true) onboardings.push(finishOnboardings(stage.scene().neighbour.control, stop.signal));
    return await play(trouble, options, { world, store, idle, stage });
  } finally {
    stop.abort();
    await Promise.all(onboardings);
    await store.close();
    await world.close();
    idle.end();
    await stage.close();
  }
}

interface Parts {
  world: World;
  store: Store;
  idle: ReturnType<typeof startIdle>;
  stage: Stage;
}

async function play(trouble: Trouble, options: CaseOptions, { world, store, idle, stage }: Parts): Promise<Outcome> {
  const people = (await world.applicants()).values();
  await stage.start();
  await untilBaseline(store, TENANT);
  if (trouble.early !== true) await untilBaseline(store, NEIGHBOUR);
  // A process is slow at first; that is no measure of what a hire takes.
  await hireSteadily(world, store, people, { ...options, hires: WARM_UP });
  const alone = await hireSteadily(world, store, people, options);
  if (trouble.early === true) await stage.add();
  const scene = stage.scene();
  await trouble.begin(scene);
  const look = async () => ({
    worker: await longestBlock(stage.worker()),
    receiver: await longestBlock(stage.receiver()),
    idle: await idle.longestBlock(),
  });
  // The metrics begin anew with each look.
  await look();
  const before = await countCalls(scene);
  const beside = await hireSteadily(world, store, people, options);
  const blocked = await look();
  const calls = (await countCalls(scene)) - before;
  // In the middle of the trouble, with whatever hangs there.
  const closing = performance.now();
  await stage.worker().stop();
  const close = performance.now() - closing;
  await stage.start();
  return { alone, beside, blocked, calls, close, rightAgain: await recover(trouble, scene, options.patienceMs) };
}

async function countCalls({ neighbour }: Scene): Promise<number> {
  const { request = {} } = await neighbour.control.counts({ kind: 'request' });
  return Object.values(request).reduce((sum, count) => sum + count, 0);
}

async function untilBaseline(store: Store, tenantId: string): Promise<void> {
  await until(
    `the baseline of ${tenantId}`,
    async () => {
      const rows = await store.kysely.selectFrom('tenants').select(['tenant_id', 'baseline_done_at']).execute();
      return rows.some((row) => row.tenant_id === tenantId && row.baseline_done_at !== null);
    },
    { timeoutMs: 120_000 },
  );
}

/** One hire after the other, each at its time, whether or not the ones before have ended; what each took, ms. */
async function hireSteadily(
  world: World,
  store: Store,
  people: Iterator<Applicant>,
  { hires, everyMs }: CaseOptions,
): Promise<number[]> {
  const begun: Promise<number>[] = [];
  for (let n = 0; n < hires; n += 1) {
    const { jobCandidateId } = people.next().value as Applicant;
    begun.push(hireOne(world, store, jobCandidateId));
    await pause(everyMs);
  }
  return Promise.all(begun);
}

async function hireOne(world: World, store: Store, jobCandidateId: number): Promise<number> {
  const before = Date.now();
  await world.control.act('move', { jobCandidateIds: [jobCandidateId], stageType: 'HIRED' });
  const done = store.kysely
    .selectFrom('hires')
    .select('ended_at')
    .where('tenant_id', '=', TENANT)
    .where('job_candidate_id', '=', `${jobCandidateId}`)
    .where('state', '=', 'done');
  const row = await until(`hire ${jobCandidateId}`, () => done.executeTakeFirst(), { timeoutMs: 180_000 });
  return Number(row.ended_at) - before;
}

/** People finish their onboarding as soon as it begins. */
async function finishOnboardings(control: ControlClient, stop: AbortSignal): Promise<void> {
  let afterSeq = 0;
  while (!stop.aborted) {
    for (const { seq, subject } of await control.ledger({
      kind: 'effect',
      name: 'enrolment',
      afterSeq,
      limit: 1_000,
    })) {
      afterSeq = seq;
      await control.act('finishOnboarding', { onboardingCandidateId: String(subject) });
    }
    await pause(100);
  }
}

/** Since the last look: the metrics forget what they showed. */
async function longestBlock({ facts }: Process): Promise<number> {
  const text = await (await fetch(`${facts['health']}/metrics`)).text();
  const seconds = /^hirebridge_nodejs_eventloop_lag_max_seconds\S* (\S+)$/m.exec(text)?.[1];
  return Number(seconds) * 1_000;
}

function startIdle(): { longestBlock(): Promise<number>; end(): void } {
  const child = fork(IDLE);
  return {
    async longestBlock() {
      const answered = once(child, 'message');
      child.send('look');
      return Number((await answered)[0]);
    },
    end: () => void child.kill(),
  };
}

async function recover(trouble: Trouble, scene: Scene, patienceMs: number): Promise<Outcome['rightAgain']> {
  const { isRight } = trouble;
  if (isRight === undefined) return undefined;
  await trouble.end?.(scene);
  const before = performance.now();
  try {
    await until('the tenant is right again', () => isRight(scene), { timeoutMs: patienceMs });
    return performance.now() - before;
  } catch {
    return 'never';
  }
}

/** Of at least one value. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}
