import type { Kysely } from 'kysely';

/** Who was moved to another stage because they completed an assessment flow, once for each flow and application. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('stage_moves')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('flow', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('candidate_id', 'text', (c) => c.notNull())
    .addColumn('stage_id', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('write_id', 'text')
    .addColumn('code', 'text')
    .addColumn('sent_at', 'bigint')
    .addColumn('give_up_at', 'bigint')
    .addColumn('decided_at', 'bigint')
    .addPrimaryKeyConstraint('stage_moves_key', ['tenant_id', 'flow', 'job_candidate_id'])
    .execute();
  await db.schema.createIndex('stage_moves_open').on('stage_moves').columns(['tenant_id', 'state']).execute();
}
