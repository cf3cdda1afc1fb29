import { type Kysely, sql } from 'kysely';

/** Tables of the partner that mappings look values up in: users, teams, pipelines, stages, onboarding flows. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table lookup_rows (tenant_id text not null, stream text not null, record_id text not null,
    row_hash text not null, fields text not null,
    constraint lookup_rows_key primary key (tenant_id, stream, record_id))`.execute(db);
}
