import { type Kysely, sql } from 'kysely';

/** Alarms that are told, deliveries that are stuck or wait, and a tenant's daily digest. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('alarms').addColumn('notified_at', 'bigint').execute();
  await db.schema.alterTable('tenants').addColumn('notify_until', 'bigint').execute();
  await db.schema.alterTable('tenants').addColumn('digested_on', 'text').execute();
  await db.schema
    .createIndex('inbox_stuck')
    .on('inbox')
    .columns(['tenant_id', 'state', 'event', 'received_at'])
    .where(sql<boolean>`state in ('unknown', 'undeliverable')`)
    .execute();
  await db.schema
    .createIndex('inbox_waiting')
    .on('inbox')
    .columns(['tenant_id'])
    .where(sql<boolean>`state = 'waiting'`)
    .execute();
  await db.schema.createIndex('hires_by_end').on('hires').columns(['tenant_id', 'ended_at']).execute();
  await db.schema.createIndex('hires_by_start').on('hires').columns(['tenant_id', 'opened_at']).execute();
  await db.schema.createIndex('holds_by_start').on('holds').columns(['tenant_id', 'opened_at']).execute();
}
