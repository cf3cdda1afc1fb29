import { type Kysely, sql } from 'kysely';

/** Which batches of foreign writes are open: said of each row, landing a page wrote every one of them twice. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table open_batches (batch_id text primary key, tenant_id text not null)`.execute(db);
}
