import { type Kysely, sql } from 'kysely';

/**
 * An index that finds a candidate's applications with an enrolment of ours. It leaves out rows without one, so it is
 * empty after a first baseline.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index seen_people_traced on seen_people (tenant_id, candidate_id)
    where trace is not null`.execute(db);
}
