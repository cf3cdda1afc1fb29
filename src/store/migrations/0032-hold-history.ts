import type { Kysely } from 'kysely';

/** Answers after which the same hold went on: a `retry` that found the cause still there. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .alterTable('holds')
    .addColumn('history', 'text', (c) => c.notNull().defaultTo('[]'))
    .execute();
}
