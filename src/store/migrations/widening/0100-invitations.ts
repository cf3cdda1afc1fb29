import type { Kysely } from 'kysely';

/** Whom a rule invited to an assessment, or is about to: once for each person and assessment. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('invitations')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('assessment_id', 'text', (c) => c.notNull())
    .addColumn('candidate_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('in_doubt', 'integer', (c) => c.notNull())
    .addColumn('batch_id', 'text')
    .addColumn('write_id', 'text')
    .addColumn('code', 'text')
    .addColumn('sent_at', 'bigint')
    .addColumn('give_up_at', 'bigint')
    .addColumn('decided_at', 'bigint')
    .addPrimaryKeyConstraint('invitations_key', ['tenant_id', 'assessment_id', 'candidate_id'])
    .execute();
  const open = db.schema.createIndex('invitations_open').on('invitations').columns(['tenant_id', 'state']);
  await open.execute();
}
