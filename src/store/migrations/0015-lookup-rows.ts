import type { Kysely } from 'kysely';

/** Tables of the partner that mappings look values up in: users, teams, pipelines, stages, onboarding flows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('lookup_rows')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('record_id', 'text', (c) => c.notNull())
    .addColumn('row_hash', 'text', (c) => c.notNull())
    .addColumn('fields', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('lookup_rows_key', ['tenant_id', 'stream', 'record_id'])
    .execute();
}
