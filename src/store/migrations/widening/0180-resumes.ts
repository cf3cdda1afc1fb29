import type { Kysely } from 'kysely';

/** Files of the customer that become candidates of a job, once for each file and job. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('resumes')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('resume_id', 'text', (c) => c.notNull())
    .addColumn('job_id', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('url', 'text')
    .addColumn('token', 'text', (c) => c.unique())
    .addColumn('content', 'text')
    .addColumn('batch_id', 'text')
    .addColumn('candidate_id', 'text')
    .addColumn('write_id', 'text')
    .addColumn('code', 'text')
    .addColumn('sent_at', 'bigint')
    .addColumn('give_up_at', 'bigint')
    .addColumn('decided_at', 'bigint')
    .addPrimaryKeyConstraint('resumes_key', ['tenant_id', 'resume_id', 'job_id'])
    .execute();
  await db.schema.createIndex('resumes_open').on('resumes').columns(['tenant_id', 'state']).execute();
  await db.schema.createIndex('resumes_person').on('resumes').columns(['tenant_id', 'candidate_id']).execute();
}
