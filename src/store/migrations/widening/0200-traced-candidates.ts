import { type Kysely, sql } from 'kysely';

/** Finds a candidate's applications with an enrolment of ours; a first baseline has none, and rows without stay out. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index seen_people_traced on seen_people (tenant_id, candidate_id)
    where trace is not null`.execute(db);
}
