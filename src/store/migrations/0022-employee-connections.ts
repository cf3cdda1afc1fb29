import { type Kysely, sql } from 'kysely';

/**
 * Which HR system a hire's employee stands in: tenants may share one, and their employees' ids may be the same. The
 * index finds a candidate's links, here and where the latest of them is asked for.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table hires add column connection text`.execute(db);
  await sql`create index hires_by_employee on hires (employee_id)`.execute(db);
  await sql`create index links_by_tenant_candidate on links (tenant_id, candidate_id, connection)`.execute(db);
  await sql`
    update hires set connection = (
      select min(links.connection) from links
      where links.tenant_id = hires.tenant_id and links.candidate_id = hires.candidate_id
        and links.employee_id = hires.employee_id)
    where employee_id is not null`.execute(db);
}
