import { type Kysely, sql } from 'kysely';

/** When an option that should go was last found in use: asking again means reading every record. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table option_labels add column in_use_at bigint`.execute(db);
}
