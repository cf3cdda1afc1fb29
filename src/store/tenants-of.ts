import { type RawBuilder, sql } from 'kysely';

/**
 * Begins a statement: `known` lists the tenants that have rows in a table, and ends with a null. Each tenant costs one
 * step in an index that begins with the tenant, however many rows it has; `group by` would read all rows.
 */
export function withTenantsOf(table: 'inbox' | 'hints', where: RawBuilder<boolean>): RawBuilder<unknown> {
  const first = sql`select min(tenant_id) from ${sql.table(table)} as rest where ${where}`;
  return sql`with recursive known (tenant_id) as (
    ${first}
    union all
    select (${first} and rest.tenant_id > known.tenant_id) from known where known.tenant_id is not null
  )`;
}
