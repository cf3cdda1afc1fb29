import type { Kysely } from 'kysely';

/** What was last read of the consent of each application, where a tenant asks for it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('consents')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('candidate_id', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('shown', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('consents_key', ['tenant_id', 'job_candidate_id'])
    .execute();
  await db.schema.createIndex('consents_person').on('consents').columns(['tenant_id', 'candidate_id']).execute();
}
