import { ConnectorError } from '../src/errors.ts';
import { hrisHold } from '../src/hire/holds.ts';
import { closeTenantHoldsLike, openHold, tenantsHeldLike } from '../src/store/holds.ts';
import type { ActivityDeps } from './deps.ts';

/**
 * Stops a tenant's calls to its HR system, with one hold that says why. The partner's side goes on: hires go as far as
 * they can without an employee.
 */
export async function pauseHris(deps: ActivityDeps, tenantId: string, trouble: ConnectorError): Promise<void> {
  const { store, log, pausedHris } = deps;
  pausedHris.add(tenantId);
  const hold = hrisHold(trouble);
  const { fresh } = await openHold(store, { tenantId, ...hold });
  if (fresh) log.error({ tenantId, code: hold.code, reason: trouble.message }, 'HR system does not work');
}

/** The HR system works again. */
export async function resumeHris({ store, pausedHris }: ActivityDeps, tenantId: string): Promise<void> {
  pausedHris.delete(tenantId);
  await closeTenantHoldsLike(store, tenantId, 'HRIS_%');
}

/** What another worker found, or a person ended, counts in this process, too. */
export async function followPausedHris({
  store,
  pausedHris,
}: Pick<ActivityDeps, 'store' | 'pausedHris'>): Promise<void> {
  const held = await tenantsHeldLike(store, 'HRIS_%');
  for (const tenantId of pausedHris) if (!held.has(tenantId)) pausedHris.delete(tenantId);
  for (const tenantId of held) pausedHris.add(tenantId);
}

export function hrisPaused(tenantId: string, pausedMs: number): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_PAUSED',
    action: 'throttle',
    message:
      `The HR system of tenant ${tenantId} does not work. Its hires go on by themselves once it does; ` +
      'see hirebridge status.',
    retryAfterMs: pausedMs,
  });
}
