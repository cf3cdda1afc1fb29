import type { Kysely } from 'kysely';

/** Which attempt of a hire has a lease, and since when its create waits for somebody who finishes it over there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('identity_leases').addColumn('holder', 'text').execute();
  await db.schema.alterTable('identity_leases').addColumn('pending_since', 'bigint').execute();
}
