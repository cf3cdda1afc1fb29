import type { Kysely } from 'kysely';

/** Why a process can do nothing although it runs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('processes').addColumn('trouble', 'text').execute();
}
