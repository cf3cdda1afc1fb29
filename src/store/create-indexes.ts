import { type Kysely, SqliteAdapter, sql } from 'kysely';

/** How long it waits for transactions that began before it; nobody waits for it meanwhile. */
const PATIENCE = '60s';

/**
 * Creates indexes, by name, while others write, for a migration outside a transaction: Postgres allows it only there.
 * Repeating it after it was cut short is safe.
 */
export async function createIndexes(db: Kysely<unknown>, indexes: Readonly<Record<string, string>>): Promise<void> {
  if (db.getExecutor().adapter instanceof SqliteAdapter) {
    for (const [name, definition] of Object.entries(indexes))
      await sql`create index if not exists ${sql.ref(name)} ${sql.raw(definition)}`.execute(db);
    return;
  }
  const before = await sql<{ ms: string }>`select current_setting('lock_timeout') as ms`.execute(db);
  await sql`select set_config('lock_timeout', ${PATIENCE}, false)`.execute(db);
  for (const [name, definition] of Object.entries(indexes)) {
    // A build that was cut short leaves half an index.
    const half = await sql`
      select 1 from pg_index where indexrelid = to_regclass(${name}) and not indisvalid`.execute(db);
    if (half.rows.length > 0) await sql`drop index concurrently ${sql.ref(name)}`.execute(db);
    await sql`create index concurrently if not exists ${sql.ref(name)} ${sql.raw(definition)}`.execute(db);
  }
  await sql`select set_config('lock_timeout', ${before.rows[0]?.ms ?? '0'}, false)`.execute(db);
}
