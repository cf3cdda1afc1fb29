import { inActivity } from '../../failpoint.ts';
import { assertMayWrite } from '../../store/assert-may-write.ts';
import { audit } from '../../store/audit.ts';
import type { SavedPlan } from '../../store/saved-plans.ts';
import { landedNames } from '../../streams/streams.ts';
import type { OpenTenant } from '../open-tenant.ts';
import type { Applied } from './applied.ts';
import { applyHire } from './apply-hire.ts';
import { applyStream } from './apply-stream.ts';

/** Writes exactly what a kept plan has, and names what is no longer as it was planned from. */
export async function applySavedPlan(open: OpenTenant, plan: SavedPlan, by: string): Promise<Applied> {
  await assertMayWrite(open.store, plan.tenantId);
  const apply = landedNames.some((name) => name === plan.subject) ? applyStream : applyHire;
  const applied = await inActivity('applySavedPlan', () => apply(open, plan, by));
  await audit(open.store, {
    by,
    tenantId: plan.tenantId,
    act: 'plan-applied',
    details: `${plan.hash.slice(0, 12)}, ${plan.subject}: ${applied.written} written`,
  });
  return applied;
}
