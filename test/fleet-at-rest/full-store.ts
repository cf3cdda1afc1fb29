import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { newDatabase, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { purgeWrites } from '../../src/store/retention.ts';
import { type Process, startWorld, type World } from '../harness/world.ts';
import { fill, GROWING, LONG_STATEMENTS, SETTINGS } from '../size/fill.ts';
import { addFleet } from './add-fleet.ts';
import { type FleetRun, hireOne, shareOfCore, untilBaselines, untilSettled } from './measure-fleet.ts';

const DAY_MS = 86_400_000;
/** So many candidates are landed by the product; the others of the store are copies of what it keeps of them. */
const LANDED = 2_000;
/** Worker and receiver write as much of themselves as so many tenants at rest. */
const FEW = 60;
const SCRAPES = 25;
/** Streams whose hints wait, because a person paused them. */
const PAUSED = ['candidates', 'applications'] as const;

export interface FullRun extends FleetRun {
  /** Of all growing tables together. */
  oldRows: number;
  landed: number;
  hints: number;
}

/** Some workers at rest on one store. */
interface FullRest {
  /** Of one core, each. */
  percents: number[];
  /** A second. */
  transactions: number;
  /** Rows and index entries that the store went through, a second. */
  rowsRead: number;
  /** Rows of filled tables that were read without an index. */
  scanned: number;
}

export interface FullNumbers {
  oldRows: number;
  gigabytes: number;
  fillSeconds: number;
  /** Of a landed record: what stays when its values are cleared, and how it is recognised while it is listed. */
  loggedBytes: number;
  listedBytes: number;
  /** A worker with one tenant on the store before it is filled; then one with all tenants, then two. */
  alone: FullRest;
  one: FullRest;
  two: FullRest;
  /** Of the fastest of some and of the middle one: other work on the machine makes them longer, never shorter. */
  scrapeMs: number;
  middleScrapeMs: number;
  series: number;
  hireMs: number;
}

/** Workers at rest with many tenants on a Postgres whose every growing table is full of old rows. */
export async function measureFull(options: FullRun): Promise<FullNumbers> {
  const { temporalAddress, tenants, every, say } = options;
  const server = await startPostgres({ settings: SETTINGS });
  const storeUrl = await newDatabase(server.url);
  const store = await openStore(storeUrl + LONG_STATEMENTS);
  const policies = `onboarding: { flow: "{flow}" }\n  reconcile: { every: ${every} }`;
  const who = { candidates: LANDED, startDates: false };
  const world = await startWorld({ temporalAddress, policies, storeUrl, ...who, env: { LOG_LEVEL: 'error' } });
  let endFleet = async (): Promise<void> => undefined;
  try {
    const people = (await world.applicants()).values();
    await appendFile(join(world.tenantsDir, `${world.tenant}.yaml`), 'streams:\n  candidates: {}\n');
    await world.startReceiver();
    const first = await world.startWorker();
    await untilBaselines(store, 1);
    await landSome(world, store);
    const alone = await watch(options, store, [first], FEW);
    say(`one tenant, empty store: ${JSON.stringify(alone)}`);
    await first.stop();
    const filled = await fillStore(options, store);
    say(`filled: ${JSON.stringify(filled)}`);
    endFleet = await addFleet(world, { tenants: tenants - 1, streaming: options.streaming, every, hired: 0 });
    const { code, stderr } = await world.cli(['tenant', 'apply', '--yes', '--unchecked']);
    if (code !== 0) throw new Error(stderr);
    say('applied');
    await liveForLong(store);
    const worker = await world.startWorker();
    const one = await watch(options, store, [worker], tenants);
    say(`one worker: ${JSON.stringify(one)}`);
    const scraped = await scrape(worker);
    const two = await watch(options, store, [worker, await world.startWorker()], tenants);
    say(`two workers: ${JSON.stringify(two)}`);
    const hireMs = await hireOne(world, store, people);
    return { ...filled, alone, one, two, ...scraped, hireMs };
  } finally {
    await store.close();
    await world.close();
    await endFleet();
    await server.stop();
  }
}

/** Nobody waits for a thousand baselines: these tenants have had theirs. */
async function liveForLong({ kysely, now }: Store): Promise<void> {
  const done = { baseline_started_at: now, baseline_done_at: now, reconciled_at: now, fully_reconciled_at: now };
  await kysely.updateTable('tenants').set(done).where('tenant_id', 'like', 'fleet-%').execute();
}

/** The product lands candidates, and clears the values that it kept of them. */
async function landSome(world: World, store: Store): Promise<void> {
  const { code, stderr } = await world.cli(['sync', world.tenant, 'candidates', '--full']);
  if (code !== 0) throw new Error(stderr);
  await store.kysely.updateTable('foreign_writes').set({ sent_at: 1 }).execute();
  const cleared = await purgeWrites(store, world.tenant, DAY_MS);
  // The worker's own pass may have landed some of them before, or clear them at the same time.
  if (cleared === 0) throw new Error('No landed record was cleared');
}

type Filled = Pick<FullNumbers, 'oldRows' | 'gigabytes' | 'fillSeconds' | 'loggedBytes' | 'listedBytes'>;

async function fillStore({ tenants, oldRows, landed, hints, say }: FullRun, store: Store): Promise<Filled> {
  const began = performance.now();
  const fleet = tenants - 1;
  const tenantOf = `'fleet-' || 1 + n % ${fleet}`;
  const { loggedBytes, listedBytes } = await copyLanded(store, landed, tenantOf);
  say(`${landed} landed: ${loggedBytes.toFixed(1)} bytes each, ${listedBytes.toFixed(1)} while they are listed`);
  for (const stream of PAUSED)
    await sql`insert into stream_states (tenant_id, stream, paused_by, paused_at)
      select 'fleet-' || n, ${stream}, 'ana@acme.test', ${store.now}
      from generate_series(1, ${sql.lit(fleet)}) as n`.execute(store.kysely);
  const filling = { tenants: fleet, tenantOf, hinted: PAUSED };
  await fill(store, 'hints', { ...filling, rows: hints });
  let filled = 0;
  for (const table of GROWING) {
    filled += await fill(store, table, { ...filling, rows: Math.ceil(oldRows / GROWING.length) });
    say(`${table}: ${filled} old rows so far, ${Math.round((performance.now() - began) / 1_000)} s`);
  }
  // What is done from now on comes behind the old acts.
  await sql`insert into audit_heads (chain, seq, hash)
    select chain, max(seq), 'hash' from audit where chain like 'fleet-%' group by chain`.execute(store.kysely);
  const size = sql<{ bytes: string }>`select pg_database_size(current_database()) as bytes`;
  const gigabytes = Number((await size.execute(store.kysely)).rows[0]?.bytes) / 2 ** 30;
  return { oldRows: filled, gigabytes, fillSeconds: (performance.now() - began) / 1_000, loggedBytes, listedBytes };
}

/** Copies what the product keeps of some landed records, so that it is of so many. Returns bytes a record. */
async function copyLanded({ kysely }: Store, landed: number, tenantOf: string) {
  const page = await kysely.selectFrom('purged_writes').selectAll().limit(1).executeTakeFirstOrThrow();
  const listed = await kysely.selectFrom('stream_pages').selectAll().limit(1).executeTakeFirstOrThrow();
  await sql`truncate purged_writes, stream_pages`.execute(kysely);
  const copy = async (table: string, row: object, recordsOfRow: number, others: Record<string, string>) => {
    const columns = Object.keys(row);
    const values = columns.map((name) => others[name] ?? `one."${name}"`);
    await sql`insert into ${sql.table(table)} (${sql.join(columns.map((name) => sql.ref(name)))})
      select ${sql.raw(values.join(', '))} from generate_series(1, ${sql.lit(Math.ceil(landed / recordsOfRow))}) as n
      cross join json_populate_record(null::${sql.table(table)}, ${JSON.stringify(row)}::json) as one`.execute(kysely);
    await sql.raw(`vacuum analyze ${table}`).execute(kysely);
    const size = sql<{ bytes: string }>`select pg_total_relation_size(${table}::regclass) as bytes`;
    return Number((await size.execute(kysely)).rows[0]?.bytes) / landed;
  };
  const ids = (JSON.parse(page.records) as { ids: string[] }[]).flatMap((alike) => alike.ids);
  const sent_at = `(extract(epoch from now()) * 1000)::bigint - (30 + n % 140)::bigint * ${DAY_MS}`;
  const once = { page_id: 'gen_random_uuid()::text', tenant_id: tenantOf, sent_at };
  const known = JSON.parse(listed.known ?? '') as { records: unknown[] };
  return {
    loggedBytes: await copy('purged_writes', page, ids.length, once),
    listedBytes: await copy('stream_pages', listed, known.records.length, { tenant_id: tenantOf, page: 'n' }),
  };
}

async function watch(
  { seconds }: FullRun,
  store: Store,
  workers: readonly Process[],
  tenants: number,
): Promise<FullRest> {
  let last = await readCounters(store);
  const since = async () => {
    const [before, now] = [last, await readCounters(store)];
    last = now;
    return Object.fromEntries(Object.entries(now).map(([name, value]) => [name, value - before[name as Count]]));
  };
  await untilSettled(async () => (await since())['written'] ?? 0, { tenants, seconds });
  const began = performance.now();
  const percents = await shareOfCore(workers, seconds);
  const { transactions = 0, read = 0, scanned = 0 } = await since();
  const spent = (performance.now() - began) / 1_000;
  return { percents, transactions: transactions / spent, rowsRead: read / spent, scanned };
}

type Count = 'transactions' | 'written' | 'read' | 'scanned';

/** Since the store was made. */
async function readCounters({ kysely }: Store): Promise<Record<Count, number>> {
  const { rows } = await sql<Record<Count, string>>`
    select xact_commit as transactions,
      (select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables) as written,
      (select sum(seq_tup_read) from pg_stat_user_tables)
        + (select sum(idx_tup_read) from pg_stat_user_indexes) as read,
      (select sum(seq_tup_read) from pg_stat_user_tables where relname in (${sql.join(GROWING)})) as scanned
    from pg_stat_database where datname = current_database()`.execute(kysely);
  const [row] = rows as [Record<Count, string>];
  const { transactions, written, read, scanned } = row;
  return {
    transactions: Number(transactions),
    written: Number(written),
    read: Number(read),
    scanned: Number(scanned),
  };
}

async function scrape({ facts }: Process): Promise<Pick<FullNumbers, 'scrapeMs' | 'middleScrapeMs' | 'series'>> {
  const times: number[] = [];
  let text = '';
  for (let n = 0; n < SCRAPES; n += 1) {
    const before = performance.now();
    text = await (await fetch(`${facts['health']}/metrics`)).text();
    times.push(performance.now() - before);
  }
  const [scrapeMs, middleScrapeMs = 0] = [Math.min(...times), times.toSorted((a, b) => a - b)[SCRAPES >> 1]];
  const series = text.split('\n').filter((line) => line !== '' && !line.startsWith('#')).length;
  return { scrapeMs, middleScrapeMs, series };
}
