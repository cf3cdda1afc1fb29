import { ConnectorError } from '../../errors.ts';
import { observes } from '../../store/assert-may-write.ts';
import { requestStarts } from '../../store/observed-hires.ts';
import type { Store } from '../../store/open-store.ts';
import { isApplied, type TenantAct } from '../../store/tenant-acts.ts';
import { readTenantState } from '../../store/tenant-states.ts';
import type { ObservedHire } from './observed-hires.ts';
import { tenantNotApplied } from './read-tenants.ts';

/** Has these started; each is read again first, so whoever left since costs nothing. */
export async function startObservedHires(store: Store, act: TenantAct, hires: readonly ObservedHire[]): Promise<void> {
  const ids = hires.map(({ jobCandidateId }) => jobCandidateId);
  if (ids.length > 0) await requestStarts(store, act, ids);
}

/** @throws ConnectorError TENANT_UNKNOWN, TENANT_OBSERVES */
export async function assertLive(store: Store, tenantId: string): Promise<void> {
  if (!(await isApplied(store, tenantId))) throw tenantNotApplied(tenantId);
  await assertWrites(store, tenantId);
}

/** @throws ConnectorError TENANT_OBSERVES */
export async function assertWrites(store: Store, tenantId: string): Promise<void> {
  if (!observes(await readTenantState(store, tenantId))) return;
  throw new ConnectorError({
    code: 'TENANT_OBSERVES',
    action: 'reject',
    message:
      `Tenant ${tenantId} only observes, so nothing of it is written. ` +
      'Set "mode: live" in its file, run hirebridge tenant apply, then try again.',
  });
}
