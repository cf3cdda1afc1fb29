import type { Kysely } from 'kysely';

/** Which batches of foreign writes are open: said of each row, landing a page wrote every one of them twice. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('open_batches')
    .addColumn('batch_id', 'text', (c) => c.primaryKey())
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .execute();
}
