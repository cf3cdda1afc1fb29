import { createRootLogger } from '../../src/log.ts';
import { listAlarms } from '../../src/store/alarms.ts';
import type { Store } from '../../src/store/open-store.ts';
import { listTenantStates, readTenantState } from '../../src/store/tenant-states.ts';
import type { Tenant } from '../../src/tenants/schema.ts';
import { createAlarmRound } from '../../src/worker/raise-alarms.ts';

/** The tenant's alarms after a round of chores. */
export async function alarmsOf(store: Store, tenant: Tenant): Promise<unknown[]> {
  await readTenantState(store, tenant.tenant);
  const raise = createAlarmRound(store, createRootLogger(undefined, 'silent'));
  await raise(
    await listTenantStates(store),
    new Map([[tenant.tenant, { ...tenant, partner: { ...tenant.partner, webhooks: 'on' } }]]),
  );
  const alarms = await listAlarms(store, tenant.tenant);
  return alarms.map(({ subject, reason, message }) => ({ subject, reason, message }));
}
