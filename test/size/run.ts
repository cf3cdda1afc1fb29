// A store that has grown for years: npm run test:size -- [--rows N] [--hints N] [--tenants N]
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { renderTable } from '../../src/cli/print.ts';
import { newDatabase } from '../../src/counterparts/new-database.ts';
import { startPostgres } from '../../src/counterparts/start-postgres.ts';
import { listAlarms } from '../../src/store/alarms.ts';
import { countStuck } from '../../src/store/derived-alarms.ts';
import { oldestHints } from '../../src/store/hints.ts';
import { countHires } from '../../src/store/hires.ts';
import { countOpenHolds, listHolds } from '../../src/store/holds.ts';
import { countOpenDeliveries, lookForDue } from '../../src/store/inbox.ts';
import { tenantsToTell } from '../../src/store/notices.ts';
import { tenantsToStart } from '../../src/store/observed-hires.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { listOverdue, purgeBodies } from '../../src/store/retention.ts';
import { listTenantStates } from '../../src/store/tenant-states.ts';
import { readWebhookFacts } from '../../src/store/webhook-refusals.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    hints: { type: 'string', default: '1000000' },
    tenants: { type: 'string', default: '1000' },
  },
});

/** Tables that grow with every hire, delivery and written record. */
const GROWING = (
  'inbox hires intents plans holds foreign_writes purged_writes field_conflicts hire_documents document_looks ' +
  'exchange_pairs audit persons person_keys'
).split(' ');
const DAY_MS = 86_400_000;
/** So much in one statement. */
const PART = 100_000;
/** Bodies of one old day, to see how many are cleared in a second. */
const OVERDUE = 50_000;
const DELIVERIES_A_DAY = 5_000_000;
/** A round of chores clears for three seconds, and comes every fifteen. */
const SHARE_OF_TIME = 3 / 15;

/** What a column of a row holds that is over and done with. */
const OVER: Record<string, string> = {
  tenant_id: `'tenant-' || n % ${values.tenants}`,
  job_candidate_id: 'n::text',
  state: `'done'`,
  outcome: `'done'`,
  body: `''`,
  kind: `'update'`,
};
const JSON_COLUMNS = /^(?:ids|details|pinned|result|change|changes|bases|sent|records)$/;
const LIST_COLUMNS = /^(?:answers|fields|sensitive)$/;

interface Column {
  name: string;
  type: string;
}

/** Rows in every column of this table, each of them over, spread over the last eighty days. */
async function fill({ kysely }: Store, table: string, rows: number): Promise<void> {
  const { rows: columns } = await sql<Column>`
    select column_name as name, data_type as type from information_schema.columns
    where table_schema = 'public' and table_name = ${table}`.execute(kysely);
  const valueOf = ({ name, type }: Column): string => {
    const known = OVER[name];
    if (known !== undefined) return known;
    if (type === 'bigint') return `(extract(epoch from now()) * 1000)::bigint - n % ${80 * DAY_MS}`;
    if (type !== 'text') return '1';
    if (JSON_COLUMNS.test(name)) return `'{}'`;
    return LIST_COLUMNS.test(name) ? `'[]'` : `'${name}-' || n`;
  };
  const names = columns.map(({ name }) => `"${name}"`).join(', ');
  const list = columns.map(valueOf).join(', ');
  for (let from = 1; from <= rows; from += PART) {
    const to = Math.min(rows, from + PART - 1);
    await sql
      .raw(`insert into ${table} (${names}) select ${list} from generate_series(${from}, ${to}) as n`)
      .execute(kysely);
  }
}

async function fillAll(store: Store): Promise<void> {
  const { kysely } = store;
  await sql
    .raw(
      `insert into tenants (tenant_id, state, baseline_done_at, fully_reconciled_at)
       select 'tenant-' || n, 'active', 1, 1 from generate_series(0, ${Number(values.tenants) - 1}) as n`,
    )
    .execute(kysely);
  for (const table of GROWING) {
    const began = performance.now();
    await fill(store, table, Number(values.rows));
    process.stderr.write(`${table}: ${values.rows} rows, ${((performance.now() - began) / 1_000).toFixed(0)} s\n`);
  }
  for (let from = 0; from < Number(values.hints); from += PART)
    await sql
      .raw(
        `insert into hints (tenant_id, stream, record_id, hinted_at)
         select 'tenant-' || n % ${values.tenants}, case when n % 2 = 0 then 'jobs' else 'people' end, 'r-' || n, n
         from generate_series(${from}, ${from + PART - 1}) as n`,
      )
      .execute(kysely);
  await sql`analyze`.execute(kysely);
}

/** What workers, receivers and metrics ask by themselves, again and again. */
const loops: Record<string, (store: Store) => Promise<unknown>> = {
  'relay: which tenants have something due': lookForDue,
  'chores: the oldest hint of each stream': oldestHints,
  'chores: deliveries that nothing moves': (store) => countStuck(store, DAY_MS),
  'chores: what should have been cleared': (store) =>
    listOverdue(store, { bodiesMs: 90 * DAY_MS, deliveriesMs: 90 * DAY_MS }),
  'chores: whom to tell': tenantsToTell,
  'chores: whom to start': tenantsToStart,
  'chores: the state of each tenant': listTenantStates,
  'metrics: hires by state': countHires,
  'metrics: open holds': countOpenHolds,
  'metrics: alarms': listAlarms,
  'status: open holds': (store) => listHolds(store),
  'status: open deliveries': countOpenDeliveries,
  'status: webhooks': readWebhookFacts,
};

async function time(act: () => Promise<unknown>): Promise<number> {
  const times: number[] = [];
  for (let n = 0; n < 5; n += 1) {
    const before = performance.now();
    await act();
    times.push(performance.now() - before);
  }
  return Math.min(...times);
}

async function main(): Promise<void> {
  const server = await startPostgres({ settings: { max_wal_size: '4GB' } });
  const urlOf = await newDatabase(server.url);
  // Filling takes longer than any statement of the product may.
  const store = await openStore(`${urlOf}?statement_timeout=600000`);
  try {
    const empty = await openStore(await newDatabase(server.url));
    const before = new Map<string, number>();
    for (const [name, ask] of Object.entries(loops)) before.set(name, await time(() => ask(empty)));
    await empty.close();
    await fillAll(store);
    const rows: string[][] = [];
    for (const [name, ask] of Object.entries(loops)) {
      const took = await time(() => ask(store));
      rows.push([name, `${before.get(name)?.toFixed(1)} ms`, `${took.toFixed(1)} ms`]);
    }
    await sql`update inbox set body = '{}', received_at = 1 where body_hash in (
      select body_hash from inbox limit ${OVERDUE})`.execute(store.kysely);
    const began = performance.now();
    const cleared = await purgeBodies(store, 7 * DAY_MS);
    const aDay = (cleared / ((performance.now() - began) / 1_000)) * 86_400 * SHARE_OF_TIME;
    process.stdout.write(`${renderTable(['what is asked', 'empty', 'full'], rows)}\n`);
    process.stdout.write(
      `bodies cleared: ${cleared} in one round, ${(aDay / 1e6).toFixed(1)} million a day by one worker\n`,
    );
    process.exitCode = aDay < DELIVERIES_A_DAY ? 1 : 0;
  } finally {
    await store.close();
    await server.stop();
  }
}

await main();
