import pLimit from 'p-limit';
import { isConnectorError, rejected } from '../errors.ts';
import type { Store } from '../store/open-store.ts';
import { parseTenant } from '../tenants/load-tenants.ts';
import type { PlannedTenant } from '../tenants/plan-application.ts';
import type { Tenant } from '../tenants/schema.ts';
import { isSecretRef, resolveSecret } from '../tenants/secrets.ts';
import { type CheckLine, checkTenant } from './check-tenant.ts';

interface CheckedApplications {
  failures: { tenantId: string; check: CheckLine['check']; message: string }[];
  /** Tenants left unchecked because their secrets are on the machines that run them. */
  unchecked: { tenantId: string; why: string }[];
}

const AT_ONCE = 8;

/** Checks of past events rather than of the files: the new files may be the cure. */
const PAST: ReadonlySet<CheckLine['check']> = new Set(['state', 'webhooks', 'rate-limit']);

/** Asks both sides whether a tenant could work with these files; reads only. */
export async function checkDefinition(tenant: Tenant, store: Store): Promise<CheckLine[]> {
  return (await checkTenant(tenant, store)).filter(({ check }) => !PAST.has(check));
}

/** Refuses tenants that could not work. @throws ConnectorError CHECK_FAILED with every cause */
export async function assertChecked(...given: Parameters<typeof checkApplications>): Promise<void> {
  const { failures } = await checkApplications(...given);
  if (failures.length === 0) return;
  throw rejected(
    'CHECK_FAILED',
    `Nothing was applied. ${failures.map(({ check, message }) => `${check}: ${message}`).join(' ')}`,
  );
}

/** Asks both sides about every tenant that would be applied; reads only. */
export async function checkApplications(
  store: Store,
  applications: readonly Pick<PlannedTenant, 'tenantId' | 'file' | 'files'>[],
): Promise<CheckedApplications> {
  const checked: CheckedApplications = { failures: [], unchecked: [] };
  await pLimit(AT_ONCE).map(applications, async ({ tenantId, ...definition }) => {
    const tenant = await parseTenant(definition);
    const why = missingSecret(tenant);
    if (why !== undefined) checked.unchecked.push({ tenantId, why });
    else
      for (const { check, state, message } of await checkDefinition(tenant, store))
        if (state === 'fail') checked.failures.push({ tenantId, check, message });
  });
  return checked;
}

function missingSecret({ partner, hris, landing }: Tenant): string | undefined {
  const refs = [partner.apiKey, landing?.url, ...Object.values(hris.options)].filter((one) => typeof one === 'string');
  try {
    for (const ref of refs) if (isSecretRef(ref)) resolveSecret(ref);
    return undefined;
  } catch (error) {
    if (isConnectorError(error, 'SECRET_MISSING')) return error.message;
    throw error;
  }
}
