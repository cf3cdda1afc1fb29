import { assertKnownCompany } from '../../activities/assert-known-company.ts';
import type { ActivityDeps } from '../../activities/deps.ts';
import { isConnectorError } from '../errors.ts';
import { contract } from '../partner/contract/index.ts';
import { PAUSED_BY_PERSON, readTenantState, recordVerifiedKey, resumeTenant } from '../store/tenant-states.ts';

/** Tries a paused tenant's key, read again from its reference; the tenant resumes once the known-good read passes. */
export async function resumePaused(deps: ActivityDeps, tenantId: string): Promise<boolean> {
  const { store, connections, log } = deps;
  const { state, paused_code: code } = await readTenantState(store, tenantId);
  if (state !== 'paused' || code === PAUSED_BY_PERSON) return false;
  await connections.reopen(tenantId);
  try {
    const connection = await connections.of(tenantId);
    await connection.partner.readAll(contract.pipelines.list, {}, { priority: 'live' });
    await assertKnownCompany(store, connection);
    await recordVerifiedKey(store, tenantId, connection.keyFingerprint);
  } catch (error) {
    const reason = isConnectorError(error) ? error.code : 'UNEXPECTED';
    log.debug({ tenantId, code: reason }, 'tenant stays paused');
    return false;
  }
  const resumed = await resumeTenant(store, tenantId);
  if (resumed) log.info({ tenantId }, 'tenant resumed');
  return resumed;
}
