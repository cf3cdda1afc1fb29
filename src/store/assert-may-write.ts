import { ConnectorError } from '../errors.ts';
import type { Receives } from './applied-tenants.ts';
import { FLEET } from './freezes.ts';
import type { Store } from './open-store.ts';

/** How long a write waits, while writes are not allowed, before it checks again. */
const ASK_AGAIN_MS = 10_000;

/**
 * Call this before every write to a partner or an HR system. It is a single statement, so that a freeze, or a tenant
 * switched to observe mode, stops the very next write of every process.
 * @throws ConnectorError TENANT_FROZEN, TENANT_OBSERVES
 */
export async function assertMayWrite({ kysely }: Store, tenantId: string): Promise<void> {
  const row = await kysely
    .selectFrom('installation')
    .leftJoin('tenants', (join) => join.on('tenants.tenant_id', '=', tenantId))
    .leftJoin('freezes as fleet', (join) => join.on('fleet.tenant_id', '=', FLEET))
    .leftJoin('freezes as own', (join) => join.on('own.tenant_id', '=', tenantId))
    .select(({ fn }) => [
      fn.coalesce('fleet.frozen_at', 'installation.frozen_at').as('fleet_at'),
      fn.coalesce('fleet.frozen_by', 'installation.frozen_by').as('fleet_by'),
      fn.coalesce('own.frozen_at', 'tenants.frozen_at').as('own_at'),
      fn.coalesce('own.frozen_by', 'tenants.frozen_by').as('own_by'),
      'tenants.receives',
    ])
    .executeTakeFirst();
  if (row === undefined) return;
  if (row.fleet_at !== null) throw frozen('All tenants are', row.fleet_by);
  if (row.own_at !== null) throw frozen(`Tenant ${tenantId} is`, row.own_by, ` ${tenantId}`);
  if (observes(row)) throw onlyObserves(tenantId);
}

/** Whether a tenant's applied file sets observe mode. */
export function observes({ receives }: { receives: string | null }): boolean {
  return receives !== null && (JSON.parse(receives) as Receives).mode === 'observe';
}

function frozen(who: string, by: string | null, name = ''): ConnectorError {
  return new ConnectorError({
    code: 'TENANT_FROZEN',
    action: 'throttle',
    message: `${who} frozen by ${by ?? 'unknown'}: nothing is written. To allow writes again: hirebridge thaw${name}`,
    retryAfterMs: ASK_AGAIN_MS,
  });
}

function onlyObserves(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'TENANT_OBSERVES',
    action: 'throttle',
    message:
      `Tenant ${tenantId} only observes: nothing is written. ` +
      'To let it write, set "mode: live" in its file and run: hirebridge tenant apply',
    retryAfterMs: ASK_AGAIN_MS,
  });
}
