import { sql, type UpdateObject } from 'kysely';
import { ConnectorError } from '../errors.ts';
import { didChange, has, put, type Store } from './open-store.ts';
import type { Tables, TenantRow } from './schema.ts';

/** The pause code of a tenant that a person paused: only a person resumes it. */
export const PAUSED_BY_PERSON = 'PAUSED_BY_PERSON';

/** The tenant's row; created on first use. */
export async function readTenantState(store: Store, tenantId: string): Promise<TenantRow> {
  const own = store.kysely.selectFrom('tenants').selectAll().where('tenant_id', '=', tenantId);
  const known = await own.executeTakeFirst();
  if (known !== undefined) return known;
  await store.kysely
    .insertInto('tenants')
    .values({ tenant_id: tenantId, state: 'active' })
    .onConflict((c) => c.column('tenant_id').doNothing())
    .execute();
  return own.executeTakeFirstOrThrow();
}

const STATE_COLUMNS = [
  'tenant_id',
  'state',
  'paused_code',
  'paused_message',
  'receives',
  'baseline_started_at',
  'baseline_done_at',
  'reconciled_at',
  'credit_gate',
  'digested_on',
] as const;

/** A tenant's state, without the texts of its files. */
export type TenantState = Pick<TenantRow, (typeof STATE_COLUMNS)[number]>;

/** A tenant's state; undefined if the store has no row of it. Makes none. */
export async function findTenantState({ kysely }: Pick<Store, 'kysely'>, tenantId: string) {
  return kysely.selectFrom('tenants').select(STATE_COLUMNS).where('tenant_id', '=', tenantId).executeTakeFirst();
}

/** Every tenant the store has seen. */
export async function listTenantStates(store: Store): Promise<TenantState[]> {
  return store.kysely.selectFrom('tenants').select(STATE_COLUMNS).execute();
}

/** Stops all work of the tenant until `resumeTenant`. Returns whether it was running before. */
export async function pauseTenant(store: Store, tenantId: string, code: string, message: string): Promise<boolean> {
  await readTenantState(store, tenantId);
  return didChange(pausing(store, tenantId, { code, message, key: null }));
}

/**
 * Pauses a tenant because of a key, given by fingerprint. `verified` is the key that was verified when the caller
 * began: if another was verified since, the caller used an old key, which says nothing about the tenant.
 */
export async function pauseForKey(
  store: Store,
  tenantId: string,
  why: { code: string; message: string },
  { key, verified }: { key: string; verified: string | null },
): Promise<boolean> {
  const pause = pausing(store, tenantId, { ...why, key });
  return didChange(pause.where('verified_key', verified === null ? 'is' : '=', verified));
}

function pausing(store: Store, tenantId: string, why: { code: string; message: string; key: string | null }) {
  return store.kysely
    .updateTable('tenants')
    .set({
      state: 'paused',
      paused_code: why.code,
      paused_message: why.message,
      paused_at: store.now,
      paused_key: why.key,
    })
    .where(has({ tenant_id: tenantId, state: 'active' }));
}

/** Undoes `pauseTenant`, but never a person's pause. Returns whether the tenant was paused before. */
export async function resumeTenant(store: Store, tenantId: string): Promise<boolean> {
  return didChange(
    store.kysely
      .updateTable('tenants')
      .set({ state: 'active', paused_code: null, paused_message: null, paused_at: null, paused_key: null })
      .where(has({ tenant_id: tenantId, state: 'paused' }))
      .where('paused_code', '!=', PAUSED_BY_PERSON),
  );
}

/** Records when the first reconcile began; a second start keeps the first time. */
export async function startBaseline(store: Store, tenantId: string): Promise<void> {
  await changeTenant(store, tenantId, {
    baseline_started_at: sql<number>`coalesce(baseline_started_at, ${store.now})`,
  });
}

export async function finishBaseline(store: Store, tenantId: string): Promise<void> {
  await changeTenant(store, tenantId, { baseline_done_at: store.now });
}

/** Records a reconcile and returns the time stored for it. */
export async function recordReconcile({ kysely, now }: Store, tenantId: string, full: boolean): Promise<number> {
  const { reconciled_at: at } = await kysely
    .updateTable('tenants')
    .set(full ? { reconciled_at: now, fully_reconciled_at: now } : { reconciled_at: now })
    .where('tenant_id', '=', tenantId)
    .returning('reconciled_at')
    .executeTakeFirstOrThrow();
  return Number(at);
}

/**
 * Makes the tenant's next reconcile compare everything, as it does once a day, because a person asked for it. A
 * restored tenant, or one without a baseline, already compares more.
 */
