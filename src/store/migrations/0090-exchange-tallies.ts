import { type Kysely, sql } from 'kysely';

/** What exchanges wrote lately, counted: their change limits look back for an hour. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table exchange_tallies (tenant_id text not null, stream text not null, written_at bigint not null,
    tally text not null)`.execute(db);
  await sql`create index exchange_tallies_lately on exchange_tallies (tenant_id, stream, written_at)`.execute(db);
}
