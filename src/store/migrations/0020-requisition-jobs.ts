import { type Kysely, sql } from 'kysely';

/** Finds the requisition that a job was made of. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index requisitions_by_job on requisitions (tenant_id, job_id, requisition_id)`.execute(db);
}
