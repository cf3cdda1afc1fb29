import { batchesOf } from './batches.ts';
import { withoutErased } from './invitations.ts';
import type { Store } from './open-store.ts';
import type { StageMoveRow } from './push-tables.ts';
import { readClock } from './tenant-states.ts';

/** Recorded moves of these applications for one flow, by application. */
export async function readMovesOf(
  { kysely }: Store,
  tenantId: string,
  flow: string,
  jobCandidateIds: readonly string[],
): Promise<Map<string, StageMoveRow>> {
  const own = kysely.selectFrom('stage_moves').selectAll().where('tenant_id', '=', tenantId).where('flow', '=', flow);
  const found = new Map<string, StageMoveRow>();
  for (const some of batchesOf(jobCandidateIds))
    for (const row of await own.where('job_candidate_id', 'in', some).execute()) found.set(row.job_candidate_id, row);
  return found;
}

/** Moves without an answer, and the database's clock. */
export async function readSentMoves(store: Store, tenantId: string): Promise<{ rows: StageMoveRow[]; now: number }> {
  const own = store.kysely.selectFrom('stage_moves').selectAll().where('tenant_id', '=', tenantId);
  return { rows: await own.where('state', '=', 'sent').execute(), now: await readClock(store) };
}

type MoveKey = Pick<StageMoveRow, 'tenant_id' | 'flow' | 'job_candidate_id'>;

/**
 * Commits that a person is about to be moved; undefined if another process changed the row since `before` was read, or
 * the person was erased in the meantime.
 */
export async function sendMove(
  store: Store,
  move: MoveKey & Pick<StageMoveRow, 'candidate_id' | 'stage_id' | 'write_id'>,
  { before, budgetMs }: { before: StageMoveRow | undefined; budgetMs: number },
): Promise<StageMoveRow | undefined> {
  const { tenant_id: tenantId, flow, candidate_id: candidateId, job_candidate_id: jobCandidateId } = move;
  return store.kysely.transaction().execute(async (kysely) => {
    const trx = { ...store, kysely };
    const who = { assessmentId: flow, candidateId, jobCandidateId };
    if ((await withoutErased(trx, tenantId, [who])).length === 0) return undefined;
    const sentAt = await readClock(trx);
    const sent = { state: 'sent' as const, code: null, sent_at: sentAt, give_up_at: sentAt + budgetMs };
    const row = { ...move, ...sent, decided_at: null };
    if (before === undefined)
      return kysely
        .insertInto('stage_moves')
        .values({ ...row, attempt: 1 })
        .onConflict((c) => c.doNothing())
        .returningAll()
        .executeTakeFirst();
    return kysely
      .updateTable('stage_moves')
      .set({ ...row, attempt: before.attempt + 1 })
      .where((eb) => eb.and(keyOf(before)))
      .where('state', '=', before.state)
      .where('attempt', '=', before.attempt)
      .returningAll()
      .executeTakeFirst();
  });
}

/** Records the outcome of a move that was sent; a move that was sent anew stays as it is. */
export async function settleMove(
  store: Store,
  row: StageMoveRow,
  change: Pick<StageMoveRow, 'state'> & Partial<Pick<StageMoveRow, 'code'>>,
): Promise<void> {
  await store.kysely
    .updateTable('stage_moves')
    .set({ code: null, ...change, decided_at: store.now })
    .where((eb) => eb.and({ ...keyOf(row), state: 'sent', attempt: row.attempt }))
    .execute();
}

function keyOf({ tenant_id, flow, job_candidate_id }: StageMoveRow): MoveKey {
  return { tenant_id, flow, job_candidate_id };
}
