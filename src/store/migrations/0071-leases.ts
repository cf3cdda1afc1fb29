import type { Kysely } from 'kysely';

/** What one process does for all of them, and until when nobody else does. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('leases')
    .addColumn('name', 'text', (c) => c.primaryKey())
    .addColumn('holder', 'text', (c) => c.notNull())
    .addColumn('leased_until', 'bigint', (c) => c.notNull())
    .execute();
}
