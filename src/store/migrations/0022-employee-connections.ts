import { type Kysely, sql } from 'kysely';

/** Which HR system a hire's employee stands in: tenants may share one, and their employees' ids may be the same. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await db.schema.alterTable('hires').addColumn('connection', 'text').execute();
  await db.schema.createIndex('hires_by_employee').on('hires').column('employee_id').execute();
  await sql`
    update hires set connection = (
      select min(links.connection) from links
      where links.employee_id = hires.employee_id and links.candidate_id = hires.candidate_id)
    where employee_id is not null`.execute(db);
}
