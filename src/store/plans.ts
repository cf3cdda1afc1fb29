import { randomUUID } from 'node:crypto';
import type { Change, HireRef } from '../hire/hire.ts';
import { hireColumns, readKept, type Store } from './open-store.ts';
import type { PlanRow } from './schema.ts';
import { sealed } from './sealed-values.ts';

/** A plan to save: the hash of its mapping, and the change. */
interface NewPlan {
  mappingHash: string;
  /** Holds personal data; leaves the store only for the HRIS. */
  change: unknown;
}

export async function insertPlan(store: Store, key: HireRef, plan: NewPlan): Promise<string> {
  const planId = randomUUID();
  await store.kysely
    .insertInto('plans')
    .values({
      plan_id: planId,
      ...hireColumns(key),
      mapping_hash: plan.mappingHash,
      change: await sealed(store, 'plans.change', key.tenantId, JSON.stringify(plan.change)),
      planned_at: store.now,
    })
    .execute();
  return planId;
}

export type KeptPlan = Omit<PlanRow, 'change'> & { change: Change | 'purged' };

export async function latestPlan(store: Store, key: HireRef): Promise<KeptPlan | undefined> {
  const row = await store.kysely
    .selectFrom('plans')
    .selectAll()
    .where((eb) => eb.and(hireColumns(key)))
    .orderBy('planned_at', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && { ...row, change: readKept<Change>(row.change) };
}

export async function markApplied(store: Store, planId: string): Promise<void> {
  await store.kysely.updateTable('plans').set({ applied_at: store.now }).where('plan_id', '=', planId).execute();
}
