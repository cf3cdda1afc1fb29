import { createHash, randomUUID } from 'node:crypto';
import { type ConnectorError, rejected } from '../errors.ts';
import type { Change, HireRef } from '../hire/hire.ts';
import { hireBehind, whileKnown } from './hires.ts';
import { batchesOf, given, hireColumns, ofHire, put, readKept, type Store } from './open-store.ts';
import type { Row } from './schema.ts';
import { sealed } from './sealed-values.ts';

/** A plan kept until a person applies it. Its changes hold personal data and stay in the store. */
export interface SavedPlan {
  hash: string;
  tenantId: string;
  /** A stream, or `hire 5012/1`. */
  subject: string;
  source: Row<'saved_plans'>['source'];
  mappingHash: string | null;
}

interface NewSavedPlan extends Omit<SavedPlan, 'hash'> {
  by: string;
  records: readonly { id: string; change: unknown }[];
}

/** Hash of what the plan would do: the same plan has the same hash, regardless of its maker and time. */
function planHash({ tenantId, subject, source, mappingHash, records }: NewSavedPlan): string {
  const sorted = records.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return createHash('sha256')
    .update(JSON.stringify([tenantId, subject, source, mappingHash, sorted]))
    .digest('hex');
}

/** Saves a plan and returns its hash. A plan that is made again can be applied again. */
export async function savePlan(store: Store, plan: NewSavedPlan): Promise<string> {
  const hash = planHash(plan);
  await store.kysely.transaction().execute(async (trx) => {
    await trx.deleteFrom('saved_plan_records').where('plan_hash', '=', hash).execute();
    const times = { planned_at: store.now, planned_by: plan.by };
    const of = { tenant_id: plan.tenantId, subject: plan.subject, source: plan.source, mapping_hash: plan.mappingHash };
    const columns = { key: ['plan_hash'], set: ['planned_at', 'planned_by'] } as const;
    await put({ kysely: trx }, 'saved_plans', [{ plan_hash: hash, ...of, ...times }], columns);
    for (const some of batchesOf(plan.records)) {
      const rows = some.map(async ({ id, change }) => ({
        plan_hash: hash,
        record_id: id,
        change: await sealed(store, 'saved_plan_records.change', plan.tenantId, JSON.stringify(change)),
        state: 'planned' as const,
      }));
      await trx
        .insertInto('saved_plan_records')
        .values(await Promise.all(rows))
        .execute();
    }
  });
  return hash;
}

/** The plan, of this tenant if given, whose hash begins so. @throws ConnectorError PLAN_UNKNOWN, PLAN_AMBIGUOUS */
export async function findPlan(store: Store, prefix: string, tenantId?: string): Promise<SavedPlan> {
  const rows = await store.kysely
    .selectFrom('saved_plans')
    .select(SAVED)
    // A range on the key's order finds hashes by their first characters.
    .where('plan_hash', '>=', prefix)
    .where('plan_hash', '<', `${prefix}g`)
    .$if(tenantId !== undefined, (query) => query.where('tenant_id', '=', tenantId ?? ''))
    .limit(2)
    .execute();
  const [row, other] = rows;
  if (row === undefined || other !== undefined) throw notOne(prefix, other !== undefined);
  return row;
}

const SAVED = [
  'plan_hash as hash',
  'tenant_id as tenantId',
  'subject',
  'source',
  'mapping_hash as mappingHash',
] as const;

function notOne(prefix: string, several: boolean): ConnectorError {
  return rejected(
    several ? 'PLAN_AMBIGUOUS' : 'PLAN_UNKNOWN',
    several
      ? `Several plans begin with ${prefix}. Give more of the hash.`
      : `No plan begins with ${prefix}. Make one with hirebridge plan, and give the hash that it prints.`,
  );
}

interface SavedRecord<Change> {
  id: string;
  change: Change;
  state: Row<'saved_plan_records'>['state'];
}

