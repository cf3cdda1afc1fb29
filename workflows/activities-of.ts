import { proxyActivities } from '@temporalio/workflow';
import type { HireActivities } from '../src/hire/hire-activities.ts';
import type { HireInput } from '../src/hire/hire-run.ts';

/** A hire's activities, tried until they work: no hire fails. */
export function activitiesOf({ timing }: HireInput): HireActivities {
  return proxyActivities<HireActivities>({
    startToCloseTimeout: timing.attemptMs,
    heartbeatTimeout: timing.heartbeatMs,
    retry: { initialInterval: timing.retryMs, backoffCoefficient: 2, maximumInterval: 60_000 },
  });
}
