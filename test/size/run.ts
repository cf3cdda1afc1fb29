// A store that has grown for years, one table after the other:
// npm run test:size -- [--rows N] [--hints N] [--tenants N] [--only TABLE,...]
import { parseArgs } from 'node:util';
import { sql } from 'kysely';
import { renderTable } from '../../src/cli/command.ts';
import { newDatabase, startPostgres } from '../../src/counterparts/start-postgres.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { purgeBodies } from '../../src/store/retention.ts';
import { type Asked, plansOf, recorder, rowsIn, stepsOf } from '../store/recording-store.ts';
import { fill, GROWING, LONG_STATEMENTS, SETTINGS } from './fill.ts';
import { ofAll, ofOne } from './loops.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '1000000' },
    hints: { type: 'string', default: '1000000' },
    tenants: { type: 'string', default: '1000' },
    only: { type: 'string', default: `hints,${GROWING.join(',')}` },
  },
});

const loops = { ...ofAll, ...ofOne };
const DAY_MS = 86_400_000;
const tenants = Number(values.tenants);
/** So many rows more may a loop of all tenants go through: each tenant's oldest of each kind is looked up by itself. */
const MOST_OF_ALL = 30 * tenants;
/** And one that asks about a single tenant, however many rows it has that are over. */
const MOST_OF_ONE = 150;
/** Bodies of one old day, to see how many are cleared in a second. */
const OVERDUE = 50_000;
const DELIVERIES_A_DAY = 5_000_000;
/** A round of chores clears for three seconds, and comes every fifteen. */
const SHARE_OF_TIME = 3 / 15;
const tenantOf = `'tenant-' || n % ${tenants}`;

interface Watched {
  store: Store;
  /** What it was asked since the last look. */
  asked: Asked[];
}

interface Measured {
  ms: number;
  rows: number;
  asked: Asked[];
}

/** The fastest of five times, and the rows that its statements go through. */
async function measure({ store, asked }: Watched, ask: (store: Store) => Promise<unknown>): Promise<Measured> {
  const times: number[] = [];
  let statements: Asked[] = [];
  for (let n = 0; n < 5; n += 1) {
    asked.splice(0);
    const before = performance.now();
    await ask(store);
    times.push(performance.now() - before);
    statements = asked.splice(0);
  }
  let rows = 0;
  for (const { node, queryId } of statements)
    for (const step of await stepsOf(store, store.kysely.getExecutor().compileQuery(node, queryId)))
      rows += rowsIn(step);
  asked.splice(0);
  return { ms: Math.min(...times), rows, asked: statements };
}

/** Whether one of these statements names the table. */
function names({ kysely }: Store, asked: readonly Asked[], table: string): boolean {
  const word = new RegExp(`\\b${table}\\b`);
  return asked.some(({ node, queryId }) => word.test(kysely.getExecutor().compileQuery(node, queryId).sql));
}

/** Fills one table, asks what the loops ask of it, and empties it. Returns what goes through its old rows. */
async function playTable(watched: Watched, table: string): Promise<string[]> {
  const { store } = watched;
  const wanted = table === 'hints' ? Number(values.hints) : Number(values.rows);
  const own: [string, Measured][] = [];
  for (const [name, ask] of Object.entries(loops)) {
    const measured = await measure(watched, ask);
    if (names(store, measured.asked, table)) own.push([name, measured]);
  }
  const began = performance.now();
  const filled = await fill(store, table, { rows: wanted, tenants, tenantOf, hinted: ['jobs', 'people'] });
  const seconds = (performance.now() - began) / 1_000;
  watched.asked.splice(0);
  const size = sql<{ bytes: number }>`select pg_total_relation_size(${table}::regclass) as bytes`;
  const bytes = Number((await size.execute(store.kysely)).rows[0]?.bytes);
  process.stdout.write(
    `\n${table}: ${filled} rows in ${seconds.toFixed(0)} s, ${(bytes / 2 ** 30).toFixed(1)} GiB, ` +
      `${(bytes / filled).toFixed(0)} bytes a row\n`,
  );
  const lines: string[][] = [];
  const faults: string[] = filled < wanted ? [`${table}: the disk has no room for more than ${filled} rows`] : [];
  for (const [name, empty] of own) {
    const full = await measure(watched, loops[name] ?? (async () => undefined));
    lines.push([
      name,
      `${empty.ms.toFixed(1)} ms`,
      `${full.ms.toFixed(1)} ms`,
      `${Math.round(empty.rows)}`,
      `${Math.round(full.rows)}`,
    ]);
    if (full.rows <= empty.rows + (name in ofAll ? MOST_OF_ALL : MOST_OF_ONE)) continue;
    faults.push(
      `${table}: "${name}" goes through ${Math.round(full.rows)} rows, ${Math.round(empty.rows)} where there are none`,
    );
    for (const { sql: text, lines: plan } of await plansOf(store, full.asked))
      process.stdout.write(`${text.slice(0, 400)}\n  ${plan.join('\n  ')}\n`);
  }
  process.stdout.write(`${renderTable(['what is asked', 'empty', 'full', 'rows read', 'full'], lines)}\n`);
  if (table === 'inbox') faults.push(...(await clearBodies(store)));
  await sql.raw(`alter table ${table} disable trigger all; truncate ${table}`).execute(store.kysely);
  watched.asked.splice(0);
  return faults;
}

/** Whether one worker clears as many bodies as come. */
async function clearBodies(store: Store): Promise<string[]> {
  await sql`update inbox set body = '{}', received_at = 1 where (tenant_id, body_hash) in (
    select tenant_id, body_hash from inbox limit ${OVERDUE})`.execute(store.kysely);
  const began = performance.now();
  const cleared = await purgeBodies(store, 7 * DAY_MS);
  const aDay = (cleared / ((performance.now() - began) / 1_000)) * 86_400 * SHARE_OF_TIME;
  const said = `bodies cleared: ${cleared} in one round, ${(aDay / 1e6).toFixed(1)} million a day by one worker`;
  process.stdout.write(`${said}\n`);
  return aDay < DELIVERIES_A_DAY ? [said] : [];
}

async function main(): Promise<void> {
  const server = await startPostgres({ settings: SETTINGS });
  const url = (await newDatabase(server.url)) + LONG_STATEMENTS;
  const { plugin, asked } = recorder();
  const store = await openStore(url, { plugins: [plugin] });
  try {
    await sql
      .raw(
        `insert into tenants (tenant_id, state, baseline_done_at, fully_reconciled_at, receives)
         select 'tenant-' || n, 'active', 1, 1, '{"events":true}' from generate_series(0, ${tenants - 1}) as n`,
      )
      .execute(store.kysely);
    await sql`vacuum analyze`.execute(store.kysely);
    const faults: string[] = [];
    for (const table of values.only.split(',')) faults.push(...(await playTable({ store, asked }, table)));
    process.stdout.write(faults.length === 0 ? 'no loop reads what is over\n' : `${faults.join('\n')}\n`);
    process.exitCode = faults.length === 0 ? 0 : 1;
  } finally {
    await store.close();
    await server.stop();
  }
}

await main();
