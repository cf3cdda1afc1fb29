import { applyDefinitions, listAppliedTenants } from '../store/applied-tenants.ts';
import type { Store } from '../store/open-store.ts';
import { planApplication } from './plan-application.ts';

/**
 * The first start: a store without tenants takes those of the folder and checks their secrets. After that, only
 * `hirebridge tenant apply` changes tenants. If receiver and worker both start, the second finds the tenants applied.
 */
export async function startWithFolder(store: Store, dir: string): Promise<void> {
  if ((await listAppliedTenants(store)).length > 0) return;
  const { applications } = await planApplication(store, dir, { secrets: 'check' });
  await applyDefinitions(store, applications, 'first start');
}
