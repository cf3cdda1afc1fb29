import { type Kysely, sql } from 'kysely';

/** How many records the partner's total counted in the latest pass beside those that its pages showed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table stream_states add column unshown integer`.execute(db);
}
