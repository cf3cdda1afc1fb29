import { sql } from 'kysely';
import { audit } from './audit.ts';
import { batchesOf } from './batches.ts';
import type { CaseCause, PrivacyCaseRow } from './erasure-tables.ts';
import { onceNow, type Store } from './open-store.ts';
import { recordDigest } from './person-marks.ts';

/** Nobody is erased sooner after something was first seen of them: an outage is over by then, and was noticed. */
const CONFIRM_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Who asked for erasures that no person did. */
export const BY_POLICY = 'policy';

/** Why somebody waits who is being hired: only a decision about them alone has them erased. */
export const HIRED = 'hire-open';

/** Notes people whom the policy is about; those whose consent is over are due at once. Whoever is noted stays so. */
export async function noteCases(
  { kysely, now }: Store,
  { tenantId, cause }: { tenantId: string; cause: CaseCause },
  candidateIds: readonly string[],
): Promise<void> {
  const waitMs = cause === 'gone' ? CONFIRM_MS : 0;
  const due = { state: 'due' as const, since: now, due_at: sql<number>`${now} + ${sql.lit(waitMs)}` };
  for (const some of batchesOf(candidateIds))
    await kysely
      .insertInto('privacy_cases')
      .values(some.map((candidateId) => ({ tenant_id: tenantId, candidate_id: candidateId, cause, ...due })))
      .onConflict((c) => c.doNothing())
      .execute();
}

/** Tenants some of whose cases are to be looked at now. */
export async function tenantsWithCases({ kysely, now }: Store): Promise<ReadonlySet<string>> {
  const due = kysely.selectFrom('privacy_cases').select('tenant_id').distinct();
  const rows = await due.where('state', '<>', 'kept').where('due_at', '<=', now).execute();
  return new Set(rows.map((row) => row.tenant_id));
}

/** Those of a tenant, oldest first. */
export async function dueCases({ kysely, now }: Store, tenantId: string): Promise<PrivacyCaseRow[]> {
  return kysely
    .selectFrom('privacy_cases')
    .selectAll()
    .where('tenant_id', '=', tenantId)
    .where('state', '<>', 'kept')
    .where('due_at', '<=', now)
    .orderBy('since')
    .orderBy('candidate_id')
    .execute();
}

/** All of a tenant, oldest first. */
export async function listCases({ kysely }: Store, tenantId: string): Promise<PrivacyCaseRow[]> {
  const all = kysely.selectFrom('privacy_cases').selectAll().where('tenant_id', '=', tenantId);
  return all.orderBy('since').orderBy('candidate_id').execute();
}

/** How many people wait for somebody's decision, by tenant. */
export async function countAsked({ kysely }: Store): Promise<Map<string, number>> {
  const rows = await kysely
    .selectFrom('privacy_cases')
    .select(['tenant_id', (eb) => eb.fn.countAll<number>().as('count')])
    .where('state', '=', 'asked')
    .groupBy('tenant_id')
    .execute();
  return new Map(rows.map((row) => [row.tenant_id, Number(row.count)]));
}

type CaseKey = Pick<PrivacyCaseRow, 'tenant_id' | 'candidate_id' | 'cause' | 'state'>;

function caseOf({ tenant_id, candidate_id, cause, state }: CaseKey) {
  return { tenant_id, candidate_id, cause, state };
}

/** A person decides about it; whether it is still so is looked at once a day. */
export async function askAbout(store: Store, one: CaseKey, why: string): Promise<void> {
  await postponeCase(store, one, { state: 'asked', why, ms: CONFIRM_MS });
}

/** It is looked at again later. */
export async function postponeCase(
  { kysely, now }: Store,
  one: CaseKey,
  { ms, ...change }: { ms: number; why: string | null; state?: 'asked' },
): Promise<void> {
  const row = kysely.updateTable('privacy_cases').set({ ...change, due_at: sql<number>`${now} + ${sql.lit(ms)}` });
  await row.where((eb) => eb.and(caseOf(one))).execute();
}

/** There is nothing to decide any more. False where somebody else has dealt with it since. */
export async function dropCase({ kysely }: Store, one: CaseKey): Promise<boolean> {
  const row = kysely.deleteFrom('privacy_cases').where((eb) => eb.and(caseOf(one)));
  return (await row.executeTakeFirst()).numDeletedRows === 1n;
}

/** How many people the policy alone had erased within the last hour. */
export async function erasedLately({ kysely, now }: Store, tenantId: string): Promise<number> {
  const row = await kysely
    .selectFrom('erasures')
    .select((eb) => eb.fn.countAll<number>().as('count'))
    .where('tenant_id', '=', tenantId)
    .where('by', '=', BY_POLICY)
    .where('asked_at', '>', sql<number>`${now} - ${sql.lit(HOUR_MS)}`)
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/**
 * Takes down what a person decided: `allowed` has them erased by the next round, also where that is more than the
 * limit; `kept` for good. Of everybody who is asked about where no candidate is named, but for hires under way that
 * erasing would end. Gives how many it was.
 */
export async function decideCases(
  store: Store,
  { tenantId, candidateId, by }: { tenantId: string; candidateId: string | undefined; by: string },
  decision: 'allowed' | 'kept',
): Promise<number> {
  return store.kysely.transaction().execute(async (kysely) => {
    const trx = { ...store, kysely };
    const now = onceNow(store);
    const open = kysely
      .updateTable('privacy_cases')
      .set({ state: decision, decided_by: by, due_at: now })
      .where('tenant_id', '=', tenantId);
    const whom =
      candidateId === undefined
        ? open
            .where('state', '=', 'asked')
            .where((eb) => (decision === 'kept' ? eb.lit(true) : eb('why', 'is distinct from', HIRED)))
        : open.where('candidate_id', '=', candidateId).where('state', '<>', decision);
    const count = Number((await whom.executeTakeFirst()).numUpdatedRows);
    if (count === 0) return 0;
    const act = decision === 'kept' ? 'person-kept' : 'erasure-allowed';
    const subject =
      candidateId === undefined ? undefined : await recordDigest(trx, tenantId, { kind: 'candidate', id: candidateId });
    await audit(trx, { by, tenantId, act, details: `${count} of the policy's cases`, ...(subject && { subject }) });
    return count;
  });
}
