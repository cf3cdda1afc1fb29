import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Client, Connection, type WorkflowExecutionInfo, type WorkflowHandle } from '@temporalio/client';
import { readStatus } from '../harness/hiring.ts';
import { readWorkflows } from '../harness/histories.ts';
import { shortWaits } from '../harness/short-waits.ts';
import { type Process, startWorld, until, type World } from '../harness/world.ts';
import { countWrites } from './count-writes.ts';
import { idleMegabytes, peakMegabytes } from './resident-memory.ts';

/** One number beside what it may be at most (or must be exactly). */
export interface Measure {
  what: string;
  value: number;
  most?: number;
  exactly?: number;
  unit: string;
}

export function isGood({ value, most, exactly }: Measure): boolean {
  return (most === undefined || value <= most) && (exactly === undefined || value === exactly);
}

/** As src/activities has it: pages under way at once. */
const CONCURRENCY = 8;
/** Pages that are settled as one: their cursor moves once. */
const TOGETHER = 4;
const PAGE = 100;

interface Counts {
  state: string;
  read: number;
  unchanged: number;
  created: number;
  updated: number;
  quarantined: number;
  leftOut: { record: string; page: number; reason: string }[];
}

/**
 * Pulls `candidates` people from a sandbox through Temporal: once for the first time, once again, and once with a
 * worker killed in the middle.
 * The judges are the sandbox's ledger, triggers in the databases, the kernel and Temporal itself.
 */
export async function measurePasses(
  temporalAddress: string,
  { candidates, say = () => undefined }: { candidates: number; say?: (line: string) => void },
): Promise<Measure[]> {
  const world = await startWorld({ temporalAddress, candidates, startDates: false, env: shortWaits });
  try {
    const pages = Math.ceil(candidates / PAGE);
    let worker = await startIdleWorker(world);
    const pid = worker.child.pid ?? 0;
    const idle = await idleMegabytes(pid);
    const first = await pass(world, say);
    const measures: Measure[] = [
      { what: 'records created by the first pass', value: first.counts.created, exactly: candidates, unit: '' },
      { what: 'rows in the landing table', value: landed(world), exactly: candidates, unit: '' },
      { what: 'list calls of the first pass', value: first.calls, most: Math.floor(1.05 * pages), unit: '' },
      { what: 'memory over idle', value: (await peakMegabytes(pid)) - idle, most: 80, unit: 'MB' },
      {
        what: 'history a 1,000 records',
        value: (await historyBytes(temporalAddress, world)) / 1024 / (candidates / 1000),
        most: 20,
        unit: 'KB',
      },
    ];
    measures.push(...(await measureSecond(world, pages, say)));
    await worker.stop();
    worker = await world.startWorker({
      // Up to four pages are committed at once.
      HIREBRIDGE_FAILPOINT_KILL: `pullPages/store.update.streams/before#${Math.max(1, pages >> 3)}`,
    });
    measures.push(...(await measureKilled(world, { temporalAddress, worker, pages, say })));
    return measures;
  } finally {
    await world.close();
  }
}

/** Tables that a worker writes every few seconds, whatever it does: a slow machine counts more of these. */
const BY_THE_CLOCK: ReadonlySet<string> = new Set(['rate_limits', 'leases', 'processes', 'audit', 'audit_heads']);

async function measureSecond(world: World, pages: number, say: (line: string) => void): Promise<Measure[]> {
  const records = countWrites(fileOf(world.hrisUrl));
  const bookkeeping = countWrites(fileOf(world.storeUrl));
  bookkeeping.take();
  const { counts, calls } = await pass(world, say);
  const rows = bookkeeping.take();
  say(`rows written in the store: ${JSON.stringify(rows)}`);
  const ofPass = Object.entries(rows).filter(([table]) => !BY_THE_CLOCK.has(table));
  return [
    { what: 'unchanged in the second pass', value: counts.unchanged, exactly: counts.read, unit: '' },
    { what: 'record rows written by the second pass', value: sum(records.take()), exactly: 0, unit: '' },
    {
      what: 'bookkeeping rows of the second pass',
      value: sum(Object.fromEntries(ofPass)),
      most: 2 * pages + 1,
      unit: '',
    },
    { what: 'list calls of the second pass', value: calls, most: Math.floor(1.05 * pages), unit: '' },
  ];
}

/** A full pass, whose worker dies between a page's write and its cursor; another worker ends it. */
async function measureKilled(
  world: World,
  {
    temporalAddress,
    worker,
    pages,
    say,
  }: { temporalAddress: string; worker: Process; pages: number; say: (line: string) => void },
): Promise<Measure[]> {
  const running = pass(world, say, ['--rewrite']);
  running.catch(() => undefined);
  const how = await worker.ended;
  await world.startWorker();
  const { counts, calls } = await running;
  // A machine that stalls for longer than a heartbeat may cost an attempt besides the one that was killed.
  const again = await attemptsAgain(temporalAddress, world);
  return [
    { what: 'worker killed by SIGKILL', value: how === 'SIGKILL' ? 1 : 0, exactly: 1, unit: '' },
    { what: 'records of the killed pass', value: counts.read, exactly: landed(world), unit: '' },
    { what: 'pages fetched again', value: calls - pages, most: again * (CONCURRENCY + TOGETHER), unit: '' },
  ];
}

