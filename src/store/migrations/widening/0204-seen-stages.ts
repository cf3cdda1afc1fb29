import { type Kysely, sql } from 'kysely';

/** Compares a job's totals with the list of each stage: its people may have moved between the two readings. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table seen_people add column stage text`.execute(db);
}
