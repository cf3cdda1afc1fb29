import { type Kysely, sql } from 'kysely';

/** Why a process can do nothing although it runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table processes add column trouble text`.execute(db);
}
