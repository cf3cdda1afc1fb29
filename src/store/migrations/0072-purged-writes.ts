import type { Kysely } from 'kysely';

/** Landed records whose values were purged, many in a row, and the writes of one run. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('purged_writes')
    .addColumn('page_id', 'text', (c) => c.primaryKey())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addColumn('target', 'text', (c) => c.notNull())
    .addColumn('mapping_hash', 'text')
    .addColumn('by', 'text', (c) => c.notNull())
    .addColumn('sent_at', 'bigint', (c) => c.notNull())
    .addColumn('purged_at', 'bigint', (c) => c.notNull())
    .addColumn('records', 'text', (c) => c.notNull())
    .execute();
  await db.schema.createIndex('purged_writes_by_time').on('purged_writes').columns(['tenant_id', 'sent_at']).execute();
  await db.schema.createIndex('purged_writes_of_run').on('purged_writes').columns(['tenant_id', 'run_id']).execute();
  const ofRun = db.schema.createIndex('foreign_writes_of_run').on('foreign_writes');
  await ofRun.columns(['tenant_id', 'run_id', 'sent_at']).execute();
}
