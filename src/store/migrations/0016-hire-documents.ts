import type { Kysely } from 'kysely';

/** Documents of a hire on their way into the employee's record: what became of each, and when a hire was looked at. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('hire_documents')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('document', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('sha256', 'text')
    .addColumn('reason', 'text')
    .addColumn('sent_at', 'bigint')
    .addColumn('give_up_at', 'bigint')
    .addColumn('run_id', 'text')
    .addPrimaryKeyConstraint('hire_documents_key', ['tenant_id', 'job_candidate_id', 'period', 'document'])
    .execute();
  await db.schema
    .createTable('document_looks')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('looked_at', 'bigint', (c) => c.notNull())
    .addColumn('again', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('document_looks_key', ['tenant_id', 'job_candidate_id', 'period'])
    .execute();
}
