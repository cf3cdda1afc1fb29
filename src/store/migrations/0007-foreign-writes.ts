import { type Kysely, sql } from 'kysely';

/** Every foreign write with old and new value, the mappings behind them, and plans that a person applies. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table foreign_writes (batch_id text not null, tenant_id text not null, run_id text not null,
    target text not null, record_id text not null, period integer, foreign_id text, verb text, attempt integer,
    kind text not null, fields text not null, sensitive text not null, changes text not null, row_hash text,
    mapping_hash text, by text not null, sent_at bigint not null, outcome text not null, verified_at bigint,
    purged_at bigint, constraint foreign_writes_key primary key (batch_id, record_id, target))`.execute(db);
  await sql`create index foreign_writes_of_record on foreign_writes (tenant_id, record_id, sent_at)`.execute(db);
  await sql`create index foreign_writes_by_time on foreign_writes (tenant_id, sent_at)`.execute(db);
  await sql`create index foreign_writes_open on foreign_writes (tenant_id, target) where outcome = 'open'`.execute(db);
  await sql`create index foreign_writes_kept on foreign_writes (tenant_id, sent_at) where changes <> '{}'`.execute(db);
  await sql`create table mapping_versions (tenant_id text not null, subject text not null, mapping_hash text not null,
    file text, files text not null, first_used_at bigint not null,
    constraint mapping_versions_key primary key (tenant_id, subject, mapping_hash))`.execute(db);
  await sql`create table saved_plans (plan_hash text primary key, tenant_id text not null, subject text not null,
    source text not null, mapping_hash text, planned_at bigint not null, planned_by text not null)`.execute(db);
  await sql`create table saved_plan_records (plan_hash text not null, record_id text not null, change text not null,
    state text not null, constraint saved_plan_records_key primary key (plan_hash, record_id))`.execute(db);
}
