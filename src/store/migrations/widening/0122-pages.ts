import { type Kysely, sql } from 'kysely';

/** Pages read a whole table for what they show: a hire by its id, acts, plans, reasons of holds, pairs left out. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const index = (name: string, on: string) => db.schema.createIndex(name).on(on);
  await index('hires_by_number', 'hires').column('job_candidate_id').execute();
  await index('audit_by_person', 'audit').columns(['by', 'at']).execute();
  await index('audit_by_act', 'audit').columns(['act', 'at']).execute();
  await index('saved_plans_latest', 'saved_plans').columns(['tenant_id', 'planned_at']).execute();
  await index('holds_by_reason', 'holds').columns(['code', 'opened_at', 'hold_id']).execute();
  await index('exchange_pairs_missing', 'exchange_pairs')
    .columns(['tenant_id', 'stream'])
    .where(sql<boolean>`missing_side is not null and gone_at is null`)
    .execute();
  await index('exchange_pairs_in_doubt', 'exchange_pairs')
    .columns(['tenant_id', 'stream'])
    .where(sql<boolean>`sent <> '{}'`)
    .execute();
}
