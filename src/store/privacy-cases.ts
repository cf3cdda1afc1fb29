import { sql } from 'kysely';
import { audit } from './audit.ts';
import {
  changedRows,
  countOf,
  didChange,
  has,
  inTransaction,
  onceNow,
  put,
  type Store,
  tenantsIn,
} from './open-store.ts';
import { recordDigest } from './person-marks.ts';
import type { Row } from './schema.ts';
import type { PrivacyCaseRow } from './tenant-tables.ts';

/** A person is erased no sooner than this after the first sign: an outage is over or noticed by then. */
const CONFIRM_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** The requester of erasures that the policy asked for. */
export const BY_POLICY = 'policy';

/** The reason a person waits who is being hired: only a decision about this one person erases them. */
export const HIRED = 'hire-open';

/** Records people that the policy applies to; people whose consent is over are due at once. Existing cases stay. */
export async function noteCases(
  { kysely, now }: Store,
  { tenantId, cause }: { tenantId: string; cause: Row<'privacy_cases'>['cause'] },
  candidateIds: readonly string[],
): Promise<void> {
  const waitMs = cause === 'gone' ? CONFIRM_MS : 0;
  const due = { state: 'due' as const, since: now, due_at: sql<number>`${now} + ${sql.lit(waitMs)}` };
  const rows = candidateIds.map((candidateId) => ({ tenant_id: tenantId, candidate_id: candidateId, cause, ...due }));
  await put({ kysely }, 'privacy_cases', rows, { key: ['tenant_id', 'candidate_id', 'cause'], set: [] });
}

/** Tenants with cases that are due. */
export async function tenantsWithCases({ kysely, now }: Store): Promise<ReadonlySet<string>> {
  const due = kysely.selectFrom('privacy_cases').select('tenant_id').distinct();
  return tenantsIn(due.where('state', '<>', 'kept').where('due_at', '<=', now));
}

/** A tenant's due cases, oldest first. */
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

/** All cases of a tenant, oldest first. */
export async function listCases({ kysely }: Store, tenantId: string): Promise<PrivacyCaseRow[]> {
  const all = kysely.selectFrom('privacy_cases').selectAll().where('tenant_id', '=', tenantId);
  return all.orderBy('since').orderBy('candidate_id').execute();
}

/** How many people wait for a decision, by tenant. */
export async function countAsked({ kysely }: Store): Promise<Map<string, number>> {
  const rows = await kysely
    .selectFrom('privacy_cases')
    .select(['tenant_id', (eb) => eb.fn.countAll<number>().as('count')])
    .where('state', '=', 'asked')
    .groupBy('tenant_id')
    .execute();
  return new Map(rows.map((row) => [row.tenant_id, row.count]));
}

type CaseKey = Pick<PrivacyCaseRow, 'tenant_id' | 'candidate_id' | 'cause' | 'state'>;

function caseOf({ tenant_id, candidate_id, cause, state }: CaseKey) {
  return { tenant_id, candidate_id, cause, state };
}

/** Leaves a case to a person's decision; checks once a day whether it still applies. */
export async function askAbout(store: Store, one: CaseKey, why: string): Promise<void> {
  await postponeCase(store, one, { state: 'asked', why, ms: CONFIRM_MS });
}

/** Looks at the case again later. */
export async function postponeCase(
  { kysely, now }: Store,
  one: CaseKey,
  { ms, ...change }: { ms: number; why: string | null; state?: 'asked' },
): Promise<void> {
  const row = kysely.updateTable('privacy_cases').set({ ...change, due_at: sql<number>`${now} + ${sql.lit(ms)}` });
  await row.where(has(caseOf(one))).execute();
}

/** Deletes a case that no longer applies. False if another process has handled it since. */
export async function dropCase({ kysely }: Store, one: CaseKey): Promise<boolean> {
  const row = kysely.deleteFrom('privacy_cases').where(has(caseOf(one)));
  return didChange(row);
}

/** How many people the policy alone erased within the last hour. */
export async function erasedLately({ kysely, now }: Store, tenantId: string): Promise<number> {
  const own = kysely.selectFrom('erasures').where(has({ tenant_id: tenantId, by: BY_POLICY }));
  return countOf(own.where('asked_at', '>', sql<number>`${now} - ${sql.lit(HOUR_MS)}`));
}

/**
 * Records a person's decision: `allowed` erases the people in the next round, even beyond the limit; `kept` keeps them
 * for good. Without a candidate it applies to everybody who waits, except people whose hire an erasure would end.
 * Returns how many people it applies to.
 */
export async function decideCases(
  store: Store,
  { tenantId, candidateId, by }: { tenantId: string; candidateId: string | undefined; by: string },
  decision: 'allowed' | 'kept',
): Promise<number> {
  return inTransaction(store, async (trx) => {
    const { kysely } = trx;
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
    const count = await changedRows(whom);
    if (count === 0) return 0;
    const act = decision === 'kept' ? 'person-kept' : 'erasure-allowed';
    const subject =
      candidateId === undefined ? undefined : await recordDigest(trx, tenantId, { kind: 'candidate', id: candidateId });
    await audit(trx, { by, tenantId, act, details: `${count} of the policy's cases`, ...(subject && { subject }) });
    return count;
  });
}
