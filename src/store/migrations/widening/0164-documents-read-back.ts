import { type Kysely, sql } from 'kysely';

/** When a document was read back after its upload. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table hire_documents add column read_back_at bigint`.execute(db);
}
