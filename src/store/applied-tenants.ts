import { sql } from 'kysely';
import { type ConnectorError, rejected } from '../errors.ts';
import type { WebhookSigning } from '../http/signed-delivery.ts';
import { type AuditEntry, audit } from './audit.ts';
import { changeHris, type HrisWay } from './change-hris.ts';
import { closeAllHolds } from './holds.ts';
import { didChange, findsAny, has, inTransaction, put, type Store, type StoreTables } from './open-store.ts';
import { giveUpPeople, lapseCreating, nameCompanies, takePeopleBack } from './people.ts';
import type { TenantRow } from './schema.ts';
import { PAUSED_BY_PERSON } from './tenant-states.ts';
import type { ErasureRow } from './tenant-tables.ts';

/** The facts about a tenant that the receiver, and the check before each write, need without parsing its file. */
export interface Receives {
  /** Absent if the tenant is live. */
  mode?: 'observe';
  /** Absent if the tenant was applied by a version that did not record it. */
  environment?: string;
  /** Scheme, host and port of the partner. Absent if the tenant was applied by a version that did not record it. */
  origin?: string;
  webhooks: 'on' | 'off';
  /** The tenant sends events out: the store's triggers look for this text. Absent if it sends none. */
  events?: true;
  /** References: env:NAME, or file: with an absolute path. */
  webhookKeys: string[];
  company?: string;
  /** The HR system whose webhooks are accepted too: its kind, and references to the keys that sign them. */
  hris?: {
    kind: string;
    /** Absent if the tenant was applied by a version that knew only one key. */
    webhookKeys?: string[];
    /** The first of `webhookKeys`, for processes of an earlier version. */
    webhookKey: string;
    /** How the webhooks are signed. Absent if an earlier version applied the tenant: then as the kind defines it. */
    signing?: WebhookSigning;
  };
}

/** A tenant's definition as applied: the texts of its files, which name secrets but contain none. */
interface Definition {
  tenantId: string;
  /** Absolute path of the tenant file, a key of `files`. */
  file: string;
  files: Readonly<Record<string, string>>;
  receives: Receives;
}

/** The applied definition and the tenant's state. */
export interface AppliedTenant extends Definition {
  version: number;
  state: TenantRow['state'];
  pausedCode: string | null;
  appliedAt: number;
  appliedBy: string;
  /** When a worker ended the schedules and workflows of a removed tenant. */
  endedAt: number | null;
}

/** A definition to apply. `over` is the version that it was compared with; null if the tenant had none. */
export interface Application extends Definition {
  over: number | null;
  /** The changes for the audit trail, one line each. */
  changes: readonly string[];
  /** Set if people are known under the HR connection `from` and the new definition names another, `to`. */
  hris?: { from: string; to: string };
}

/** Reads the number that grows with each change of tenants; running processes compare it to notice changes. */
export async function readTenantsVersion(store: Store): Promise<number> {
  const row = await store.kysely.selectFrom('installation').select('tenants_version').executeTakeFirstOrThrow();
  return row.tenants_version;
}

/** Tenants that were ever applied, including removed ones; with `since`, only those changed after that version. */
export async function listAppliedTenants(store: Store, since = -1): Promise<AppliedTenant[]> {
  const rows = await store.kysely
    .selectFrom('tenants')
    .selectAll()
    .where('version', '>', since)
    .orderBy('tenant_id')
    .execute();
  return rows.map(appliedTenant);
}

export async function findAppliedTenant(store: Store, tenantId: string): Promise<AppliedTenant | undefined> {
  const row = await store.kysely
    .selectFrom('tenants')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('version', 'is not', null)
    .executeTakeFirst();
  return row === undefined ? undefined : appliedTenant(row);
}

/** State of every tenant that was ever applied, and whether it takes webhooks; leaves the texts of its files unread. */
export async function listReceiving(
  store: Store,
): Promise<(Pick<AppliedTenant, 'tenantId' | 'state'> & Pick<Receives, 'webhooks'>)[]> {
  const rows = await store.kysely
    .selectFrom('tenants')
    .select(['tenant_id', 'state', 'receives'])
    .where('version', 'is not', null)
    .orderBy('tenant_id')
    .execute();
  return rows.map(({ tenant_id: tenantId, state, receives }) => ({
    tenantId,
    state,
    webhooks: (JSON.parse(receives ?? '{}') as Receives).webhooks,
  }));
}

function appliedTenant(row: TenantRow): AppliedTenant {
  return {
    tenantId: row.tenant_id,
    version: Number(row.version),
    file: row.file ?? '',
    files: JSON.parse(row.files ?? '{}') as Record<string, string>,
    receives: JSON.parse(row.receives ?? '{}') as Receives,
    state: row.state,
    pausedCode: row.paused_code,
    appliedAt: Number(row.applied_at),
    appliedBy: row.applied_by ?? '',
    endedAt: row.ended_at,
  };
}