export async function compareAnew({ kysely }: Store, tenantId: string): Promise<void> {
  await kysely
    .updateTable('tenants')
    .set({ fully_reconciled_at: 0 })
    .where('tenant_id', '=', tenantId)
    .where('fully_reconciled_at', 'is not', null)
    .execute();
}

export async function recordVerifiedKey(store: Store, tenantId: string, fingerprint: string): Promise<void> {
  await changeTenant(store, tenantId, { verified_key: fingerprint });
}

/**
 * Records that a person vouches for the company of the key that the tenant is paused for, so that earlier knowledge of
 * the company no longer counts. A company cannot be confirmed in advance. Returns whether the tenant was paused for
 * that.
 */
export async function confirmCompany(store: Store, tenantId: string, by: string): Promise<boolean> {
  return didChange(
    store.kysely
      .updateTable('tenants')
      .set((eb) => ({
        company_confirmed_at: store.now,
        company_confirmed_by: by,
        company_confirmed_key: eb.ref('paused_key'),
      }))
      .where(has({ tenant_id: tenantId, state: 'paused', paused_code: 'COMPANY_MISMATCH' })),
  );
}

export async function changeTenant(
  { kysely }: Pick<Store, 'kysely'>,
  tenantId: string,
  change: UpdateObject<Tables, 'tenants'>,
): Promise<void> {
  await kysely.updateTable('tenants').set(change).where('tenant_id', '=', tenantId).execute();
}

/** The part of `Receives` that names a company of the partner. */
interface Company {
  company?: string;
  environment?: string;
  origin?: string;
}

/**
 * A tenant that names no company counts as one of its own: its people are known by the tenant's name. Once it names a
 * company they are renamed. Refuses the tenant's name from a worker that read the file before that, and keeps the file
 * as it is until the transaction ends.
 * @throws ConnectorError COMPANY_NAMED
 */
export async function assertNamed(
  { kysely, kind }: Store,
  people: readonly { tenantId: string; company: string }[],
): Promise<void> {
  const own = new Set(people.filter(({ tenantId, company }) => company === tenantId).map(({ tenantId }) => tenantId));
  if (own.size === 0) return;
  const tenants = kysely
    .selectFrom('tenants')
    .select(['tenant_id', 'receives'])
    .where('tenant_id', 'in', [...own]);
  const isLocked = kind === 'postgres' && kysely.isTransaction;
  for (const { tenant_id: tenantId, receives } of await (isLocked ? tenants.forKeyShare() : tenants).execute()) {
    const { company = tenantId } = JSON.parse(receives ?? '{}') as Company;
    if (company !== tenantId) throw companyNamed(tenantId);
  }
}

function companyNamed(tenantId: string): ConnectorError {
  return new ConnectorError({
    code: 'COMPANY_NAMED',
    action: 'retry',
    message:
      `Tenant ${tenantId} has named its company since its file was read here, so its people have other names now. ` +
      'Nothing was recorded. A worker tries again with the new file; run a command again.',
    retryAfterMs: 2_000,
  });
}

/** The other tenants of this one's company, including removed ones. */
export async function siblingsOf({ kysely }: Store, tenantId: string): Promise<string[]> {
  const applied = kysely.selectFrom('tenants').select(['tenant_id', 'receives']).where('version', 'is not', null);
  const rows = await applied.execute();
  const known = rows.map((row) => ({ id: row.tenant_id, ...(JSON.parse(row.receives ?? '{}') as Company) }));
  const own = known.find(({ id }) => id === tenantId);
  if (own?.company === undefined) return [];
  const agrees = (key: 'environment' | 'origin', one: (typeof known)[number]): boolean =>
    (one[key] ?? own[key]) === (own[key] ?? one[key]);
  const isSibling = (one: (typeof known)[number]): boolean =>
    one.id !== tenantId && one.company === own.company && agrees('environment', one) && agrees('origin', one);
  return known.filter(isSibling).map(({ id }) => id);
}

/** A verdict on an assumption, from what a tenant's partner showed. */
export interface Evidence {
  tenantId: string;
  assumption: string;
  verdict: 'confirmed' | 'contradicted';
}

/** Records a verdict; the first time it was seen stays. */
export async function noteEvidence(store: Store, { tenantId, assumption, verdict }: Evidence): Promise<void> {
  const row = { tenant_id: tenantId, assumption, verdict, first_seen_at: store.now };
  await put(store, 'evidence', [row], { key: ['tenant_id', 'assumption', 'verdict'], set: [] });
}

export async function listEvidence(store: Store): Promise<Evidence[]> {
  return store.kysely.selectFrom('evidence').select(['tenant_id as tenantId', 'assumption', 'verdict']).execute();
}
