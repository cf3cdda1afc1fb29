import { ConnectorError, isConnectorError } from '../src/errors.ts';
import { hrisHold } from '../src/hire/holds.ts';
import { closeTenantHolds, openHold, tenantsHeldLike } from '../src/store/holds.ts';
import type { TenantRow } from '../src/store/schema.ts';
import { pauseForKey, readTenantState, recordVerifiedKey } from '../src/store/tenant-states.ts';
import { tenantRemoved } from '../src/tenants/known-tenants.ts';
import type { Tenant } from '../src/tenants/schema.ts';
import { restartNote } from '../src/tenants/secrets.ts';
import { assertKnownCompany } from './assert-known-company.ts';
import type { ActivityDeps, Connection } from './connections.ts';

/**
 * Runs work of one tenant with both of its sides open. A paused tenant's work waits. A key that stops working pauses
 * the tenant, and all of its other work waits too. A new key is first checked to belong to the same company.
 */
export async function guarded<T>(
  deps: ActivityDeps,
  tenantId: string,
  work: (connection: Connection, state: TenantRow) => Promise<T>,
): Promise<T> {
  const { store, limits } = deps;
  const state = await readTenantState(store, tenantId);
  if (state.state === 'removed') throw tenantRemoved(tenantId);
  if (state.state === 'paused') throw tenantPaused(tenantId, state.paused_code ?? 'unknown', limits.pausedMs);
  let connection: Connection | undefined;
  try {
    connection = await deps.connections.of(tenantId);
    if (state.verified_key !== connection.keyFingerprint) await verifyKey(deps, connection);
    return await work(connection, state);
  } catch (thrown) {
    if (!isConnectorError(thrown) || thrown.action !== 'reauthorize') throw thrown;
    const error = connection === undefined ? thrown : sayRestart(thrown, connection.tenant);
    if (await deps.connections.reopenIfRotated(tenantId)) throw secretRotated(tenantId);
    // The partner's side works, so its probe would resume the tenant at once and the next hire would pause it again.
    if (error.code.startsWith('HRIS_')) {
      await pauseHris(deps, tenantId, error);
      throw hrisPaused(tenantId, limits.pausedMs);
    }
    await pause(deps, tenantId, error, { key: connection?.keyFingerprint ?? '', verified: state.verified_key });
    throw tenantPaused(tenantId, error.code, limits.pausedMs);
  }
}

async function verifyKey({ store }: ActivityDeps, connection: Connection): Promise<void> {
  await assertKnownCompany(store, connection);
  await recordVerifiedKey(store, connection.tenant.tenant, connection.keyFingerprint);
}

async function pause(
  { store, log }: ActivityDeps,
  tenantId: string,
  error: ConnectorError,
  used: { key: string; verified: string | null },
): Promise<void> {
  const { code, message } = error;
  const first = await pauseForKey(store, tenantId, { code, message }, used);
  if (first) log.error({ tenantId, code, status: error.status, reason: error.withoutWords() }, 'tenant paused');
}

/** The refused secret is not the one behind the reference any more. */
function secretRotated(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'SECRET_ROTATED',
    action: 'throttle',
    message: `A secret of tenant ${tenantId} was replaced while it was in use. The new one is used from now on.`,
    retryAfterMs: 500,
  });
}

function tenantPaused(tenantId: string, code: string, pausedMs: number): ConnectorError {
  return new ConnectorError({
    code: 'TENANT_PAUSED',
    action: 'throttle',
    message:
      `Tenant ${tenantId} is paused (${code}). Its work continues by itself once the cause is fixed. See: ` +
      'hirebridge status',
    retryAfterMs: pausedMs,
  });
}

/**
 * Stops a tenant's calls to its HR system, with one hold that says why. The partner's side goes on: hires go as far as
 * they can without an employee.
 */
export async function pauseHris(deps: ActivityDeps, tenantId: string, trouble: ConnectorError): Promise<void> {
  const { store, log, pausedHris } = deps;
  pausedHris.add(tenantId);
  const hold = hrisHold(trouble);
  const { fresh } = await openHold(store, { tenantId, ...hold });
  if (fresh) log.error({ tenantId, code: hold.code, reason: trouble.withoutWords() }, 'HR system does not work');
}

/** The HR system works again. */
export async function resumeHris({ store, pausedHris }: ActivityDeps, tenantId: string): Promise<void> {
  pausedHris.delete(tenantId);
  await closeTenantHolds(store, tenantId, 'HRIS_%');
}

/** Takes over pauses that another worker found or a person ended. */
export async function followPausedHris({
  store,
  pausedHris,
}: Pick<ActivityDeps, 'store' | 'pausedHris'>): Promise<void> {
  const held = await tenantsHeldLike(store, 'HRIS_%');
  for (const tenantId of pausedHris) if (!held.has(tenantId)) pausedHris.delete(tenantId);
  for (const tenantId of held) pausedHris.add(tenantId);
}

export function hrisPaused(tenantId: string, pausedMs: number): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_PAUSED',
    action: 'throttle',
    message:
      `The HR system of tenant ${tenantId} does not work. Its hires continue by themselves once it does. See: ` +
      'hirebridge status',
    retryAfterMs: pausedMs,
  });
}

/** Adds a note to the error if only a restart makes this process read the refused secret again. */
export function sayRestart(error: ConnectorError, { partner, hris }: Tenant): ConnectorError {
  if (error.action !== 'reauthorize' || error.code === 'SECRET_MISSING') return error;
  const ref = error.code.startsWith('HRIS_') ? hris.options['url'] : partner.apiKey;
  const note = typeof ref === 'string' ? restartNote(ref) : '';
  if (note === '') return error;
  const { code, action, status, details, requestId } = error;
  return new ConnectorError({
    code,
    action,
    status,
    details,
    requestId,
    message: `${error.message}${note}`,
    cause: error,
  });
}
