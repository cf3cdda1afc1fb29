import { type Kysely, sql } from 'kysely';

/** What the latest complete passes over the whole list of a stream found, so that people see how it went over time. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table stream_passes (tenant_id text not null, stream text not null, began_at bigint not null,
    ended_at bigint not null, listed bigint not null, landed bigint not null, created bigint not null,
    updated bigint not null, quarantined bigint not null,
    constraint stream_passes_key primary key (tenant_id, stream, began_at))`.execute(db);
}
