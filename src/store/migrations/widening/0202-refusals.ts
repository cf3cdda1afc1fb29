import type { Kysely } from 'kysely';

/** What an HR system said as it refused a request of a hire, until the hire's question is opened. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('refusals')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('code', 'text', (c) => c.notNull())
    .addColumn('message', 'text', (c) => c.notNull())
    .addColumn('refused_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('refusals_key', ['tenant_id', 'job_candidate_id', 'period'])
    .execute();
}
