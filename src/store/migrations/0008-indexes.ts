import { type Kysely, sql } from 'kysely';

/** What is asked of the inbox for status, lists and retention, and of a person across the HR systems of a company. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema
    .createIndex('inbox_left')
    .on('inbox')
    .columns(['tenant_id', 'state', 'received_at'])
    .where(sql<boolean>`state in ('undeliverable', 'other-company', 'unknown')`)
    .execute();
  await db.schema
    .createIndex('inbox_emptied')
    .on('inbox')
    .columns(['received_at'])
    .where(sql<boolean>`body = '' and state <> 'waiting'`)
    .execute();
  await db.schema.createIndex('inbox_received').on('inbox').columns(['tenant_id', 'received_at']).execute();
  await db.schema.createIndex('claims_by_person').on('claims').columns(['partner_company', 'candidate_id']).execute();
  await db.schema.createIndex('links_by_candidate').on('links').columns(['partner_company', 'candidate_id']).execute();
}
