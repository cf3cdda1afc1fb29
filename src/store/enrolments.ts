import { sql } from 'kysely';
import type { HireRef, HireStep } from '../hire/hire.ts';
import { updateHire } from './hires.ts';
import { didChange, has, hireColumns, type Store } from './open-store.ts';
import { changeTenant } from './tenant-states.ts';

/**
 * Records the enrolment of this hire's person. Ignores a late worker: an enrolment already recorded may have been read
 * and completed since, and an earlier attempt's enrolment is no longer the hire's.
 */
export async function recordEnrolment(
  store: Store,
  key: HireRef,
  nth: number,
  { id, status }: { id: string; status: string },
): Promise<void> {
  await store.kysely
    .updateTable('hires')
    .set((eb) => ({
      step: eb
        .case()
        .when(eb.and([eb('onboarding_candidate_id', '=', id), eb('step', 'in', ['employ', 'write-back'])]))
        .then(eb.ref('step'))
        .else(sql.lit<HireStep>('onboard'))
        .end(),
      onboarding_candidate_id: id,
      onboarding_status: eb
        .case()
        .when('onboarding_candidate_id', '=', id)
        .then(eb.ref('onboarding_status'))
        .else(status)
        .end(),
      updated_at: store.now,
    }))
    .where(has({ ...hireColumns(key), state: 'open', enrolment: nth }))
    .execute();
}

/** Clears the nth enrolment so that the next can begin. A next one that has begun already stays. */
export async function beginNextEnrolment(store: Store, key: HireRef, nth: number): Promise<void> {
  await updateHire(
    store,
    key,
    { enrolment: nth + 1, onboarding_candidate_id: null, onboarding_reference: null, onboarding_status: null },
    { enrolment: nth },
  );
}

export interface CreditNumbers {
  required: number | null;
  available: number | null;
}

/**
 * Closes the gate after a 402: the tenant enrols nobody any more, apart from one canary per period. Returns whether the
 * gate was open.
 */
export async function closeCreditGate(store: Store, tenantId: string, numbers: CreditNumbers): Promise<boolean> {
  const gate = store.kysely
    .updateTable('tenants')
    .set({ credit_gate: JSON.stringify(numbers), canary_at: store.now })
    .where('tenant_id', '=', tenantId);
  if (await didChange(gate.where('credit_gate', 'is', null))) return true;
  await gate.execute();
  return false;
}

/** Opens the gate after a successful enrolment. Returns whether it was closed: then the waiting hires need a hint. */
export async function openCreditGate(store: Store, tenantId: string): Promise<boolean> {
  return didChange(
    store.kysely
      .updateTable('tenants')
      .set({ credit_gate: null, canary_at: null })
      .where('tenant_id', '=', tenantId)
      .where('credit_gate', 'is not', null),
  );
}

/** Lets the next enrolment through at once, as the canary (a person answered `retry`). */
export async function releaseCanary(store: Store, tenantId: string): Promise<void> {
  await changeTenant(store, tenantId, { canary_at: 0 });
}

/** Whether an enrolment may leave now. A closed gate passes exactly one caller per period, as the canary. */
export async function passCreditGate(
  store: Store,
  tenantId: string,
  canaryEveryMs: number,
): Promise<{ pass: true; canary: boolean } | { pass: false; waitMs: number; canaryAt: number }> {
  const gate = await gateOf(store, tenantId);
  if (gate.credit_gate === null) return { pass: true, canary: false };
  const canary = store.kysely
    .updateTable('tenants')
    .set({ canary_at: store.now })
    .where('tenant_id', '=', tenantId)
    .where('credit_gate', 'is not', null)
    .where(sql<boolean>`coalesce(canary_at, 0) + ${canaryEveryMs} <= ${store.now}`);
  if (await didChange(canary)) return { pass: true, canary: true };
  const canaryAt = gate.canary_at ?? 0;
  return { pass: false, canaryAt, waitMs: Math.max(1_000, canaryAt + canaryEveryMs - gate.now) };
}

export async function isCreditGateOpen(store: Store, tenantId: string): Promise<boolean> {
  return (await gateOf(store, tenantId)).credit_gate === null;
}

async function gateOf(store: Store, tenantId: string) {
  return store.kysely
    .selectFrom('tenants')
    .select(['credit_gate', 'canary_at', store.now.as('now')])
    .where('tenant_id', '=', tenantId)
    .executeTakeFirstOrThrow();
}
