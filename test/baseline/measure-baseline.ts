import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { allEndpoints } from '../../src/partner/contract/index.ts';
import { type ControlClient, createControlClient } from '../../src/sandbox/control/client.ts';
import { hiresInState } from '../../src/store/hires.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { until } from '../harness/until.ts';
import { type HostedSandbox, hostSandbox } from '../sandbox/hosted-sandbox.ts';

const RECONCILE = fileURLToPath(new URL('./reconcile-process.ts', import.meta.url));
const TENANT = 'acme';

export interface Company {
  jobs: number;
  /** People on the jobs who are not hired. */
  candidates: number;
  /** All of them on one job. */
  hired: number;
}

export interface BaselineOptions extends Company {
  /** How long the partner takes for each answer, ms. */
  latencyMs: number;
  /** When the process of the second baseline is killed by SIGKILL, again and again until it is over. */
  nextKill: NextKill;
}

/** Resolves when the next kill is due, or soon after the signal says that none is. */
type NextKill = (control: ControlClient, over: AbortSignal) => Promise<unknown>;

export interface Baseline {
  /** Pages of lists that the partner was asked for, by operation. */
  calls: Map<string, number>;
  /** Everybody recorded as hired before go-live. */
  recorded: string[];
  kills: number;
  ms: number;
}

/** A reconcile that finds nothing changed. */
export interface Quiet {
  calls: Map<string, number>;
  /** Rows of jobs and hires that it wrote. */
  written: number;
}

export interface Measured {
  undisturbed: Baseline;
  quiet: Quiet;
  killed: Baseline;
}

export function leastCalls({ jobs, hired }: Company): number {
  return Math.ceil(jobs / 100) + 2 * Math.ceil(hired / 100);
}

/** One company, where its partner is and where the store of this go-live is. */
interface Scene {
  sandbox: HostedSandbox;
  control: ControlClient;
  store: Store;
  storeUrl: string;
}

/**
 * Takes a company live, and reconciles once more with nothing changed. Then the same company goes live with a new
 * store and a process that is killed.
 */
export async function measureBaseline(options: BaselineOptions): Promise<Measured> {
  const { jobs, candidates, hired, latencyMs, nextKill } = options;
  const dir = await mkdtemp(join(tmpdir(), 'hirebridge-baseline-'));
  const sandbox = await hostSandbox({ seed: 7, jobs: 1, candidates: 0, hired });
  const control = createControlClient(sandbox.controlUrl);
  const inStore = async <T>(name: string, use: (scene: Scene) => Promise<T>): Promise<T> => {
    const storeUrl = `sqlite:${join(dir, name)}`;
    const store = await openStore(storeUrl);
    return use({ sandbox, control, store, storeUrl }).finally(() => store.close());
  };
  try {
    await control.act('seed', { jobs: jobs - 1, candidates });
    await control.act('addFault', { kind: 'latency', ms: latencyMs });
    const [undisturbed, quiet] = await inStore('undisturbed.db', async (scene) => {
      const baseline = await takeLive(scene);
      return [baseline, await reconcileQuietly(scene)] as const;
    });
    const killed = await inStore('killed.db', (scene) => takeLive(scene, nextKill));
    return { undisturbed, quiet, killed };
  } finally {
    await sandbox.close();
    await rm(dir, { recursive: true, force: true });
  }
}

async function takeLive(scene: Scene, nextKill?: NextKill): Promise<Baseline> {
  const { control, store } = scene;
  const beganAt = performance.now();
  const before = await lastSeq(control);
  let kills = 0;
  for (let isOver = false; !isOver; ) {
    const child = start(scene);
    const ended = new AbortController();
    const over = endOf(child).finally(() => ended.abort());
    try {
      await Promise.race([over, nextKill?.(control, ended.signal) ?? over]);
      isOver = ended.signal.aborted || (await readTenantState(store, TENANT)).baseline_done_at !== null;
      if (isOver) await over;
      else kills += 1;
    } finally {
      child.kill('SIGKILL');
      await over.catch(() => undefined);
    }
  }
  const hires = await hiresInState(store, TENANT, 'before-go-live');
  const recorded = hires.map((hire) => hire.job_candidate_id).toSorted();
  return { calls: await listCalls(control, before), recorded, kills, ms: performance.now() - beganAt };
}

function start({ sandbox, storeUrl }: Scene): ChildProcess {
  return fork(RECONCILE, [storeUrl, sandbox.url, sandbox.key], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

async function endOf(child: ChildProcess): Promise<void> {
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (code !== 0) throw new Error(`The reconcile ended with ${code ?? signal}`);
}

async function reconcileQuietly(scene: Scene): Promise<Quiet> {
  const before = await lastSeq(scene.control);
  const known = new Set(await readRecords(scene.store));
  await endOf(start(scene));
  const written = (await readRecords(scene.store)).filter((record) => !known.has(record)).length;
  return { calls: await listCalls(scene.control, before), written };
}

async function readRecords({ kysely }: Store): Promise<string[]> {
  const jobs = await kysely.selectFrom('jobs').selectAll().execute();
  const hires = await kysely.selectFrom('hires').selectAll().execute();
  return [...jobs, ...hires].map((row) => JSON.stringify(row));
}

async function lastSeq(control: ControlClient): Promise<number> {
  return (await control.ledger({ last: 1 }))[0]?.seq ?? 0;
}

const lists = new Set(allEndpoints().flatMap(({ id, method, list }) => (method === 'GET' && list ? [id] : [])));

async function listCalls(control: ControlClient, afterSeq: number): Promise<Map<string, number>> {
  const calls = new Map<string, number>();
  for (const { name } of await control.ledger({ kind: 'request', afterSeq, limit: 100_000 }))
    if (lists.has(name)) calls.set(name, (calls.get(name) ?? 0) + 1);
  return calls;
}

/** A kill so long after the process began. */
export function killEvery(ms: number): NextKill {
  return (_control, over) => pause(ms, undefined, { signal: over }).catch(() => undefined);
}

/** A kill once the partner was asked so many times more. */
export function killAfterCalls(count: number): NextKill {
  return async (control, over) => {
    const before = await lastSeq(control);
    const asked = async () =>
      over.aborted || (await control.ledger({ kind: 'request', afterSeq: before })).length >= count;
    await until(`${count} more calls`, asked, { timeoutMs: 600_000, everyMs: 20 });
  };
}
