import { setTimeout as pause } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { allEndpoints } from '../../src/partner/contract/index.ts';
import { hiresInState } from '../../src/store/hires.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { reconcileScheduleId } from '../../src/temporal/ids.ts';
import { type Process, startWorld, until, type World } from '../harness/world.ts';
import { TENANT } from '../harness/world-tenant.ts';

export interface Company {
  jobs: number;
  /** People on the jobs who are not hired. */
  candidates: number;
  /** All of them on one job. */
  hired: number;
}

export interface BaselineOptions extends Company {
  temporalAddress: string;
  /** How long the partner takes for each answer, ms. */
  latencyMs: number;
  /** When the worker is killed by SIGKILL, again and again until the baseline is over; never where it is left out. */
  nextKill?: NextKill;
}

/** Resolves when the next kill is due, or soon after the signal says that none is. */
type NextKill = (world: World, over: AbortSignal) => Promise<unknown>;

export interface Baseline {
  /** Pages of lists that the partner was asked for, by operation. */
  calls: Map<string, number>;
  /** Everybody recorded as hired before go-live. */
  recorded: string[];
  kills: number;
  ms: number;
}

/** What the issue allows on a list at rest. */
export function mostCalls({ jobs, hired }: Company): number {
  return Math.floor(1.2 * leastCalls({ jobs, hired }));
}

export function leastCalls({ jobs, hired }: Pick<Company, 'jobs' | 'hired'>): number {
  return Math.ceil(jobs / 100) + 2 * Math.ceil(hired / 100);
}

const TIMEOUT_MS = 1_800_000;

/** Takes a company live with the product's own worker, then lets it reconcile once more with nothing changed. */
export async function measureBaseline(options: BaselineOptions): Promise<{ baseline: Baseline; quiet: Quiet }> {
  const world = await startWorld({
    temporalAddress: options.temporalAddress,
    jobs: 1,
    candidates: 0,
    hired: options.hired,
    startDates: false,
    env: { LOG_LEVEL: 'warn', HIREBRIDGE_HEARTBEAT_MS: '2000', HIREBRIDGE_RETRY_MS: '200' },
  });
  const store = await openStore(world.storeUrl);
  try {
    await world.control.act('seed', { jobs: options.jobs - 1, candidates: options.candidates });
    await world.control.act('addFault', { kind: 'latency', ms: options.latencyMs });
    const baseline = await takeLive(world, store, options);
    return { baseline, quiet: await reconcileQuietly(world, store, options.temporalAddress) };
  } finally {
    await store.close();
    await world.close();
  }
}

async function takeLive(world: World, store: Store, { nextKill }: BaselineOptions): Promise<Baseline> {
  const beganAt = performance.now();
  const before = await lastSeq(world);
  const ended = new AbortController();
  let worker: Process = await world.startWorker();
  const over = untilLive(store).finally(() => ended.abort());
  let kills = 0;
  const isKilledNext = async (): Promise<boolean> => {
    await Promise.race([over, nextKill?.(world, ended.signal) ?? over]);
    return !ended.signal.aborted;
  };
  while (await isKilledNext()) {
    await worker.kill();
    kills += 1;
    worker = await world.startWorker();
  }
  await untilReconciled(store, null);
  const hires = await hiresInState(store, TENANT, 'before-go-live');
  const recorded = hires.map((hire) => hire.job_candidate_id).toSorted();
  return { calls: await listCalls(world, before), recorded, kills, ms: performance.now() - beganAt };
}

export interface Quiet {
  calls: Map<string, number>;
  /** Rows of jobs and hires that it wrote. */
  written: number;
}

async function reconcileQuietly(world: World, store: Store, address: string): Promise<Quiet> {
  const before = await lastSeq(world);
  const { reconciled_at: last } = await readTenantState(store, TENANT);
  const records = await readRecords(store);
  const connection = await Connection.connect({ address });
  try {
    const schedules = new Client({ connection }).schedule;
    await schedules.getHandle(reconcileScheduleId(store.installationId, TENANT)).trigger();
    await untilReconciled(store, last);
  } finally {
    await connection.close();
  }
  const known = new Set(records);
  const written = (await readRecords(store)).filter((record) => !known.has(record)).length;
  return { calls: await listCalls(world, before), written };
}

async function readRecords({ kysely }: Store): Promise<string[]> {
  const jobs = await kysely.selectFrom('jobs').selectAll().execute();
  const hires = await kysely.selectFrom('hires').selectAll().execute();
  return [...jobs, ...hires].map((row) => JSON.stringify(row));
}

async function untilLive(store: Store): Promise<void> {
  await until('the baseline is over', async () => (await readTenantState(store, TENANT)).baseline_done_at !== null, {
    timeoutMs: TIMEOUT_MS,
    everyMs: 200,
  });
}

async function untilReconciled(store: Store, last: number | null): Promise<void> {
  await until('the reconcile is over', async () => (await readTenantState(store, TENANT)).reconciled_at !== last, {
    timeoutMs: TIMEOUT_MS,
    everyMs: 200,
  });
}

async function lastSeq({ control }: World): Promise<number> {
  return (await control.ledger({ last: 1 }))[0]?.seq ?? 0;
}

const lists = new Set(allEndpoints().flatMap(({ id, method, list }) => (method === 'GET' && list ? [id] : [])));

async function listCalls({ control }: World, afterSeq: number): Promise<Map<string, number>> {
  const calls = new Map<string, number>();
  for (const { name } of await control.ledger({ kind: 'request', afterSeq, limit: 100_000 }))
    if (lists.has(name)) calls.set(name, (calls.get(name) ?? 0) + 1);
  return calls;
}

/** A kill so long after the worker began. */
export function killEvery(ms: number): NextKill {
  return (_world, signal) => pause(ms, undefined, { signal }).catch(() => undefined);
}

/** A kill once the partner was asked so many times more. */
export function killAfterCalls(count: number): NextKill {
  return async (world, over) => {
    const before = await lastSeq(world);
    const asked = async () =>
      over.aborted || (await world.control.ledger({ kind: 'request', afterSeq: before })).length >= count;
    await until(`${count} more calls`, asked, { timeoutMs: TIMEOUT_MS, everyMs: 20 });
  };
}
