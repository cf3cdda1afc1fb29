import type { FieldDefinition } from '../../store/fields.ts';
import { openTenantHris } from '../../tenants/open-hris.ts';
import type { Tenant } from '../../tenants/schema.ts';
import { CALL_MS } from '../open-partner.ts';

/** What the HR system says of an employee's fields; nothing where it describes none. */
export async function describeHris(tenant: Tenant): Promise<FieldDefinition[]> {
  const hris = await openTenantHris(tenant);
  try {
    const described = (await hris.describe?.('employee', AbortSignal.timeout(CALL_MS))) ?? [];
    return described.map(({ key: id, isField: _isField, ...rest }) => ({ id, entity: 'employee', ...rest }));
  } finally {
    await hris.close();
  }
}
