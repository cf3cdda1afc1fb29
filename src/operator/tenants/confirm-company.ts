import { ConnectorError } from '../../errors.ts';
import { audit } from '../../store/audit.ts';
import type { Store } from '../../store/open-store.ts';
import { confirmCompany as confirm, readTenantState } from '../../store/tenant-states.ts';

/** A person says that the key of a tenant paused for COMPANY_MISMATCH is the right company's; the worker resumes it. */
export async function confirmCompany(
  store: Store,
  { tenantId, by }: { tenantId: string; by: string },
): Promise<{ confirmedAt: number; by: string }> {
  const confirmed = await confirm(store, tenantId, by);
  const { paused_code: pausedCode, company_confirmed_at: confirmedAt } = await readTenantState(store, tenantId);
  if (confirmed) {
    await audit(store, { by, tenantId, act: 'company-confirmed' });
    return { confirmedAt: Number(confirmedAt), by };
  }
  throw new ConnectorError({
    code: 'NOTHING_TO_CONFIRM',
    action: 'reject',
    message:
      `Tenant ${tenantId} is ${pausedCode === null ? 'not paused' : `paused for ${pausedCode}`}: a company can be ` +
      'confirmed only while its tenant is paused for COMPANY_MISMATCH. See: hirebridge status',
  });
}
