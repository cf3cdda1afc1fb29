import { createHmac } from 'node:crypto';
import { isConnectorError } from '../../src/errors.ts';
import type { EmployeeFields } from '../../src/hire/employee.ts';
import { endIdentityLease, type IdentityLease, takeIdentityLease } from '../../src/store/identity-leases.ts';
import { identityKeys } from './read-findings.ts';
import type { HireContext } from './with-hire.ts';
import type { Once } from './write-once.ts';

/**
 * Looks and creates while no other hire creates somebody of the same e-mail, or of the same name and birth date. The
 * partner may have one human as two candidates; hired at once, each would be looked up before the other is there.
 */
export async function underIdentityLease<T>(
  hire: HireContext,
  fields: EmployeeFields,
  create: () => Promise<Once<T>>,
): Promise<Once<T>> {
  const { store, deps, connection } = hire;
  const { readLagMs } = connection.hris.capabilities;
  const lease = leaseFor(hire, fields);
  // A request leaves within two deadlines of the reading, and is over within another one; then reads may lag.
  await takeIdentityLease(store, lease, 3 * deps.limits.giveUpMs + readLagMs);
  try {
    const once = await create();
    // Of one that left and is not found nothing is known; the lease runs out by itself.
    if (once.kind !== 'unprovable') await endIdentityLease(store, lease, once.kind === 'made' ? readLagMs : 0);
    return once;
  } catch (error) {
    if (isConnectorError(error) && error.action !== 'unknown') await endIdentityLease(store, lease, 0);
    throw error;
  }
}

function leaseFor({ store, connection, ref }: HireContext, fields: EmployeeFields): IdentityLease {
  const keys = identityKeys(fields).map((key) => {
    const words = key.by === 'email' ? [key.value] : [key.givenName, key.familyName, key.birthDate];
    return createHmac('sha256', store.installationId)
      .update(JSON.stringify([key.by, ...words.map(folded)]))
      .digest('base64url');
  });
  return { connection: connection.tenant.hris.connection, hire: ref, keys };
}

/** As the kinds compare them. */
function folded(text: string): string {
  return text.normalize('NFC').trim().replaceAll(/\s+/g, ' ').toLowerCase();
}
