import type { Kysely } from 'kysely';

/** When an option that should go was last found in use: asking again means reading every record. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('option_labels').addColumn('in_use_at', 'bigint').execute();
}
