import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { type Applicant, type Process, startWorld, until, type World } from '../harness/world.ts';
import { countWrites, sumOfRows } from '../stream/count-writes.ts';
import { idleMegabytes } from '../stream/resident-memory.ts';
import { addFleet } from './add-fleet.ts';

const run = promisify(execFile);
const LOAD = fileURLToPath(new URL('./load-files-process.ts', import.meta.url));
/** Clock ticks a second in /proc. */
const TICKS = 100;
const SETTLE_WINDOWS = 20;
/** What a worker writes of itself in a minute, at most. */
const OWN_ROWS = 30;

export interface FleetRun {
  temporalAddress: string;
  tenants: number;
  streaming: number;
  every: string;
  /** How long each rest is watched, seconds. */
  seconds: number;
  say: (line: string) => void;
}

/** One worker at rest, with one tenant or with many. */
export interface Rest {
  megabytes: number;
  /** Of one core. */
  percent: number;
  /** Rows written to the store, a tenant and minute. */
  writes: number;
  /** Written rows by table. */
  byTable: Record<string, number>;
  /** From the move in the partner to the hire's row in the store, ms. */
  hireMs: number;
}

export interface FleetNumbers {
  one: Rest;
  many: Rest;
  loadMs: number;
  /** Wall time of `hirebridge status`, and of a process that does nothing. */
  statusMs: number;
  nodeMs: number;
}

/** One worker first with one tenant, then with all of them. */
export async function measureFleet(options: FleetRun): Promise<FleetNumbers> {
  const { temporalAddress, tenants, streaming, every, say } = options;
  const policies = `onboarding: { flow: "{flow}" }\n  reconcile: { every: ${every} }`;
  const world = await startWorld({ temporalAddress, policies, candidates: 12, env: { LOG_LEVEL: 'error' } });
  let endFleet = async (): Promise<void> => undefined;
  const store = await openStore(world.storeUrl);
  try {
    const people = (await world.applicants()).values();
    await world.startReceiver();
    const first = await world.startWorker();
    await untilBaselines(store, 1);
    const one = await watchRest({ ...options, tenants: 1 }, world, store, first, people);
    say(`one tenant: ${JSON.stringify(one)}`);
    await first.stop();
    endFleet = await addFleet(world, { tenants: tenants - 1, streaming, every });
    const loadMs = Number((await run(process.execPath, [LOAD, world.tenantsDir])).stdout);
    const { code, stderr } = await world.cli(['tenant', 'apply', '--yes', '--unchecked']);
    if (code !== 0) throw new Error(stderr);
    say(`files load in ${Math.round(loadMs)} ms`);
    const worker = await world.startWorker();
    await untilBaselines(store, tenants);
    const many = await watchRest(options, world, store, worker, people);
    say(`${tenants} tenants: ${JSON.stringify(many)}`);
    const statusMs = await wallTime(() => world.cli(['status']));
    const nodeMs = await wallTime(() => run(process.execPath, ['-e', '0']));
    return { one, many, loadMs, statusMs, nodeMs };
  } finally {
    await store.close();
    await world.close();
    await endFleet();
  }
}

export async function untilBaselines(store: Store, tenants: number): Promise<void> {
  const done = async (): Promise<boolean> => {
    const rows = store.kysely.selectFrom('tenants').select((eb) => eb.fn.countAll<number>().as('count'));
    const { count } = await rows.where('baseline_done_at', 'is not', null).executeTakeFirstOrThrow();
    return Number(count) === tenants;
  };
  await until(`the baselines of ${tenants}`, done, { timeoutMs: 1_200_000, everyMs: 1_000 });
}

async function watchRest(
  { seconds, tenants }: FleetRun,
  world: World,
  store: Store,
  worker: Process,
  people: Iterator<Applicant>,
): Promise<Rest> {
  const writes = countWrites(world.storeUrl.slice('sqlite:'.length));
  await untilSettled(async () => sumOfRows(writes.take()), { tenants, seconds });
  const began = performance.now();
  const pid = worker.child.pid ?? 0;
  const [percent = 0] = await shareOfCore([worker], seconds);
  const spent = (performance.now() - began) / 1_000;
  const byTable = writes.take();
  const rows = sumOfRows(byTable);
  const megabytes = await idleMegabytes(pid);
  const hireMs = await hireOne(world, store, people);
  return { megabytes, percent, writes: rows / tenants / (spent / 60), byTable, hireMs };
}

/**
 * Until the start has nothing left to do: two windows in a row with at most a row a tenant and minute. A fleet that
 * never comes to that is watched all the same, and its numbers say so.
 */
export async function untilSettled(
  rowsWritten: () => Promise<number>,
  { tenants, seconds }: { tenants: number; seconds: number },
): Promise<void> {
  const windowMs = Math.min(60_000, seconds * 500);
  const most = (Math.max(tenants, OWN_ROWS) * windowMs) / 60_000;
  await rowsWritten();
  for (let quiet = 0, windows = 0; quiet < 2 && windows < SETTLE_WINDOWS; windows += 1) {
    await pause(windowMs);
    quiet = (await rowsWritten()) <= most ? quiet + 1 : 0;
  }
}

/** Percent of a core that each of these processes takes in the next seconds. */
export async function shareOfCore(processes: readonly Process[], seconds: number): Promise<number[]> {
  const pids = processes.map(({ child }) => child.pid ?? 0);
  const before = await Promise.all(pids.map(cpuTicks));
  const began = performance.now();
  await pause(seconds * 1_000);
  const spent = (performance.now() - began) / 1_000;
  const after = await Promise.all(pids.map(cpuTicks));
  return after.map((ticks, n) => ((ticks - (before[n] ?? 0)) / TICKS / spent) * 100);
}

async function cpuTicks(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(fields[11]) + Number(fields[12]);
}

export async function hireOne(world: World, store: Store, people: Iterator<Applicant>): Promise<number> {
  const { jobCandidateId } = people.next().value as Applicant;
  const before = Date.now();
  await world.control.act('move', { jobCandidateIds: [jobCandidateId], stageType: 'HIRED' });
  const opened = store.kysely
    .selectFrom('hires')
    .select('opened_at')
    .where('tenant_id', '=', world.tenant)
    .where('job_candidate_id', '=', `${jobCandidateId}`);
  const row = await until('the hire', () => opened.executeTakeFirst(), { timeoutMs: 120_000 });
  return Number(row.opened_at) - before;
}

async function wallTime(act: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await act();
  return performance.now() - before;
}
