import type { Kysely } from 'kysely';

/** Which fields of either side the agreed values of a pair belong to. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('exchange_pairs')
    .addColumn('identities', 'text', (c) => c.notNull().defaultTo('{}'))
    .execute();
}
