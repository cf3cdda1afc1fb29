import { type Kysely, sql } from 'kysely';

/** Who is being looked up and created, by a hash of what identifies them, so that nobody does it twice at once. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table identity_leases (connection text not null, key text not null, tenant_id text not null,
    job_candidate_id text not null, period integer not null, leased_until bigint not null,
    constraint identity_leases_key primary key (connection, key))`.execute(db);
}
