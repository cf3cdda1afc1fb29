import type { Kysely } from 'kysely';

/** Where a reconcile stands, and whom it has seen so far, so that another process can go on from there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('reconciles')
    .addColumn('tenant_id', 'text', (c) => c.primaryKey())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('plan', 'text', (c) => c.notNull())
    .addColumn('position', 'text', (c) => c.notNull())
    .addColumn('counts', 'text', (c) => c.notNull())
    .addColumn('holder', 'text', (c) => c.notNull())
    .addColumn('started_at', 'bigint', (c) => c.notNull())
    .addColumn('updated_at', 'bigint', (c) => c.notNull())
    .execute();
  await db.schema
    .createTable('seen_people')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('candidate_id', 'text')
    .addColumn('job_id', 'text')
    .addColumn('seen', 'text', (c) => c.notNull())
    .addColumn('trace', 'text')
    .addPrimaryKeyConstraint('seen_people_key', ['tenant_id', 'job_candidate_id'])
    .execute();
  await db.schema.createIndex('seen_people_by_job').on('seen_people').columns(['tenant_id', 'job_id']).execute();
}
