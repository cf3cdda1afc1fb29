import type { Kysely } from 'kysely';

/** What exchanges wrote lately, counted: their change limits look back for an hour. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('exchange_tallies')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('written_at', 'bigint', (c) => c.notNull())
    .addColumn('tally', 'text', (c) => c.notNull())
    .execute();
  await db.schema
    .createIndex('exchange_tallies_lately')
    .on('exchange_tallies')
    .columns(['tenant_id', 'stream', 'written_at'])
    .execute();
}