/** Three records of a page that nobody can read, and a partner that heals them. */
export async function measureQuarantine(
  temporalAddress: string,
  say: (line: string) => void = () => undefined,
): Promise<Measure[]> {
  const world = await startWorld({ temporalAddress, candidates: 300, startDates: false, env: shortWaits });
  try {
    await startIdleWorker(world);
    const fault = { kind: 'schema-surprise', surprise: 'unreadable', items: 3, on: 'candidates.list', nth: 2 } as const;
    await world.control.act('setFaults', { faults: [fault] });
    const first = await pass(world, say);
    const landedFirst = landed(world);
    await world.control.act('clearFaults');
    const second = await pass(world, say);
    const healed = quarantined(world);
    // Somebody is deleted before the second page is read, so that its first record moves to the page that was.
    await world.control.act('setFaults', { faults: [{ kind: 'page-drift', on: 'candidates.list', nth: 2 }] });
    const drifted = await pass(world, say);
    await world.control.act('clearFaults');
    const after = await pass(world, say);
    return [
      { what: 'exit code of a pass that left records out', value: first.code, exactly: 3, unit: '' },
      { what: 'landed of 300 with 3 unreadable', value: landedFirst, exactly: 297, unit: '' },
      { what: 'quarantined', value: first.counts.quarantined, exactly: 3, unit: '' },
      { what: 'left out, by name and reason', value: first.counts.leftOut.length, exactly: 3, unit: '' },
      { what: 'healed by the next pass', value: second.counts.created, exactly: 3, unit: '' },
      { what: 'left in quarantine', value: healed, exactly: 0, unit: '' },
      { what: 'exit code then', value: second.code, exactly: 0, unit: '' },
      { what: 'exit code where the list became shorter', value: drifted.code, exactly: 0, unit: '' },
      { what: 'exit code of the pass after it', value: after.code, exactly: 0, unit: '' },
    ];
  } finally {
    await world.close();
  }
}

async function startIdleWorker(world: World): Promise<Process> {
  const worker = await world.startWorker();
  await until('the baseline is complete', async () => (await readStatus(world)).baseline === 'done');
  return worker;
}

/** One `hirebridge sync`, its counts, and what it asked the partner for. */
async function pass(world: World, say: (line: string) => void, more: string[] = []) {
  const before = await listCalls(world);
  const startedAt = performance.now();
  const { code, stdout, stderr } = await world.cli(['sync', 'acme', 'candidates', '--full', '--json', ...more]);
  if (stdout === '') throw new Error(`sync ended with ${code}: ${stderr}`);
  const counts = JSON.parse(stdout) as Counts;
  const calls = (await listCalls(world)) - before;
  say(`${((performance.now() - startedAt) / 1000).toFixed(1)} s, ${calls} list calls: ${JSON.stringify(counts)}`);
  return { code: code ?? -1, counts, calls };
}

async function listCalls(world: World): Promise<number> {
  return (await world.control.counts({ kind: 'request', name: 'candidates.list' })).request?.['candidates.list'] ?? 0;
}

/**
 * With HIREBRIDGE_RECORD_HISTORIES=DIR the first pass's history is written there: that is how the replay tests' fixture
 * was made.
 */
async function record(address: string, installationId: string): Promise<void> {
  const dir = process.env['HIREBRIDGE_RECORD_HISTORIES'];
  if (dir === undefined) return;
  const found = (await readWorkflows(address, installationId)).find((one) => one.type === 'pullStream');
  if (found === undefined) throw new Error('no pass to record');
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'pull-stream.json'), found.history);
}

async function historyBytes(address: string, world: World): Promise<number> {
  const { id } = only(fileOf(world.storeUrl), 'select id from installation');
  await record(address, String(id));
  return withRuns(address, world, async (runs) => {
    const sizes = await Promise.all(runs.map(async (run) => (await run.describe()).historySize ?? 0));
    return sizes.reduce((all, size) => all + size, 0);
  });
}

/** How many attempts of activities the newest run of the stream had beyond the first of each. */
function attemptsAgain(address: string, world: World): Promise<number> {
  return withRuns(address, world, async ([newest]) => {
    const { events } = (await newest?.fetchHistory()) ?? {};
    const attempts = (events ?? []).map((event) => event.activityTaskStartedEventAttributes?.attempt ?? 1);
    return attempts.reduce((all, attempt) => all + attempt - 1, 0);
  });
}

/** The runs of the stream's workflow, the newest first. */
async function withRuns<T>(address: string, world: World, use: (runs: WorkflowHandle[]) => Promise<T>): Promise<T> {
  const connection = await Connection.connect({ address });
  try {
    const client = new Client({ connection });
    const { id } = only(fileOf(world.storeUrl), 'select id from installation');
    const runs = await until('the workflow to be listed', async () => {
      const found: WorkflowExecutionInfo[] = [];
      const query = `WorkflowId = '${String(id)}/sync/acme/candidates'`;
      for await (const run of client.workflow.list({ query })) found.push(run);
      return found.length > 0 ? found : undefined;
    });
    runs.sort((one, other) => other.startTime.getTime() - one.startTime.getTime());
    return await use(runs.map((run) => client.workflow.getHandle(run.workflowId, run.runId)));
  } finally {
    await connection.close();
  }
}

function landed(world: World): number {
  return Number(only(fileOf(world.hrisUrl), 'select count(*) as n from partner_candidates')['n']);
}

function quarantined(world: World): number {
  return Number(only(fileOf(world.storeUrl), 'select count(*) as n from quarantine')['n']);
}

function only(file: string, query: string): Record<string, unknown> {
  const database = new DatabaseSync(file, { readOnly: true, timeout: 60_000 });
  try {
    return database.prepare(query).get() as Record<string, unknown>;
  } finally {
    database.close();
  }
}

function fileOf(url: string): string {
  return url.slice('sqlite:'.length);
}

function sum(counts: Record<string, number>): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}
