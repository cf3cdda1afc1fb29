import { ConnectorError, isConnectorError } from '../errors.ts';
import type { AppliedTenant } from '../store/applied-tenants.ts';
import { PAUSED_BY_PERSON } from '../store/tenant-states.ts';
import { parseTenant } from './load-tenants.ts';
import type { Tenant } from './schema.ts';

/** What a worker knows of the applied tenants; a broken one is only its own trouble. */
export interface KnownTenants {
  /** @throws ConnectorError TENANT_UNKNOWN, TENANT_REMOVED, TENANT_FILE_INVALID */
  get(tenantId: string): Tenant;
  /** Those that can be worked for. */
  all(): Tenant[];
  /** Those whose definition cannot be read. */
  unreadable(): string[];
  /** Whether a person paused it. */
  isPaused(tenantId: string): boolean;
  /** Those whose schedules and workflows are still to be ended. */
  leaving(): string[];
  /** Whether there is work of several: also of one whose definition cannot be read, and of one that is leaving. */
  areSeveral(): boolean;
  /** Takes up definitions and states; what cannot be read is told by `get`. */
  take(changed: readonly AppliedTenant[]): Promise<void>;
}

interface Known {
  applied: AppliedTenant;
  tenant: Tenant | ConnectorError;
}

export function createKnownTenants(): KnownTenants {
  const known = new Map<string, Known>();
  return {
    get(tenantId) {
      const { tenant } = known.get(tenantId) ?? { tenant: tenantUnknown(tenantId) };
      if (tenant instanceof ConnectorError) throw tenant;
      return tenant;
    },
    all: () => [...known.values()].flatMap(({ tenant }) => (tenant instanceof ConnectorError ? [] : [tenant])),
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
    async take(changed) {
      for (const applied of changed) known.set(applied.tenantId, { applied, tenant: await read(applied) });
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

function tenantUnknown(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'TENANT_UNKNOWN',
    action: 'retry',
    message: `No tenant "${tenantId}" is applied. Its work waits for: hirebridge tenant apply`,
    retryAfterMs: 60_000,
  });
}

/** Its workflows are being ended; whatever they still ask for waits. */
export function tenantRemoved(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'TENANT_REMOVED',
    action: 'throttle',
    message: `Tenant ${tenantId} was removed. Nothing of it goes on.`,
    retryAfterMs: 60_000,
  });
}
