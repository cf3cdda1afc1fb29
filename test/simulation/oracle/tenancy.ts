import { served, type World } from '../world.ts';

const TABLES = ['hires', 'intents', 'persons', 'person_keys', 'plans', 'holds'];

/**
 * I4: no row of ours names a tenant and another tenant's person, and no employee was made through another tenant's
 * connection.
 */
export function checkTenancy(world: World): string[] {
  const companyOf = new Map(
    world.state
      .all<{ id: number; companyId: number }>('select id, company_id as companyId from candidates')
      .map(({ id, companyId }) => [String(id), companyId]),
  );
  const customers = served(world);
  const rows = customers.flatMap(({ tenant, companyId }) =>
    TABLES.flatMap((table) =>
      world.store
        .all<{ id: string | null }>(
          `select distinct job_candidate_id as id from ${table} where tenant_id = ?`,
          tenant.tenant,
        )
        .filter(({ id }) => id !== null && (companyOf.get(world.people.get(id) ?? '') ?? companyId) !== companyId)
        .map(({ id }) => `I4 ${table} of tenant ${tenant.tenant} names job candidate ${id} of another company`),
    ),
  );
  const employees = customers.flatMap(({ tenant, hris }) => {
    const own = customers.filter((one) => one.systems.includes(hris)).map(({ companyId }) => String(companyId));
    return hris.employees
      .filter(({ reference }) => reference !== undefined && !own.includes(reference.split(':')[0] ?? ''))
      .map(({ reference }) => `I4 the HRIS of tenant ${tenant.tenant} holds ${reference}`);
  });
  return [...rows, ...employees];
}
