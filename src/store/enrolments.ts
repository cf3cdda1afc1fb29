import { sql } from 'kysely';
import type { HireRef, HireStep } from '../hire/hire.ts';
import { updateHire } from './hires.ts';
import { latestIntent } from './intents.ts';
import { didChange, has, hireColumns, type Store } from './open-store.ts';

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

/** Leave to enrol. */
export interface Turn {
  /** When it was given. */
  at: number;
  /** `none`: the gate was open. `sent`: this hire is the canary, and its request left in an earlier attempt. */
  canary: 'none' | 'new' | 'sent';
}

/**
 * Closes the gate after a 402: the tenant enrols nobody any more, apart from one canary per period. A request that left
 * before the gate last opened or closed says nothing new. Returns whether this one did.
 */
export async function closeCreditGate(
  store: Store,
  tenantId: string,
  { at, canary }: Turn,
  numbers: CreditNumbers,
): Promise<boolean> {
  const gate = store.kysely
    .updateTable('tenants')
    .set({ credit_gate: JSON.stringify(numbers), canary_at: store.now })
    .where('tenant_id', '=', tenantId);
  if (canary !== 'none') return didChange(gate.where('canary_at', '<=', at));
  return didChange(gate.where('credit_gate', 'is', null).where(sql<boolean>`coalesce(canary_at, 0) < ${at}`));
}

/**
 * Opens the gate after the canary's success. Returns whether it was closed, and no other canary left since: then the
 * waiting hires need a hint.
 */
export async function openCreditGate(store: Store, tenantId: string, { at }: Turn): Promise<boolean> {
  return didChange(
    store.kysely
      .updateTable('tenants')
      .set({ credit_gate: null, canary_at: store.now })
      .where('tenant_id', '=', tenantId)
      .where('credit_gate', 'is not', null)
      .where('canary_at', '<=', at),
  );
}

/**
 * Lets the next enrolment through at once, as the canary: a person answered `retry`, or the canary gives its `turn`
 * back. Returns whether anybody was waiting for one.
 */
export async function releaseCanary(store: Store, tenantId: string, turn?: Turn): Promise<boolean> {
  const closed = store.kysely
    .updateTable('tenants')
    .set({ canary_at: 0 })
    .where('tenant_id', '=', tenantId)
    .where('credit_gate', 'is not', null);
  return didChange(turn === undefined ? closed : closed.where('canary_at', '=', turn.at));
}

/**
 * Whether an enrolment may leave now. A closed gate passes exactly one caller per period, as the canary. If the
 * canary's request had no answer, its hire goes on with its turn: found, the request proves that credits are back;
 * proven absent, it is sent again. Otherwise everybody would wait for the next canary.
 */
export async function passCreditGate(
  store: Store,
  hire: HireRef,
  verb: string,
  canaryEveryMs: number,
): Promise<Turn | { waitMs: number }> {
  const gate = await gateOf(store, hire.tenantId);
  if (gate.credit_gate === null) return { at: gate.now, canary: 'none' };
  const turn = await store.kysely
    .updateTable('tenants')
    .set({ canary_at: store.now })
    .where('tenant_id', '=', hire.tenantId)
    .where('credit_gate', 'is not', null)
    .where(sql<boolean>`coalesce(canary_at, 0) + ${canaryEveryMs} <= ${store.now}`)
    .returning('canary_at')
    .executeTakeFirst();
  if (turn !== undefined) return { at: Number(turn.canary_at), canary: 'new' };
  const at = gate.canary_at ?? 0;
  const latest = await latestIntent(store, hire, verb);
  const mayBeMade = latest?.outcome === 'open' || latest?.outcome === 'done';
  if (mayBeMade && latest.sent_at >= at) return { at, canary: 'sent' };
  return { waitMs: Math.max(1_000, at + canaryEveryMs - gate.now) };
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
