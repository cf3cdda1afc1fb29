import { isResting } from '../../hire/hire-state.ts';
import { audit } from '../../store/audit.ts';
import { latestHire } from '../../store/hires.ts';
import { hireWorkflowId } from '../../temporal/ids.ts';
import { signalHire } from '../../temporal/signal-hire.ts';
import { assertKnownTenant } from '../assert-known-tenant.ts';
import type { OperatorParts } from '../operator-parts.ts';
import { type HireView, viewHire } from './read-hires.ts';

export interface StartedHire {
  workflowId: string;
  /** False when there was nothing to start: the hire is under way or over. */
  started: boolean;
  /** As it stood before; absent when this is its first start. */
  hire?: HireView;
}

/** Starts one hire by hand. With `adopt` also one from the baseline, or one that a person ended. */
export async function startHire(
  { store, hires, tenants }: OperatorParts,
  { tenantId, jobCandidateId, adopt, by }: { tenantId: string; jobCandidateId: string; adopt: boolean; by: string },
): Promise<StartedHire> {
  assertKnownTenant(tenants, tenantId);
  const row = await latestHire(store, tenantId, jobCandidateId);
  const startable = row === undefined || row.state === 'left' || (adopt && isResting(row.state));
  if (startable) {
    await audit(store, {
      by,
      tenantId,
      act: 'hire-started',
      details: `job candidate ${jobCandidateId}${adopt ? ', adopted' : ''}`,
    });
    await signalHire(hires, { tenantId, jobCandidateId }, 'person', { start: true, adopt });
  }
  const workflowId = hireWorkflowId(store.installationId, tenantId, jobCandidateId);
  return { workflowId, started: startable, ...(row === undefined ? {} : { hire: viewHire(row) }) };
}
