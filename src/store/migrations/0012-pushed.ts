import type { Kysely } from 'kysely';

/** What the HR system knows first and the partner is told: requisitions that become jobs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('requisitions')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('requisition_id', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('attempt', 'integer', (c) => c.notNull())
    .addColumn('job_id', 'text')
    .addColumn('hold_id', 'text')
    .addColumn('sent_at', 'bigint')
    .addColumn('give_up_at', 'bigint')
    .addColumn('run_id', 'text')
    .addPrimaryKeyConstraint('requisitions_key', ['tenant_id', 'requisition_id'])
    .execute();
}
