import { type Kysely, sql } from 'kysely';

/** Hires that are recorded and not started: what they would come to, or why they are not this tenant's. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('hires').addColumn('observed', 'text').execute();
  await db.schema.alterTable('hires').addColumn('passed_over', 'text').execute();
  await db.schema
    .createIndex('hires_observed')
    .on('hires')
    .columns(['tenant_id', 'opened_at'])
    .where(sql<boolean>`observed is not null`)
    .execute();
  await db.schema
    .createIndex('hints_starts')
    .on('hints')
    .columns(['tenant_id'])
    .where(sql<boolean>`stream = 'starts'`)
    .execute();
}
