import { type RawBuilder, sql } from 'kysely';
import type { HireRef } from '../hire/hire.ts';

/** The columns that name a hire in every table; usable in `values`, and in `where` through `eb.and`. */
export function hireColumns({ tenantId, jobCandidateId, period }: HireRef) {
  return { tenant_id: tenantId, job_candidate_id: jobCandidateId, period };
}

/** The hire that a row names in these columns. */
export function hireOf(row: { tenant_id: string; job_candidate_id: string; period: number }): HireRef {
  return { tenantId: row.tenant_id, jobCandidateId: row.job_candidate_id, period: row.period };
}

/** Rows or ids in one statement: databases limit its parameters. */
const MOST = 1_000;

export function batchesOf<T>(all: readonly T[], most = MOST): T[][] {
  return Array.from({ length: Math.ceil(all.length / most) }, (_, n) => all.slice(n * most, (n + 1) * most));
}

/** What retention leaves in a JSON column; the ids in other columns stay. */
export const PURGED = '{}';

/** The content of a column, or `purged` once retention has cleared it. */
export function readKept<Kept>(column: string): Kept | 'purged' {
  return column === PURGED ? 'purged' : (JSON.parse(column) as Kept);
}

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
