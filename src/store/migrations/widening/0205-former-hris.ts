import { type Kysely, sql } from 'kysely';

/** Questions that were asked about a tenant's former HR system: employee ids in their answers mean others now. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table holds add column former_hris text`.execute(db);
}
