import { sql } from 'kysely';
import { erasingTenant, lastApplied, nextVersion, type Receives } from './applied-tenants.ts';
import { noteRedacted } from './audit.ts';
import { STORE_PLACES } from './data-map.ts';
import {
  anyLegalHold,
  assertNoLegalHold,
  type ErasureReceipt,
  endErasure,
  eraseTenantOnceMore,
  findErasure,
  type TenantSubject,
} from './erasures.ts';
import { type Store } from './open-store.ts';
import { handOverRecorded, recordedBy } from './people.ts';
import { asksOthers, type FoundRows, NAMING_ACTS } from './person-data.ts';
import { destroyDataKeys, listDataKeys, openedQuestion, sealedSet } from './sealed-values.ts';
import { withoutHires } from './shared-rows.ts';
import { changeTenant, siblingsOf } from './tenant-states.ts';
import type { ErasureRow } from './tenant-tables.ts';

// Finds and erases all rows of a tenant. The data map names the tables, so that a new table is included from the start.

/** Proofs and records of operators' acts: these rows stay; they hold no ids and no values of people. */
const STAYING: ReadonlySet<string> = new Set(['audit', 'erasures', 'person_marks', 'tenants']);
/** Tables of people that several tenants may share. */
const SHARED: ReadonlySet<string> = new Set(['persons', 'person_keys']);
/** Rows in one statement, so that nothing waits long for it. */
const BATCH = 2_000;

/** Erased first: triggers write rows about these. */
const FIRST = ['hires', 'holds', 'alarms'];

/** Tables in which each row belongs to one tenant. */
const OWN_TABLES: readonly string[] = Object.entries(STORE_PLACES)
  .flatMap(([table, place]) => {
    const columns = [...('people' in place ? Object.keys(place.people) : []), ...place.others.split(' ')];
    return columns.includes('tenant_id') && !STAYING.has(table) && !SHARED.has(table) ? [table] : [];
  })
  .toSorted((one, other) => Number(FIRST.includes(other)) - Number(FIRST.includes(one)));

/** Places that hold rows of the tenant, with counts; places without any are left out. */
export async function countTenantRows(store: Store, tenantId: string): Promise<Pick<FoundRows, 'place' | 'count'>[]> {
  const counts = [
    ...OWN_TABLES.map((table) => [table, sql`from ${sql.table(table)} where tenant_id = ${tenantId}`] as const),
    ['saved_plan_records', sql`from saved_plan_records where ${ofOwnPlans(tenantId)}`] as const,
    ['persons', sql`from persons where ${ownPeople(tenantId)}`] as const,
    ['person_keys', sql`from person_keys where ${ownKeys(tenantId)}`] as const,
    ['audit', sql`from audit where ${toClear(tenantId)}`] as const,
  ];
  const questions = (await questionsNaming(store, tenantId)).length;
  const found: Pick<FoundRows, 'place' | 'count'>[] = [];
  for (const [place, rows] of counts) {
    const counted = await sql<{ count: number }>`select count(*) as count ${rows}`.execute(store.kysely);
    const count = Number(counted.rows[0]?.count) + (place === 'holds' ? questions : 0);
    if (count > 0) found.push({ place, count });
  }
  // With SQLite the data keys are in a file beside the store; in Postgres they are one of its tables.
  const { sealing } = store;
  const keys = sealing === undefined || store.kind === 'postgres' ? [] : await listDataKeys(sealing, tenantId);
  if (keys.length > 0) found.push({ place: 'data_keys', count: keys.length });
  return found;
}

/**
 * Erases all that belongs to this tenant alone, in bounded batches: it can be repeated, and a repeat continues where a
 * process died. A person whom another tenant has too stays with that tenant.
 * @throws ConnectorError LEGAL_HOLD if a hold was put meanwhile: what is left is spared
 */
export async function eraseTenantRows(store: Store, tenantId: string): Promise<void> {
  const assertMayErase = () => assertNoLegalHold(store, tenantId);
  await eraseRows(store, tenantId, assertMayErase);
  await assertMayErase();
  // Makes the tenant's data in backups unreadable.
  if (store.sealing !== undefined) await destroyDataKeys(store.sealing, tenantId);
}

