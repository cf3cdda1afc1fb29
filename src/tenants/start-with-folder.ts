import { applyDefinitions, listAppliedTenants } from '../store/applied-tenants.ts';
import type { Store } from '../store/open-store.ts';
import { planApplication } from './plan-application.ts';

/**
 * The first start: a store without tenants takes those of the folder, its secrets checked. From then on only
 * `hirebridge tenant apply` changes them. Where receiver and worker both come here, the second finds them applied.
 */
export async function startWithFolder(store: Store, dir: string): Promise<void> {
  if ((await listAppliedTenants(store)).length > 0) return;
  const { applications } = await planApplication(store, dir, { secrets: 'check' });
  await applyDefinitions(store, applications, 'first start');
}
