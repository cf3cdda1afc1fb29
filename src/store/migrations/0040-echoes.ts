import type { Kysely } from 'kysely';

/** What was last written of a pair's fields, until its side is seen to hold just that. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('exchange_pairs')
    .addColumn('echoes', 'text', (c) => c.notNull().defaultTo('{}'))
    .execute();
}