async function eraseRows(store: Store, tenantId: string, assertMayErase = async () => {}): Promise<void> {
  const { kysely } = store;
  await deleteSome(store, 'saved_plan_records', ofOwnPlans(tenantId));
  await kysely.transaction().execute(async (trx) => {
    await sql`update audit set details = ${CLEARED}, salt = null where ${toClear(tenantId)}`.execute(trx);
    await noteRedacted({ ...store, kysely: trx }, tenantId);
  });
  for (const table of OWN_TABLES) {
    await assertMayErase();
    await deleteSome(store, table, sql<boolean>`tenant_id = ${tenantId}`);
  }
  for (const { of, holdId, left } of await questionsNaming(store, tenantId)) {
    const changed = await sealedSet(store, 'holds', of, left);
    await sql`update holds set ${changed} where hold_id = ${holdId}`.execute(kysely);
  }
  await erasePeople(store, tenantId);
  await sql`delete from leases where name = ${`events ${tenantId}`}`.execute(kysely);
}

/** Other tenants' questions that name hires of this one, and what stays of each. */
async function questionsNaming(store: Pick<Store, 'kysely' | 'sealing'>, tenantId: string) {
  const { rows } = await sql<Record<string, unknown>>`
    select * from holds where ${asksOthers(tenantId)}`.execute(store.kysely);
  const opened = await Promise.all(rows.map((row) => openedQuestion(store, row)));
  return opened.flatMap((row) => {
    const left = withoutHires(row, tenantId, () => true);
    return left === undefined ? [] : [{ of: row['tenant_id'], holdId: row['hold_id'], left }];
  });
}

/**
 * Goes through the people of all tenants by id. It reads a batch outside a transaction and changes it in one of its
 * own, so that nobody waits long for the database.
 */
async function erasePeople(store: Store, tenantId: string): Promise<void> {
  const { kysely } = store;
  const siblings = await siblingsOf(store, tenantId);
  for (let after = ''; ; ) {
    const { rows } = await sql<{ person_id: string; is_of: number | boolean }>`
      select person_id, (${isOf(tenantId)}) as is_of from persons
      where person_id > ${after} order by person_id limit ${sql.lit(BATCH)}`.execute(kysely);
    const people = rows.filter(({ is_of: isTheirs }) => Boolean(isTheirs)).map((row) => row.person_id);
    if (people.length > 0)
      await kysely.transaction().execute(async (trx) => {
        await handOverRecorded(trx, tenantId, { people: sql.join(people), siblings });
        await eraseSome(trx, tenantId, people);
      });
    after = rows.at(-1)?.person_id ?? '';
    if (rows.length < BATCH) break;
  }
  await deleteSome(store, 'person_keys', sql<boolean>`tenant_id = ${tenantId}`);
}

/** Erases people whom no other tenant has; other people only lose their relation to this tenant. */
async function eraseSome(trx: Store['kysely'], tenantId: string, people: readonly string[]): Promise<void> {
  const some = sql`person_id in (${sql.join(people)})`;
  const own = sql<{ person_id: string }>`select person_id from persons where ${some} and ${ownPeople(tenantId)}`;
  const gone = (await own.execute(trx)).rows.map((row) => row.person_id);
  if (gone.length > 0) {
    await sql`delete from person_keys where person_id in (${sql.join(gone)})`.execute(trx);
    await sql`delete from persons where person_id in (${sql.join(gone)})`.execute(trx);
  }
  await sql`update persons set tenant_id = null, job_candidate_id = null, period = null, version = version + 1
    where ${some} and tenant_id = ${tenantId}`.execute(trx);
  await sql`update persons set recorded = null, version = version + 1
    where ${some} and ${recordedBy(tenantId)}`.execute(trx);
}

/**
 * Keeps the tenant's name, so that its webhooks are answered as those of a removed tenant, but nothing of its
 * definition. If it is applied again, it begins as a new tenant. Runs in the transaction that ends the erasure.
 */
export function endTenantErasure(
  store: Store,
  row: ErasureRow,
  receiptAt: (doneAt: string) => ErasureReceipt,
): Promise<ErasureReceipt> {
  return endErasure(store, row, receiptAt, (trx) => forgetDefinition(trx, row.tenant_id));
}

async function forgetDefinition(trx: Store, tenantId: string): Promise<void> {
  const { kysely, now } = trx;
  const version = await nextVersion(trx);
  const own = kysely.selectFrom('tenants').select('receives').where('tenant_id', '=', tenantId);
  const known = await own.executeTakeFirst();
  // The company stays beside the tenant's id: the marks of erased people are made with its ids.
  const { company, environment, origin } = JSON.parse(known?.receives ?? '{}') as Partial<Receives>;
  await changeTenant(trx, tenantId, {
    version,
    state: 'removed',
    removed_at: sql<number>`coalesce(removed_at, ${now})`,
    ended_at: sql<number>`coalesce(ended_at, ${now})`,
    file: null,
    files: '{}',
    receives: JSON.stringify({ webhooks: 'off', webhookKeys: [], company, environment, origin }),
    applied_by: null,
    ...FORGOTTEN,
  });
}

