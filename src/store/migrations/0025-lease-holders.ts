import { type Kysely, sql } from 'kysely';

/** Which attempt of a hire has a lease, and since when its create waits for somebody who finishes it over there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table identity_leases add column holder text`.execute(db);
  await sql`alter table identity_leases add column pending_since bigint`.execute(db);
}
