import type { Kysely } from 'kysely';

/** What the records of a page came as, so that those that come the same again need not be read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('stream_pages').addColumn('known', 'text').execute();
}
