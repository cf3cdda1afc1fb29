import { ConnectorError, isConnectorError } from '../errors.ts';
import type { AppliedTenant } from '../store/applied-tenants.ts';
import { PAUSED_BY_PERSON } from '../store/tenant-states.ts';
import { differencesOf, hrisSystem } from './clashes.ts';
import { parseTenant } from './load-tenants.ts';
import type { Tenant } from './schema.ts';

/** What a worker knows of the applied tenants; a broken tenant affects no other. */
export interface KnownTenants {
  /** @throws ConnectorError TENANT_UNKNOWN, TENANT_REMOVED, TENANT_FILE_INVALID */
  get(tenantId: string): Tenant;
  /** Tenants that can be worked for; the same array until one changes, because the loops of a worker ask often. */
  all(): readonly Tenant[];
  /** Tenants whose definition cannot be read. */
  unreadable(): string[];
  /** Whether a person paused the tenant. */
  isPaused(tenantId: string): boolean;
  /** Tenants whose schedules and workflows are still to be ended. */
  leaving(): string[];
  /** Whether several tenants have work here, including those with an unreadable definition and those being removed. */
  areSeveral(): boolean;
  /**
   * Compares the tenant's HR system with those of other tenants that use the same connection name, by their current
   * secrets: the tenant may have been applied before that check existed, or a secret may have changed since.
   * @throws ConnectorError HRIS_NAME_TAKEN
   */
  assertOwnHris(tenant: Tenant): void;
  /** Takes over changed definitions and states; `get` reports what cannot be read. */
  take(changed: readonly AppliedTenant[]): Promise<void>;
}

interface Known {
  applied: AppliedTenant;
  tenant: Tenant | ConnectorError;
}

export function createKnownTenants(): KnownTenants {
  const known = new Map<string, Known>();
  let workable: readonly Tenant[] | undefined;
  const all = (): readonly Tenant[] => {
    workable ??= [...known.values()].flatMap(({ tenant }) => (tenant instanceof ConnectorError ? [] : [tenant]));
    return workable;
  };
  return {
    get(tenantId) {
      const { tenant } = known.get(tenantId) ?? { tenant: tenantUnknown(tenantId) };
      if (tenant instanceof ConnectorError) throw tenant;
      return tenant;
    },
    all,
    unreadable: () =>
      [...known.values()].flatMap(({ applied: { tenantId, state }, tenant }) =>
        tenant instanceof ConnectorError && state !== 'removed' ? [tenantId] : [],
      ),
    isPaused: (tenantId) => known.get(tenantId)?.applied.pausedCode === PAUSED_BY_PERSON,
    leaving: () =>
      [...known.values()].flatMap(({ applied: { tenantId, state, endedAt } }) =>
        state === 'removed' && endedAt === null ? [tenantId] : [],
      ),
    areSeveral: () => [...known.values()].filter(({ applied: { endedAt } }) => endedAt === null).length > 1,
    assertOwnHris(tenant) {
      const isBeside = (one: Tenant) => one.tenant !== tenant.tenant && one.hris.connection === tenant.hris.connection;
      const beside = all().filter(isBeside);
      if (beside.length === 0) return;
      const own = hrisSystem(tenant.hris);
      const parts = new Set(beside.flatMap(({ hris }) => differencesOf(own, hrisSystem(hris))));
      if (parts.size > 0) throw nameTaken(tenant, [...parts]);
    },
    async take(changed) {
      for (const applied of changed) {
        known.set(applied.tenantId, { applied, tenant: await read(applied) });
        workable = undefined;
      }
    },
  };
}

async function read(applied: AppliedTenant): Promise<Tenant | ConnectorError> {
  if (applied.state === 'removed') return tenantRemoved(applied.tenantId);
  try {
    return await parseTenant(applied);
  } catch (error) {
    if (isConnectorError(error)) return error;
    throw error;
  }
}

/** The tenant sees this hold, so it must not say whose the other HR system is. */
function nameTaken({ tenant, file, hris }: Tenant, parts: readonly string[]): ConnectorError {
  return new ConnectorError({
    code: 'HRIS_NAME_TAKEN',
    action: 'reauthorize',
    message:
      `The connection "${hris.connection}" of tenant ${tenant} (${file}) is another tenant's name for another HR ` +
      `system, which differs in ${parts.join(', ')}. Nothing is read or written under it, because people of one ` +
      'customer would be mistaken for people of the other. Correct hris or the secrets behind it, or give it a ' +
      'connection of its own: hirebridge tenant apply names both files.',
  });
}

function tenantUnknown(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'TENANT_UNKNOWN',
    action: 'retry',
    message: `No tenant "${tenantId}" is applied. Its work waits for: hirebridge tenant apply`,
    retryAfterMs: 60_000,
  });
}

/** The tenant's workflows are being ended; anything they still ask for waits. */
export function tenantRemoved(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'TENANT_REMOVED',
    action: 'throttle',
    message: `Tenant ${tenantId} was removed. All its work has ended.`,
    retryAfterMs: 60_000,
  });
}
