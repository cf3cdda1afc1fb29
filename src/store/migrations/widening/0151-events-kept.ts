import { type Kysely, sql } from 'kysely';

/** Events that were taken are kept for a time: they are listed by tenant, and end by when they were taken. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.createIndex('events_out_by_tenant').on('events_out').columns(['tenant_id', 'event_no']).execute();
  await db.schema
    .createIndex('events_out_taken')
    .on('events_out')
    .column('taken_at')
    .where(sql<boolean>`taken_at is not null`)
    .execute();
}
