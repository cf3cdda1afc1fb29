import { type Kysely, sql } from 'kysely';

/** What both sides of a linked pair last agreed on, and where they do not. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('exchange_pairs')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('pair_id', 'text', (c) => c.notNull())
    .addColumn('bases', 'text', (c) => c.notNull())
    .addColumn('sent', 'text', (c) => c.notNull())
    .addColumn('version', 'integer', (c) => c.notNull())
    .addColumn('settles_at', 'bigint', (c) => c.notNull())
    .addColumn('missing_side', 'text')
    .addColumn('missing_run', 'text')
    .addColumn('gone_at', 'bigint')
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('exchange_pairs_key', ['tenant_id', 'stream', 'pair_id'])
    .execute();
  await createConflicts(db);
  const column = () => db.schema.alterTable('streams');
  await column().addColumn('cursor', 'text').execute();
  await column()
    .addColumn('skipped', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
  await column()
    .addColumn('held', 'integer', (c) => c.notNull().defaultTo(0))
    .execute();
}

async function createConflicts(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('field_conflicts')
    .addColumn('conflict_id', 'text', (c) => c.primaryKey())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('pair_id', 'text', (c) => c.notNull())
    .addColumn('field', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('code', 'text')
    .addColumn('partner_form', 'text')
    .addColumn('hris_form', 'text')
    .addColumn('partner_value', 'text')
    .addColumn('hris_value', 'text')
    .addColumn('is_sensitive', 'integer', (c) => c.notNull())
    .addColumn('kept', 'text')
    .addColumn('times', 'integer', (c) => c.notNull())
    .addColumn('since', 'bigint', (c) => c.notNull())
    .addColumn('closed_at', 'bigint')
    .execute();
  const index = (name: string) => db.schema.createIndex(name).on('field_conflicts');
  await index('field_conflicts_by_time').columns(['tenant_id', 'since']).execute();
  await index('field_conflicts_open')
    .unique()
    .columns(['tenant_id', 'stream', 'pair_id', 'field'])
    .where(sql<boolean>`closed_at is null`)
    .execute();
}