/** The records of a plan in one state, by id. */
export async function readPlanRecords<Change>(
  store: Store,
  hash: string,
  state?: Row<'saved_plan_records'>['state'],
): Promise<SavedRecord<Change>[]> {
  const rows = await store.kysely
    .selectFrom('saved_plan_records')
    .innerJoin('saved_plans', 'saved_plans.plan_hash', 'saved_plan_records.plan_hash')
    .selectAll('saved_plan_records')
    .select('saved_plans.tenant_id')
    .$call(given({ 'saved_plan_records.plan_hash': hash, state }))
    .orderBy('record_id')
    .execute();
  return rows.map((row) => ({ id: row.record_id, change: JSON.parse(row.change) as Change, state: row.state }));
}

/** Records the outcome of these records of a plan. */
export async function markRecords(
  store: Store,
  hash: string,
  ids: readonly string[],
  state: Row<'saved_plan_records'>['state'],
): Promise<void> {
  const records = store.kysely.updateTable('saved_plan_records').set({ state }).where('plan_hash', '=', hash);
  for (const some of batchesOf(ids)) await records.where('record_id', 'in', some).execute();
}

/** A plan and the states of its records so far. */
export interface ListedPlan extends SavedPlan {
  plannedAt: number;
  plannedBy: string;
  records: Partial<Record<Row<'saved_plan_records'>['state'], number>>;
}

/** A tenant's latest plans, or a single one. */
export async function listPlans(
  { kysely }: Store,
  { tenantId, hash, limit = 1 }: { tenantId: string; hash?: string; limit?: number },
): Promise<ListedPlan[]> {
  const rows = await kysely
    .selectFrom('saved_plans')
    .select([...SAVED, 'planned_at as plannedAt', 'planned_by as plannedBy'])
    .$call(given({ tenant_id: tenantId, plan_hash: hash }))
    .orderBy('planned_at', 'desc')
    .limit(limit)
    .execute();
  if (rows.length === 0) return [];
  const counts = await kysely
    .selectFrom('saved_plan_records')
    .select(['plan_hash', 'state', (eb) => eb.fn.countAll<number>().as('count')])
    .where(
      'plan_hash',
      'in',
      rows.map((row) => row.hash),
    )
    .groupBy(['plan_hash', 'state'])
    .execute();
  const countsOf = Map.groupBy(counts, (row) => row.plan_hash);
  return rows.map((row) => ({
    ...row,
    records: Object.fromEntries((countsOf.get(row.hash) ?? []).map(({ state, count }) => [state, count])),
  }));
}

/** A plan to save: the hash of its mapping, and the change. */
interface NewPlan {
  mappingHash: string;
  /** Holds personal data; leaves the store only for the HRIS. */
  change: unknown;
}

/** @throws ConnectorError HIRE_BEHIND if the hire's row is gone */
export async function insertPlan(store: Store, key: HireRef, plan: NewPlan): Promise<string> {
  const row = {
    plan_id: randomUUID(),
    ...hireColumns(key),
    mapping_hash: plan.mappingHash,
    change: await sealed(store, 'plans.change', key.tenantId, JSON.stringify(plan.change)),
    planned_at: store.now,
  };
  const inserted = await whileKnown(store, key, ({ kysely }) => kysely.insertInto('plans').values(row).execute());
  if (inserted === undefined) throw hireBehind(key);
  return row.plan_id;
}

export type KeptPlan = Omit<Row<'plans'>, 'change'> & { change: Change | 'purged' };

export async function latestPlan(store: Store, key: HireRef): Promise<KeptPlan | undefined> {
  const row = await store.kysely
    .selectFrom('plans')
    .selectAll()
    .where(ofHire(key))
    .orderBy('planned_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { ...row, change: readKept<Change>(row.change) };
}

export async function markApplied(store: Store, planId: string): Promise<void> {
  await store.kysely.updateTable('plans').set({ applied_at: store.now }).where('plan_id', '=', planId).execute();
}
