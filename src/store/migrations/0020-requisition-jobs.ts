import { type Kysely, sql } from 'kysely';

/** An index that finds the requisition a job was made from. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index requisitions_by_job on requisitions (tenant_id, job_id, requisition_id)`.execute(db);
}
