import type { Places } from '../../config.ts';
import { withTenant } from '../../operator/open-tenant.ts';
import { planStreams } from '../../operator/plans/plan-streams.ts';
import { printPlans } from '../print-plans.ts';
import { byOf } from '../tenant/by.ts';
import { withStoreAsItIs } from '../with-store.ts';

/** What a pass would write, record by record: the plan that `hirebridge plan` makes. */
export async function showSync(
  places: Places,
  { tenantId, stream, json }: { tenantId: string; stream: string | undefined; json: boolean },
): Promise<void> {
  await withStoreAsItIs(places, async (store) => {
    const by = byOf({});
    const plans = await withTenant({ store, places, tenantId }, (open) => planStreams(open, stream, by));
    await printPlans(store, plans, { json });
  });
}
