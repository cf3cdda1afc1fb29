import type { Kysely } from 'kysely';

/** People whom the tenant's privacy policy says something about, until it is done or a person has decided. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('privacy_cases')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('candidate_id', 'text', (c) => c.notNull())
    .addColumn('cause', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('why', 'text')
    .addColumn('since', 'bigint', (c) => c.notNull())
    .addColumn('due_at', 'bigint', (c) => c.notNull())
    .addColumn('decided_by', 'text')
    .addPrimaryKeyConstraint('privacy_cases_key', ['tenant_id', 'candidate_id', 'cause'])
    .execute();
}
