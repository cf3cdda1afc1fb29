import type { Kysely } from 'kysely';

/** What the HR system knows first and the partner is told: requisitions that become jobs, employees that change. */
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
  await db.schema
    .createTable('employments')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('employee_id', 'text', (c) => c.notNull())
    .addColumn('written_id', 'text', (c) => c.notNull())
    .addColumn('status', 'text', (c) => c.notNull())
    .addColumn('written_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('employments_key', ['tenant_id', 'employee_id'])
    .execute();
  await db.schema
    .createTable('change_cursors')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('connection', 'text', (c) => c.notNull())
    .addColumn('cursor', 'text', (c) => c.notNull())
    .addColumn('began_at', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('change_cursors_key', ['tenant_id', 'connection'])
    .execute();
}
