import { ScheduleNotFoundError } from '@temporalio/client';
import { ConnectorError } from '../errors.ts';
import { audit } from '../store/audit.ts';
import { compareAnew, readTenantState } from '../store/tenant-states.ts';
import { triggerReconcile } from '../temporal/schedules.ts';
import type { OperatorParts } from './open-tenant.ts';
import { assertKnownTenant } from './tenants.ts';

/**
 * Runs a tenant's reconcile now, as its schedule does; if one is running, one more follows it. With `full` the next one
 * compares everything.
 * @throws ConnectorError TENANT_UNKNOWN, TENANT_PAUSED, NOT_SCHEDULED
 */
export async function reconcileNow(
  { store, hires, tenants }: OperatorParts,
  { tenantId, full, by }: { tenantId: string; full: boolean; by: string },
): Promise<void> {
  assertKnownTenant(tenants, tenantId);
  const { state, paused_message: why } = await readTenantState(store, tenantId);
  if (state === 'paused')
    throw new ConnectorError({
      code: 'TENANT_PAUSED',
      action: 'reject',
      message: `${tenantId} is paused, so nothing is compared: ${why} Remove the cause, or resume the tenant.`,
    });
  await audit(store, { by, tenantId, act: 'reconcile-asked', details: full ? 'everything' : 'what seems changed' });
  if (full) await compareAnew(store, tenantId);
  try {
    await triggerReconcile(hires, tenantId);
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    throw new ConnectorError({
      code: 'NOT_SCHEDULED',
      action: 'reject',
      message: `Temporal has no schedule of ${tenantId} yet. Start a worker: it makes the schedule and reconciles.`,
      cause: error,
    });
  }
}
