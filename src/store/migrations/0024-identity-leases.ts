import type { Kysely } from 'kysely';

/** Who is being looked up and created, by a hash of what identifies them, so that nobody does it twice at once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('identity_leases')
    .addColumn('connection', 'text', (c) => c.notNull())
    .addColumn('key', 'text', (c) => c.notNull())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('leased_until', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('identity_leases_key', ['connection', 'key'])
    .execute();
}
