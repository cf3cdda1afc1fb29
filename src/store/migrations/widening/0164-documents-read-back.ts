import type { Kysely } from 'kysely';

/** When a document was read back after its upload. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('hire_documents').addColumn('read_back_at', 'bigint').execute();
}