/** A line of the list of erasures beside the store, about a whole tenant. */
interface ErasedTenant {
  tenant: string;
  erasure: string;
  by: string;
  wholeTenant: number;
  landing?: TenantSubject['landing'] | undefined;
}

/**
 * Erases a tenant from a restored store if it was erased after the backup was made; a tenant applied again after that
 * stays. Where the erasure goes on, or begins once more because the store does not know it, the definition stays until
 * its end: a worker needs it to open the landing tables. `held`: somebody of it is under a legal hold, so nothing is
 * erased before a worker finds the hold released. Returns undefined if the store does not have the tenant.
 */
export async function eraseRestoredTenant(
  store: Store,
  { tenant: tenantId, erasure, by, wholeTenant: askedAt, landing }: ErasedTenant,
): Promise<'erased' | 'held' | undefined> {
  const appliedAt = await lastApplied(store, tenantId);
  if (appliedAt === undefined || appliedAt > askedAt) return undefined;
  const done = (await anyLegalHold(store, tenantId)) === undefined ? 'erased' : 'held';
  // Its data keys stay: the store that this one replaces may have the tenant anew, and the restore may yet fail.
  if (done === 'erased') await eraseRows(store, tenantId);
  if ((await erasingTenant(store, tenantId)) !== undefined) return done;
  if (done === 'held' || (landing !== undefined && (await findErasure(store, erasure)) === undefined))
    await eraseTenantOnceMore(store, { landing: landing ?? 'keep', tenantId }, { erasure, by, askedAt });
  else await store.kysely.transaction().execute((kysely) => forgetDefinition({ ...store, kysely }, tenantId));
  return done;
}

const FORGOTTEN = {
  paused_code: null,
  paused_message: null,
  paused_at: null,
  paused_key: null,
  verified_key: null,
  company_confirmed_at: null,
  company_confirmed_by: null,
  company_confirmed_key: null,
  baseline_started_at: null,
  baseline_done_at: null,
  reconciled_at: null,
  fully_reconciled_at: null,
  credit_gate: null,
  canary_at: null,
  stage_filter: null,
  stage_filter_at: null,
  frozen_at: null,
  frozen_by: null,
  notify_until: null,
  digested_on: null,
} as const;

/** Replaces details that named people. */
const CLEARED = 'erased';

function toClear(tenantId: string) {
  return sql<boolean>`tenant_id = ${tenantId} and act in (${sql.join(NAMING_ACTS)}) and details <> ${CLEARED}`;
}

function ofOwnPlans(tenantId: string) {
  return sql<boolean>`plan_hash in (select plan_hash from saved_plans where tenant_id = ${tenantId})`;
}

function ownKeys(tenantId: string) {
  return sql<boolean>`(tenant_id = ${tenantId} or person_id in (select person_id from persons where
    ${ownPeople(tenantId)}))`;
}

/** People whom this tenant has; written so that it is never null. */
function isOf(tenantId: string) {
  return sql<boolean>`(coalesce(persons.tenant_id, '') = ${tenantId} or coalesce(${recordedBy(tenantId)}, 1 = 0)
    or exists (select 1 from person_keys as mine
      where mine.person_id = persons.person_id and mine.tenant_id = ${tenantId}))`;
}

/** People whom only this tenant has. */
function ownPeople(tenantId: string) {
  return sql<boolean>`${isOf(tenantId)}
    and (tenant_id is null or tenant_id = ${tenantId}) and (recorded is null or ${recordedBy(tenantId)})
    and not exists (select 1 from person_keys as other
      where other.person_id = persons.person_id and other.tenant_id <> ${tenantId})`;
}

async function deleteSome({ kysely, kind }: Store, table: string, where: ReturnType<typeof ofOwnPlans>): Promise<void> {
  const row = sql.ref(kind === 'postgres' ? 'ctid' : 'rowid');
  const some = sql`select ${row} from ${sql.table(table)} where ${where} limit ${sql.lit(BATCH)}`;
  const isOne = kind === 'postgres' ? sql`${row} = any(array(${some}))` : sql`${row} in (${some})`;
  for (;;) {
    const gone = await sql`delete from ${sql.table(table)} where ${isOne}`.execute(kysely);
    if (Number(gone.numAffectedRows ?? 0n) < BATCH) return;
  }
}
