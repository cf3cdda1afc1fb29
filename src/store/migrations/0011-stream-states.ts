import type { Kysely } from 'kysely';

/** How a stream stands beyond its latest run: paused, held, when it was last read whole, and who was missing then. */
export async function up(db: Kysely<unknown>): Promise<void> {
  // One statement each: SQLite adds one column at a time.
  const streams = () => db.schema.alterTable('streams');
  await streams().addColumn('mode', 'text').execute();
  await streams()
    .addColumn('segment', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await streams()
    .addColumn('seen_before', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await streams().addColumn('tally', 'text').execute();
  await db.schema
    .alterTable('hints')
    .addColumn('gone', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await createStates(db);
  await createPages(db);
  await createMissing(db);
}

async function createStates(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('stream_states')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('paused_by', 'text')
    .addColumn('paused_at', 'bigint')
    .addColumn('held_code', 'text')
    .addColumn('held_message', 'text')
    .addColumn('held_at', 'bigint')
    .addColumn('allowed_code', 'text')
    .addColumn('allowed_by', 'text')
    .addColumn('whole_at', 'bigint')
    .addColumn('listed', 'integer')
    .addColumn('landed', 'integer')
    .addColumn('mapping_hash', 'text')
    .addPrimaryKeyConstraint('stream_states_key', ['tenant_id', 'stream'])
    .execute();
}

async function createPages(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('stream_pages')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('page', 'integer', (c) => c.notNull())
    .addColumn('ids', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('stream_pages_key', ['tenant_id', 'stream', 'page'])
    .execute();
}

async function createMissing(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('stream_missing')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('record_id', 'text', (c) => c.notNull())
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addColumn('since', 'bigint', (c) => c.notNull())
    .addColumn('believed_at', 'bigint')
    .addPrimaryKeyConstraint('stream_missing_key', ['tenant_id', 'stream', 'record_id'])
    .execute();
}
