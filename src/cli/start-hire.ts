import { ConnectorError } from '../errors.ts';
import { latestHire } from '../store/hires.ts';
import { hireWorkflowId } from '../temporal/ids.ts';
import { signalHire } from '../temporal/signal-hire.ts';
import type { Places } from './options.ts';
import { withClient } from './with-client.ts';

/** Starts one hire by hand, or tells how one stands. */
export async function startHire(
  options: Places & { tenantId: string; jobCandidateId: string; adopt: boolean },
): Promise<Record<string, unknown>> {
  const { tenantId, jobCandidateId, adopt } = options;
  return withClient(options, async ({ store, hires, tenants }) => {
    if (!tenants.some((tenant) => tenant.tenant === tenantId)) throw unknownTenant(tenantId, options.tenantsDir);
    const row = await latestHire(store, tenantId, jobCandidateId);
    const startable =
      row === undefined ||
      row.state === 'cancelled' ||
      (adopt && (row.state === 'before-go-live' || row.state === 'ended'));
    if (startable) await signalHire(hires, { tenantId, jobCandidateId }, 'person', { start: true, adopt });
    const { started, ...facts } = { started: startable, ...row };
    return { workflowId: hireWorkflowId(store.installationId, tenantId, jobCandidateId), started, ...facts };
  });
}

function unknownTenant(tenantId: string, tenantsDir: string): ConnectorError {
  return new ConnectorError({
    code: 'TENANT_UNKNOWN',
    action: 'reject',
    message: `No file in ${tenantsDir} names the tenant "${tenantId}". Check the name or --tenants.`,
  });
}
