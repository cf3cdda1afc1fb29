import { sql } from 'kysely';
import { ConnectorError } from '../errors.ts';
import type { Receives } from './applied-tenants.ts';
import { audit } from './audit.ts';
import { didChange, inTransaction, type Store, type StoreTables } from './open-store.ts';

/** A stop of all writes of a tenant or the fleet: since when, and by whose order. */
interface Freeze {
  /** Absent for the whole fleet. */
  tenantId?: string;
  since: number;
  by: string;
}

/** Takes the place of a tenant's id if the whole fleet is frozen. */
export const FLEET = '';
/** How long the writes that accompany a freeze wait for locks. */
const BESIDE_MS = 1_000;

/**
 * Stops every write of one tenant, or of the fleet, to partners and HR systems. False if it is stopped already. The
 * freeze is one row of a table of its own, so that no other work's lock delays it. The audit row, and the columns that
 * a worker of the previous version reads, are written if possible.
 */
export async function freeze(store: StoreTables, by: string, tenantId?: string): Promise<boolean> {
  const freezing = store.kysely
    .insertInto('freezes')
    .values({ tenant_id: tenantId ?? FLEET, frozen_at: store.now, frozen_by: by })
    .onConflict((conflict) => conflict.doNothing());
  if (!(await didChange(freezing))) return false;
  await beside(store, (trx) => audit(trx, { by, act: 'frozen', ...named(tenantId) }));
  await beside(store, (trx) => setColumns(trx, tenantId, { frozen_at: trx.now, frozen_by: by }));
  return true;
}

/** Allows the writes again. False if they were not stopped. */
export async function thaw(store: StoreTables, by: string, tenantId?: string): Promise<boolean> {
  return inTransaction(store, async (trx) => {
    const wasFrozen = await didChange(trx.kysely.deleteFrom('freezes').where('tenant_id', '=', tenantId ?? FLEET));
    const wasBefore = await setColumns(trx, tenantId, { frozen_at: null, frozen_by: null });
    if (!wasFrozen && !wasBefore) return false;
    await audit(trx, { by, act: 'thawed', ...named(tenantId) });
    return true;
  });
}

function named(tenantId: string | undefined): { tenantId?: string } {
  return tenantId === undefined ? {} : { tenantId };
}

async function beside(store: StoreTables, write: (trx: StoreTables) => Promise<unknown>): Promise<void> {
  await store.kysely
    .transaction()
    .execute(async (kysely) => {
      if (store.kind === 'postgres') await sql`set local lock_timeout = ${sql.lit(BESIDE_MS)}`.execute(kysely);
      await write({ ...store, kysely });
    })
    .catch(() => undefined);
}

type Frozen = { frozen_at: StoreTables['now'] | null; frozen_by: string | null };

/** False if they were set, or unset, already. */
function setColumns({ kysely }: StoreTables, tenantId: string | undefined, frozen: Frozen): Promise<boolean> {
  const were = frozen.frozen_at === null ? 'is not' : 'is';
  if (tenantId === undefined)
    return didChange(kysely.updateTable('installation').set(frozen).where('frozen_at', were, null));
  const tenant = kysely.updateTable('tenants').set(frozen).where('tenant_id', '=', tenantId);
  return didChange(tenant.where('frozen_at', were, null));
}

/** Every freeze in force, the fleet's first, including freezes by a command of the previous version. */
export async function listFreezes({ kysely }: StoreTables): Promise<Freeze[]> {
  const rows = await kysely
    .selectFrom('freezes')
    .select(['tenant_id', 'frozen_at', 'frozen_by'])
    .union(
      kysely
        .selectFrom('installation')
        .select([sql<string>`${FLEET}`.as('tenant_id'), 'frozen_at', 'frozen_by'])
        .where('frozen_at', 'is not', null)
        .where(sql<boolean>`not exists (select 1 from freezes where tenant_id = ${FLEET})`)
        .$castTo<{ tenant_id: string; frozen_at: number; frozen_by: string }>(),
    )
    .union(
      kysely
        .selectFrom('tenants')
        .select(['tenant_id', 'frozen_at', 'frozen_by'])
        .where('frozen_at', 'is not', null)
        .where(sql<boolean>`not exists (select 1 from freezes where freezes.tenant_id = tenants.tenant_id)`)
        .$castTo<{ tenant_id: string; frozen_at: number; frozen_by: string }>(),
    )
    .orderBy('tenant_id')
    .execute();
  return rows.map((row) => ({
    ...named(row.tenant_id === FLEET ? undefined : row.tenant_id),
    since: row.frozen_at,
    by: row.frozen_by ?? '',
  }));
}

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
