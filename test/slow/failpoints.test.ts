import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { takeApplicants } from '../harness/exactly-hired.ts';
import { patience } from '../harness/pace.ts';
import { createDatabase } from '../harness/postgres.ts';
import { callsOf, recordPoints } from '../harness/recorded-failpoints.ts';
import { shortPauses } from '../harness/short-waits.ts';
import { temporalForTests } from '../harness/temporal.ts';
import { startWorld, until, type World } from '../harness/world.ts';

let world: World;

afterAll(() => world?.close());

/** What the partner and both databases counted themselves. */
interface Seen {
  partner: Record<string, number>;
  /** Statements on the employees table. */
  hris: { reads: number; creates: number };
  /** Tables of the store in which a row changed. */
  written: Set<string>;
}

/** Nothing is killed here, and a call that a slow machine ends early would count as one without an end. */
const unhurried = {
  HIREBRIDGE_HEARTBEAT_MS: String(patience(15_000)),
  HIREBRIDGE_REQUEST_MS: String(patience(15_000)),
  HIREBRIDGE_GIVE_UP_MS: String(patience(30_000)),
};

/** Written by the receiver, which starts first here and applies the folder of tenants. */
const BY_RECEIVER = ['audit', 'audit_heads'];

test('every foreign call and every table written to has its failpoints, and a call past them is found', async () => {
  const [store, hris] = await Promise.all([createDatabase(), createDatabase()]);
  const { address } = await temporalForTests();
  world = await startWorld({
    temporalAddress: address,
    storeUrl: store.url,
    hrisUrl: hris.url,
    hired: 2,
    candidates: 20,
    env: { ...shortPauses, ...unhurried },
  });
  await world.startReceiver();
  const people = await takeApplicants(world, 8);
  const [start] = (await world.control.ledger({ kind: 'request' })).slice(-1);
  const look = (): Promise<Seen> => readSeen(start?.seq ?? 0, hris.url, store.url);
  const before = await look();

  const { goLive, hires } = await recordPoints(world, people);
  const passed = [...goLive, ...hires];
  const called = callsOf('hris', passed);
  const reads = (called['find'] ?? 0) + (called['read'] ?? 0);
  const seen = await until('the databases tell', async () => {
    const now = await look();
    return now.hris.creates >= 8 && now.hris.reads - before.hris.reads >= reads && now;
  });
  expect(callsOf('partner', passed)).toEqual(seen.partner);
  expect(Object.keys(seen.partner).length).toBeGreaterThan(7);
  expect({ reads, creates: called['create'] }).toEqual({
    reads: seen.hris.reads - before.hris.reads,
    creates: seen.hris.creates,
  });
  expect(tablesOf(passed)).toEqual(
    expect.arrayContaining([...seen.written].filter((table) => !BY_RECEIVER.includes(table))),
  );
  // Each call that began ended, but for at most one of each loop as its worker, of which there are two, stopped.
  const [begun, ended] = [callsOn('before', passed), callsOn('after', passed)];
  const isOfLoop = (call: string): boolean => call.startsWith('loop/');
  expect(begun.filter((call) => !isOfLoop(call))).toEqual(ended.filter((call) => !isOfLoop(call)));
  for (const loop of new Set(begun.filter(isOfLoop))) {
    const [began, came] = [begun, ended].map((calls) => calls.filter((call) => call === loop).length);
    expect((began ?? 0) - (came ?? 0), loop).toBeOneOf([0, 1, 2]);
  }

  // Planted: the same calls, made past the instrumented client and adapter.
  await world.partner.jobs.list({});
  const client = new pg.Client({ connectionString: hris.url });
  await client.connect();
  await client.query('select * from employees');
  await client.end();
  const planted = await until('the planted read', async () => {
    const now = await look();
    return now.hris.reads > seen.hris.reads && now;
  });
  expect(callsOf('partner', passed)).not.toEqual(planted.partner);
  expect(planted.hris.reads - before.hris.reads).toBe(reads + 1);
});

async function readSeen(afterSeq: number, hrisUrl: string, storeUrl: string): Promise<Seen> {
  const requests = await world.control.ledger({ kind: 'request', afterSeq });
  const partner: Record<string, number> = {};
  for (const { name } of requests) partner[name] = (partner[name] ?? 0) + 1;
  const [employees] = (await tableCounts(hrisUrl)).filter((row) => row.name === 'employees');
  const changed = (await tableCounts(storeUrl)).filter((row) => row.creates + row.changes > 0);
  return {
    partner,
    hris: { reads: employees?.reads ?? 0, creates: employees?.creates ?? 0 },
    written: new Set(changed.map((row) => row.name).filter((name) => !BY_THE_STORE.test(name))),
  };
}

/** Written when a store is opened, before any work; and by triggers on `hires`, in its statements. */
const BY_THE_STORE = /^(installation|kysely_.*|hire_counts)$/;

interface TableCounts {
  name: string;
  reads: number;
  creates: number;
  changes: number;
}

async function tableCounts(url: string): Promise<TableCounts[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<TableCounts>(`select relname as name,
    (seq_scan + coalesce(idx_scan, 0))::int as reads, n_tup_ins::int as creates, (n_tup_upd + n_tup_del)::int as changes
    from pg_stat_user_tables`);
  await client.end();
  return rows;
}

/** The calls that passed this side of theirs, in order. */
function callsOn(side: 'before' | 'after', points: readonly string[]): string[] {
  return points
    .filter((point) => point.endsWith(`/${side}`))
    .map((point) => point.slice(0, point.lastIndexOf('/')))
    .toSorted();
}

function tablesOf(points: readonly string[]): string[] {
  return [...new Set(points.flatMap((point) => /\/store\.\w+\.(\w+)\//.exec(point)?.[1] ?? []))];
}
