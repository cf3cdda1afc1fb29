import { type Kysely, SqliteAdapter, sql } from 'kysely';

/** Webhooks are stored meanwhile, which Postgres allows only where no transaction is around it. */
export const OUTSIDE_TRANSACTION = true;

/** How long it waits for transactions that began before it; nobody waits for it meanwhile. */
const PATIENCE = '60s';

/** The deliveries that nothing acts upon, latest first, for the console's list. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const definition = sql`inbox_left_by_time on inbox (received_at, body_hash)
    where state in ('undeliverable', 'other-company', 'unknown')`;
  if (db.getExecutor().adapter instanceof SqliteAdapter)
    return void (await sql`create index if not exists ${definition}`.execute(db));
  const before = await sql<{ ms: string }>`select current_setting('lock_timeout') as ms`.execute(db);
  await sql`select set_config('lock_timeout', ${PATIENCE}, false)`.execute(db);
  // Half an index is what is left of a build that was cut short.
  const half = await sql`
    select 1 from pg_index where indexrelid = to_regclass('inbox_left_by_time') and not indisvalid`.execute(db);
  if (half.rows.length > 0) await sql`drop index concurrently inbox_left_by_time`.execute(db);
  await sql`create index concurrently if not exists ${definition}`.execute(db);
  await sql`select set_config('lock_timeout', ${before.rows[0]?.ms ?? '0'}, false)`.execute(db);
}
