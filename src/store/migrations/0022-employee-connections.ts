import { type Kysely, sql } from 'kysely';

/**
 * Which HR system a hire's employee stands in: tenants may share one, and their employees' ids may be the same. The
 * index finds a candidate's links, here and where the latest of them is asked for.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('hires').addColumn('connection', 'text').execute();
  await db.schema.createIndex('hires_by_employee').on('hires').column('employee_id').execute();
  const byTenantCandidate = db.schema.createIndex('links_by_tenant_candidate').on('links');
  await byTenantCandidate.columns(['tenant_id', 'candidate_id', 'connection']).execute();
  await sql`
    update hires set connection = (
      select min(links.connection) from links
      where links.tenant_id = hires.tenant_id and links.candidate_id = hires.candidate_id
        and links.employee_id = hires.employee_id)
    where employee_id is not null`.execute(db);
}
