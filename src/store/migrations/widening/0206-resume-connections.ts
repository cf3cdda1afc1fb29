import { type Kysely, sql } from 'kysely';

/** Which HR system listed a file: another one gives the same ids to other files. Null: the one in use at the time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table resumes add column connection text`.execute(db);
}
