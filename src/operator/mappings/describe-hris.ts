import type { FieldDefinition } from '../../store/fields.ts';
import type { Store } from '../../store/open-store.ts';
import type { Tenant } from '../../tenants/schema.ts';
import { openHris } from '../open-hris.ts';
import { CALL_MS } from '../open-partner.ts';

/** What the HR system says of an employee's fields; nothing where it describes none. */
export async function describeHris(tenant: Tenant, store: Store | undefined): Promise<FieldDefinition[]> {
  const hris = await openHris(tenant, store);
  try {
    const described = (await hris.describe?.('employee', AbortSignal.timeout(CALL_MS))) ?? [];
    return described.map(({ key: id, isField: _isField, ...rest }) => ({ id, entity: 'employee', ...rest }));
  } finally {
    await hris.close();
  }
}