/**
 * Applies all of these or none; `hris` says what a changed HR connection means. Returns false if a tenant is no longer
 * at the version that its definition was compared with, because somebody else applied one first. A removed tenant comes
 * back.
 */
export async function applyDefinitions(
  store: Store,
  applications: readonly Application[],
  by: string,
  { hris: way }: { hris?: HrisWay | undefined } = {},
): Promise<boolean> {
  return changeTenants(store, async (trx, version) => {
    const rows = await trx.kysely.selectFrom('tenants').select(['tenant_id', 'version', 'state', 'receives']).execute();
    const known = new Map(rows.map((row) => [row.tenant_id, row]));
    const isStale = ({ tenantId, over }: Application) => (known.get(tenantId)?.version ?? null) !== over;
    if (applications.some(isStale)) return false;
    for (const { tenantId } of applications)
      if ((await erasingTenant(trx, tenantId)) !== undefined) throw tenantErasing(tenantId);
    // At each time, because an earlier version could still record somebody by the tenant's name afterwards.
    await nameCompanies(trx, companiesOf(applications, rows));
    await changeHrisOf(trx, applications, { way, known });
    for (const application of applications) {
      const { tenantId, changes } = application;
      const isBack = known.get(tenantId)?.state === 'removed';
      await writeDefinition(trx, application, { version, by, isBack });
      if (isBack) await takePeopleBack(trx, tenantId);
      await audit(trx, { by, tenantId, act: 'applied', details: changes.join('\n') });
    }
    return true;
  });
}

/** When the tenant was applied last, 0 if never; undefined where the store does not know it. */
export async function lastApplied({ kysely }: Store, tenantId: string): Promise<number | undefined> {
  const tenant = kysely.selectFrom('tenants').select('applied_at').where('tenant_id', '=', tenantId);
  const row = await tenant.executeTakeFirst();
  return row === undefined ? undefined : Number(row.applied_at ?? 0);
}

/** The unfinished erasure of this whole tenant, if there is one. */
export async function erasingTenant({ kysely }: Store, tenantId: string): Promise<ErasureRow | undefined> {
  const open = kysely
    .selectFrom('erasures')
    .selectAll()
    .where(has({ tenant_id: tenantId, done_at: null }));
  return open.where('subject', 'like', '{"landing":%').executeTakeFirst();
}

function tenantErasing(tenantId: string): ConnectorError {
  return rejected(
    'TENANT_ERASING',
    `Tenant ${tenantId} is being erased, and files applied now would be erased with it. Nothing was applied. ` +
      `Wait for its receipt: hirebridge person receipts ${tenantId}`,
  );
}

/** Carries out each change of an HR connection once, also if several tenants share the HR system. */
async function changeHrisOf(
  trx: Store,
  applications: readonly Application[],
  { way, known }: { way: HrisWay | undefined; known: ReadonlyMap<string, Pick<TenantRow, 'state'>> },
): Promise<void> {
  const renamed = new Set<string>();
  for (const { tenantId, hris } of applications) {
    if (hris === undefined) continue;
    if (way === undefined) throw hrisChanged(tenantId, hris);
    // A worker with the old connection still open would keep recording people under the old name.
    if (hris.from !== hris.to && known.get(tenantId)?.state === 'active') throw notPaused(tenantId);
    if (way === 'keep' && renamed.has(hris.from)) continue;
    renamed.add(hris.from);
    await changeHris(trx, { tenantId, ...hris, way });
  }
}

function notPaused(tenantId: string): ConnectorError {
  return rejected(
    'TENANT_NOT_PAUSED',
    `Tenant ${tenantId} is still working with its previous HR system, so nothing was applied. Pause it first, ` +
      `apply, and resume it: hirebridge pause ${tenantId}`,
  );
}

function hrisChanged(tenantId: string, { from, to }: { from: string; to: string }): ConnectorError {
  return rejected(
    'HRIS_CHANGED',
    `Tenant ${tenantId} has people, requisitions or resumes in the HR system "${from}", and its file now names ` +
      `"${to}". Nothing was applied. Say what that means: hirebridge tenant apply --hris keep (the same HR system ` +
      'under another name or address) or --hris new (another HR system: nobody in the old one is touched, and a hold ' +
      'asks about people hired again).',
  );
}

/** The company that each tenant names. A tenant's name that is a company's as well stands for that company. */
function companiesOf(
  applications: readonly Application[],
  rows: readonly Pick<TenantRow, 'receives'>[],
): ReadonlyMap<string, string> {
  const named = new Set(rows.map(({ receives }) => (JSON.parse(receives ?? '{}') as Receives).company));
  return new Map(
    applications.flatMap(({ tenantId, receives: { company } }) =>
      company === undefined || named.has(tenantId) ? [] : [[tenantId, company]],
    ),
  );
}

