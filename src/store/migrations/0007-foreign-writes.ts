import { type Kysely, sql } from 'kysely';

/** Every foreign write with old and new value, the mappings behind them, and plans that a person applies. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createForeignWrites(db);
  await db.schema
    .createTable('mapping_versions')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('mapping_hash', 'text', (c) => c.notNull())
    .addColumn('file', 'text')
    .addColumn('files', 'text', (c) => c.notNull())
    .addColumn('first_used_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('mapping_versions_key', ['tenant_id', 'subject', 'mapping_hash'])
    .execute();
  await createSavedPlans(db);
}

async function createForeignWrites(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('foreign_writes')
    .addColumn('batch_id', 'text', (c) => c.notNull())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('run_id', 'text', (c) => c.notNull())
    .addColumn('target', 'text', (c) => c.notNull())
    .addColumn('record_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer')
    .addColumn('foreign_id', 'text')
    .addColumn('verb', 'text')
    .addColumn('attempt', 'integer')
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('fields', 'text', (c) => c.notNull())
    .addColumn('sensitive', 'text', (c) => c.notNull())
    .addColumn('changes', 'text', (c) => c.notNull())
    .addColumn('row_hash', 'text')
    .addColumn('mapping_hash', 'text')
    .addColumn('by', 'text', (c) => c.notNull())
    .addColumn('sent_at', 'bigint', (c) => c.notNull())
    .addColumn('outcome', 'text', (c) => c.notNull())
    .addColumn('verified_at', 'bigint')
    .addColumn('purged_at', 'bigint')
    .addPrimaryKeyConstraint('foreign_writes_key', ['batch_id', 'record_id', 'target'])
    .execute();
  const index = (name: string) => db.schema.createIndex(name).on('foreign_writes');
  await index('foreign_writes_of_record').columns(['tenant_id', 'record_id', 'sent_at']).execute();
  await index('foreign_writes_by_time').columns(['tenant_id', 'sent_at']).execute();
  await index('foreign_writes_open').columns(['tenant_id', 'target']).where(sql<boolean>`outcome = 'open'`).execute();
  await index('foreign_writes_kept').columns(['tenant_id', 'sent_at']).where(sql<boolean>`changes <> '{}'`).execute();
}

async function createSavedPlans(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('saved_plans')
    .addColumn('plan_hash', 'text', (c) => c.primaryKey())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('subject', 'text', (c) => c.notNull())
    .addColumn('source', 'text', (c) => c.notNull())
    .addColumn('mapping_hash', 'text')
    .addColumn('planned_at', 'bigint', (c) => c.notNull())
    .addColumn('planned_by', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('saved_plan_records')
    .addColumn('plan_hash', 'text', (c) => c.notNull())
    .addColumn('record_id', 'text', (c) => c.notNull())
    .addColumn('change', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('saved_plan_records_key', ['plan_hash', 'record_id'])
    .execute();
}
