import { type Kysely, sql } from 'kysely';

/**
 * What the console's lists are read by, a page at a time: newest hires, oldest holds, latest acts. What reads the inbox
 * stands in 0106, because webhooks must not wait for it.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const index = (name: string, on: string) => db.schema.createIndex(name).on(on);
  await db.schema.dropIndex('hires_by_state').execute();
  await index('hires_by_state', 'hires').columns(['tenant_id', 'state', 'opened_at']).execute();
  await index('hires_newest', 'hires').columns(['state', 'opened_at']).execute();
  await index('holds_by_time', 'holds').columns(['opened_at', 'hold_id']).execute();
  await index('holds_waiting', 'holds')
    .columns(['opened_at', 'hold_id'])
    .where(sql<boolean>`closed_at is null`)
    .execute();
  await index('audit_by_time', 'audit').column('at').execute();
}
