import type { Kysely } from 'kysely';

/** Compares a job's totals with the list of each stage: its people may have moved between the two readings. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('seen_people').addColumn('stage', 'text').execute();
}
