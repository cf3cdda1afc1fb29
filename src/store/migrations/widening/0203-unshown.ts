import type { Kysely } from 'kysely';

/** How many records the partner's total counted in the latest pass beside those that its pages showed. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('stream_states').addColumn('unshown', 'integer').execute();
}
