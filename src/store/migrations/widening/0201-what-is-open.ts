import { type Kysely, SqliteAdapter, sql } from 'kysely';

/** Hires go on meanwhile, which Postgres allows only where no transaction is around it. */
export const OUTSIDE_TRANSACTION = true;

/** How long it waits for transactions that began before it; nobody waits for it meanwhile. */
const PATIENCE = '60s';

/** What rounds look for in tables whose old rows stay: however many those are, they are not read. */
const INDEXES = {
  intents_open: `on intents (tenant_id, give_up_at) where outcome = 'open'`,
  field_conflicts_kept:
    'on field_conflicts (tenant_id, since) where partner_value is not null or hris_value is not null',
  hire_documents_open: `on hire_documents (tenant_id) where state in ('refused', 'unlike')`,
  hire_documents_of_run: 'on hire_documents (tenant_id, run_id)',
  person_keys_creating: `on person_keys (tenant_id) where kind = 'creating'`,
};

export async function up(db: Kysely<unknown>): Promise<void> {
  if (db.getExecutor().adapter instanceof SqliteAdapter) {
    for (const [name, definition] of Object.entries(INDEXES))
      await sql`create index if not exists ${sql.ref(name)} ${sql.raw(definition)}`.execute(db);
    return;
  }
  const before = await sql<{ ms: string }>`select current_setting('lock_timeout') as ms`.execute(db);
  await sql`select set_config('lock_timeout', ${PATIENCE}, false)`.execute(db);
  for (const [name, definition] of Object.entries(INDEXES)) {
    // Half an index is what is left of a build that was cut short.
    const half = await sql`
      select 1 from pg_index where indexrelid = to_regclass(${name}) and not indisvalid`.execute(db);
    if (half.rows.length > 0) await sql`drop index concurrently ${sql.ref(name)}`.execute(db);
    await sql`create index concurrently if not exists ${sql.ref(name)} ${sql.raw(definition)}`.execute(db);
  }
  await sql`select set_config('lock_timeout', ${before.rows[0]?.ms ?? '0'}, false)`.execute(db);
}
