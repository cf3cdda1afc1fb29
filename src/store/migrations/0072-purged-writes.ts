import { type Kysely, sql } from 'kysely';

/** Landed records whose values were purged, many in a row, and the writes of one run. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table purged_writes (page_id text primary key, tenant_id text not null, run_id text not null,
    target text not null, mapping_hash text, by text not null, sent_at bigint not null, purged_at bigint not null,
    records text not null)`.execute(db);
  await sql`create index purged_writes_by_time on purged_writes (tenant_id, sent_at)`.execute(db);
  await sql`create index purged_writes_of_run on purged_writes (tenant_id, run_id)`.execute(db);
  await sql`create index foreign_writes_of_run on foreign_writes (tenant_id, run_id, sent_at)`.execute(db);
}
