import { fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { type Applicant, type Process, startWorld, until, type World } from '../harness/world.ts';
import { TENANT } from '../harness/world-tenant.ts';
import { addNeighbour, NEIGHBOUR, type Neighbour, type NeighbourOptions } from './neighbour.ts';
import { startSwitchableProxy } from './switchable-proxy.ts';
import type { Scene, Trouble } from './troubles.ts';

const IDLE = fileURLToPath(new URL('./idle-process.ts', import.meta.url));

export interface CaseOptions {
  temporalAddress: string;
  storeUrl?: string;
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
    candidates: hires * 2 + 12,
    ...(storeUrl === undefined ? {} : { storeUrl }),
    env: { LOG_LEVEL: 'error' },
  });
  const silent = await startSwitchableProxy(1);
  silent.fallSilent();
  const idle = startIdle();
  const stop = new AbortController();
  const onboarding = finishOnboardings(world, stop.signal);
  const store = await openStore(world.storeUrl);
  const neighbours: Neighbour[] = [];
  const addNext = async (): Promise<Neighbour> => {
    const neighbour = await addNeighbour(world, neighbourOptions(trouble, options.scale, silent.port));
    neighbours.push(neighbour);
    return neighbour;
  };
  try {
    return await play({ trouble, options, world, store, idle, addNext });
  } finally {
    stop.abort();
    await onboarding;
    await store.close();
    await world.close();
    idle.end();
    await Promise.all([...neighbours, silent].map((one) => one.close()));
  }
}

function neighbourOptions({ options, hangs }: Trouble, scale: number, silentPort: number): NeighbourOptions {
  return {
    candidates: 80,
    hired: 0,
    ...options?.(scale),
    ...(hangs === 'notify' ? { notify: `http://127.0.0.1:${silentPort}/` } : {}),
    ...(hangs === 'hris' ? { hrisUrl: `postgres://hr@127.0.0.1:${silentPort}/hr` } : {}),
  };
}

interface Stage {
  trouble: Trouble;
  options: CaseOptions;
  world: World;
  store: Store;
  idle: ReturnType<typeof startIdle>;
  addNext: () => Promise<Neighbour>;
}

async function play({ trouble, options, world, store, idle, addNext }: Stage): Promise<Outcome> {
  const early = trouble.early === true;
  const first = early ? undefined : await addNext();
  const people = (await world.applicants()).values();
  const receiver = await world.startReceiver();
  let worker = await world.startWorker();
  await untilBaseline(store, TENANT);
  if (!early) await untilBaseline(store, NEIGHBOUR);
  const alone = await hireSteadily(world, store, people, options);
  if (early) await worker.stop();
  const scene: Scene = { neighbour: first ?? (await addNext()), store, scale: options.scale };
  await trouble.begin(scene);
  if (early) worker = await world.startWorker();
  const look = async () => ({
    worker: await longestBlock(worker),
    receiver: await longestBlock(receiver),
    idle: await idle.longestBlock(),
  });
  // The metrics begin anew with each look.
  await look();
  const beside = await hireSteadily(world, store, people, options);
  const blocked = await look();
  const rightAgain = await recover(trouble, scene, options.patienceMs);
  const before = performance.now();
  await worker.stop();
  return { alone, beside, blocked, close: performance.now() - before, rightAgain };
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

/** People of the healthy tenant finish their onboarding as soon as it begins. */
async function finishOnboardings({ control, effects }: World, stop: AbortSignal): Promise<void> {
  const seen = new Set<string>();
  while (!stop.aborted) {
    const rows = await effects('enrolment');
    for (const { subject } of rows.filter((row) => !seen.has(String(row.subject)))) {
      seen.add(String(subject));
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
