import { proxyActivities } from '@temporalio/workflow';
import type { SweepActivities, SweepCounts } from '../activities/sweep-tenant.ts';

export interface ReconcileInput {
  tenantId: string;
}

const { sweepTenant } = proxyActivities<SweepActivities>({
  startToCloseTimeout: '1 hour',
  heartbeatTimeout: '1 minute',
  retry: { initialInterval: '5 seconds', maximumInterval: '1 minute', maximumAttempts: 5 },
});

/** One pass over a tenant: finds what webhooks missed. Every finding is a wake; the hire's own workflow decides. */
export async function reconcileTenant(input: ReconcileInput): Promise<SweepCounts> {
  return sweepTenant(input);
}
