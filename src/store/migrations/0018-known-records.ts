import { type Kysely, sql } from 'kysely';

/** What the records of a page came as, so that those that come the same again need not be read. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table stream_pages add column known text`.execute(db);
}
