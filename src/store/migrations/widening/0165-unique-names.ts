import type { Kysely } from 'kysely';

/** User names and work e-mails that hires were given: each is one hire's in its HR system, and each hire has one. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('unique_names')
    .addColumn('connection', 'text', (c) => c.notNull())
    .addColumn('place', 'text', (c) => c.notNull())
    .addColumn('name_key', 'text', (c) => c.notNull())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('job_candidate_id', 'text', (c) => c.notNull())
    .addColumn('period', 'integer', (c) => c.notNull())
    .addColumn('field', 'text', (c) => c.notNull())
    .addColumn('name', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('unique_names_key', ['connection', 'place', 'name_key'])
    .addUniqueConstraint('unique_names_hire', ['tenant_id', 'job_candidate_id', 'period', 'field'])
    .execute();
}
