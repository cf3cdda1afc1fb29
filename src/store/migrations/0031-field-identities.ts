import { type Kysely, sql } from 'kysely';

/** Which fields of either side the agreed values of a pair belong to. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table exchange_pairs add column identities text default '{}' not null`.execute(db);
}