async function writeDefinition(
  { kysely, now }: Store,
  { tenantId, file, files, receives }: Definition,
  { version, by, isBack }: { version: number; by: string; isBack: boolean },
): Promise<void> {
  const texts = { file, files: JSON.stringify(files), receives: JSON.stringify(receives) };
  const applied = { version, ...texts, applied_at: now, applied_by: by };
  const row = { tenant_id: tenantId, state: 'active' as const, ...applied, removed_at: null, ended_at: null };
  const back = isBack ? (['state', 'removed_at', 'ended_at'] as const) : [];
  const set = ['version', 'file', 'files', 'receives', 'applied_at', 'applied_by', ...back] as const;
  await put({ kysely }, 'tenants', [row], { key: ['tenant_id'], set });
}

/** Runs one change of tenants under the next version. The whole installation runs one such change at a time. */
export async function changeTenants<T>(store: Store, change: (trx: Store, version: number) => Promise<T>): Promise<T> {
  return inTransaction(store, async (trx) => change(trx, await nextVersion(trx)));
}

/** The number of a change of tenants, in its transaction. */
export async function nextVersion({ kysely }: Store): Promise<number> {
  const { tenants_version: version } = await kysely
    .updateTable('installation')
    .set({ tenants_version: sql<number>`tenants_version + 1` })
    .returning('tenants_version')
    .executeTakeFirstOrThrow();
  return version;
}

/** A person, and the tenant that they act upon. */
export interface TenantAct {
  tenantId: string;
  by: string;
}

/** Stops all work of the tenant until a person resumes it. False if no active or paused tenant has that name. */
export async function pauseByPerson(store: Store, act: TenantAct): Promise<boolean> {
  return change(store, { ...act, act: 'paused' }, (trx, version) =>
    trx.kysely
      .updateTable('tenants')
      .set({
        version,
        state: 'paused',
        paused_code: PAUSED_BY_PERSON,
        paused_message: `Paused by ${act.by}. To resume it: hirebridge resume ${act.tenantId}`,
        paused_at: trx.now,
        paused_key: null,
      })
      .where('tenant_id', '=', act.tenantId)
      .where('state', '!=', 'removed'),
  );
}

/** False if no person paused the tenant. */
export async function resumeByPerson(store: Store, act: TenantAct): Promise<boolean> {
  return change(store, { ...act, act: 'resumed' }, (trx, version) =>
    trx.kysely
      .updateTable('tenants')
      .set({ version, state: 'active', paused_code: null, paused_message: null, paused_at: null })
      .where(has({ tenant_id: act.tenantId, state: 'paused', paused_code: PAUSED_BY_PERSON })),
  );
}

/**
 * Removes a tenant: its work stops, nobody is notified about it any more, and a worker ends its schedules and
 * workflows. False if it was removed before.
 */
export async function removeTenant(store: Store, act: TenantAct): Promise<boolean> {
  return changeTenants(store, (trx, version) => removeApplied(trx, version, act));
}

/** The same within a running change of tenants. */
export async function removeApplied(trx: Store, version: number, { tenantId, by }: TenantAct): Promise<boolean> {
  const removing = trx.kysely
    .updateTable('tenants')
    .set({
      version,
      state: 'removed',
      removed_at: trx.now,
      ended_at: null,
      receives: sql<string>`replace(receives, ',"events":true', '')`,
    })
    .where('tenant_id', '=', tenantId)
    .where('version', 'is not', null)
    .where('state', '!=', 'removed');
  const isRemoved = await didChange(removing);
  if (isRemoved) await audit(trx, { by, tenantId, act: 'removed' });
  return isRemoved;
}

/**
 * Records that a worker ended the schedules and workflows of a removed tenant; releases what its hires held and closes
 * its holds.
 */
export async function recordEnd(store: Store, tenantId: string): Promise<void> {
  await inTransaction(store, async (trx) => {
    const ending = trx.kysely
      .updateTable('tenants')
      .set({ ended_at: sql<number>`coalesce(ended_at, ${store.now})` })
      .where(has({ tenant_id: tenantId, state: 'removed' }));
    if (!(await didChange(ending))) return;
    await giveUpPeople(trx, tenantId);
    await lapseCreating(trx, tenantId);
    await closeAllHolds(trx, tenantId);
  });
}

async function change(
  store: Store,
  entry: AuditEntry,
  update: (trx: Store, version: number) => Parameters<typeof didChange>[0],
): Promise<boolean> {
  return changeTenants(store, async (trx, version) => {
    if (!(await didChange(update(trx, version)))) return false;
    await audit(trx, entry);
    return true;
  });
}

/** Tenants that were ever applied, by name. */
export async function appliedNames({ kysely }: StoreTables): Promise<string[]> {
  const rows = await kysely.selectFrom('tenants').select('tenant_id').where('version', 'is not', null).execute();
  return rows.map((row) => row.tenant_id);
}

/** Whether a tenant of that name was ever applied, including removed ones. */
export async function isApplied({ kysely }: StoreTables, tenantId: string): Promise<boolean> {
  const own = kysely.selectFrom('tenants').select('version').where('tenant_id', '=', tenantId);
  return findsAny(own.where('version', 'is not', null));
}
