import type { Kysely } from 'kysely';

/** Whom a rule made a candidate of a job, or is about to: once for each lead and job. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('sourced_leads')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('lead_id', 'text', (c) => c.notNull())
    .addColumn('job_id', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('candidate_id', 'text')
    .addColumn('job_candidate_id', 'text')
    .addColumn('write_id', 'text')
    .addColumn('code', 'text')
    .addColumn('sent_at', 'bigint')
    .addColumn('give_up_at', 'bigint')
    .addColumn('decided_at', 'bigint')
    .addPrimaryKeyConstraint('sourced_leads_key', ['tenant_id', 'lead_id', 'job_id'])
    .execute();
  await db.schema
    .createIndex('sourced_leads_person')
    .on('sourced_leads')
    .columns(['tenant_id', 'candidate_id'])
    .execute();
}
