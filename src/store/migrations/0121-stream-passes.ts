import type { Kysely } from 'kysely';

/** What the latest complete passes over the whole list of a stream found, so that people see how it went over time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createTable('stream_passes')
    .addColumn('tenant_id', 'text', (c) => c.notNull())
    .addColumn('stream', 'text', (c) => c.notNull())
    .addColumn('began_at', 'bigint', (c) => c.notNull())
    .addColumn('ended_at', 'bigint', (c) => c.notNull())
    .addColumn('listed', 'bigint', (c) => c.notNull())
    .addColumn('landed', 'bigint', (c) => c.notNull())
    .addColumn('created', 'bigint', (c) => c.notNull())
    .addColumn('updated', 'bigint', (c) => c.notNull())
    .addColumn('quarantined', 'bigint', (c) => c.notNull())
    .addPrimaryKeyConstraint('stream_passes_key', ['tenant_id', 'stream', 'began_at'])
    .execute();
}
