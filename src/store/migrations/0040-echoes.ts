import { type Kysely, sql } from 'kysely';

/** What was last written of a pair's fields, until its side is seen to hold just that. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table exchange_pairs add column echoes text default '{}' not null`.execute(db);
}
