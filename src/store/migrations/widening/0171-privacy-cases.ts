import { type Kysely, sql } from 'kysely';

/** People whom the tenant's privacy policy says something about, until it is done or a person has decided. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table privacy_cases (tenant_id text not null, candidate_id text not null, cause text not null,
    state text not null, why text, since bigint not null, due_at bigint not null, decided_by text,
    constraint privacy_cases_key primary key (tenant_id, candidate_id, cause))`.execute(db);
}
