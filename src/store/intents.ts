import { sql } from 'kysely';
import type { HireKey } from './hires.ts';
import type { Store } from './open-store.ts';
import type { IntentRow } from './schema.ts';

export interface NewIntent extends HireKey {
  /** `create-employee`, `enrol:1`, ... */
  verb: string;
  attempt: number;
  requestHash: string;
  /** What the request pins; ids only. */
  pinned: unknown;
  /** From now to the moment after which this request must not leave any more. */
  budgetMs: number;
}

export interface OpenIntent extends IntentRow {
  /** The database's clock when the row was written, milliseconds. */
  now: number;
}

/**
 * Commits that one foreign write is about to be made. Undefined when another execution made this attempt first: it may be
 * under way, so the caller must wait for its deadline and look.
 */
export async function openIntent(store: Store, intent: NewIntent): Promise<OpenIntent | undefined> {
  const row = await store.kysely
    .insertInto('intents')
    .values({
      tenant_id: intent.tenantId,
      verb: intent.verb,
      job_candidate_id: intent.jobCandidateId,
      period: intent.period,
      attempt: intent.attempt,
      request_hash: intent.requestHash,
      pinned: JSON.stringify(intent.pinned),
      sent_at: store.now,
      give_up_at: sql<number>`${store.now} + ${intent.budgetMs}`,
      outcome: 'open',
    })
    .onConflict((c) => c.columns(['tenant_id', 'verb', 'job_candidate_id', 'period', 'attempt']).doNothing())
    .returningAll()
    .executeTakeFirst();
  return row === undefined ? undefined : { ...row, now: row.sent_at };
}

/** The newest attempt at this write, with the database's clock now. */
export async function latestIntent(store: Store, key: HireKey, verb: string): Promise<OpenIntent | undefined> {
  return store.kysely
    .selectFrom('intents')
    .selectAll()
    .select(store.now.as('now'))
    .where('tenant_id', '=', key.tenantId)
    .where('verb', '=', verb)
    .where('job_candidate_id', '=', key.jobCandidateId)
    .where('period', '=', key.period)
    .orderBy('attempt', 'desc')
    .limit(1)
    .executeTakeFirst();
}

/** Commits what became of an open intent; a decided one keeps its outcome. */
export async function decideIntent(
  store: Store,
  intent: IntentRow,
  outcome: 'done' | 'absent' | 'refused',
  result: unknown,
): Promise<void> {
  await store.kysely
    .updateTable('intents')
    .set({ outcome, result: JSON.stringify(result), decided_at: store.now })
    .where('tenant_id', '=', intent.tenant_id)
    .where('verb', '=', intent.verb)
    .where('job_candidate_id', '=', intent.job_candidate_id)
    .where('period', '=', intent.period)
    .where('attempt', '=', intent.attempt)
    .where('outcome', '=', 'open')
    .execute();
}
