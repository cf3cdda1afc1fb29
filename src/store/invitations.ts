import { stoppedAmong } from './consents.ts';
import { batchesOf, has, inTransaction, readClock, readInBatches, type Store } from './open-store.ts';
import { erasedOf, type PersonId } from './person-marks.ts';
import type { InvitationRow, StageMoveRow } from './push-tables.ts';
import { sendOnce, sentNow } from './send-once.ts';

/** A person, and the assessment that a rule invites them to. */
export interface Invitee {
  assessmentId: string;
  candidateId: string;
  /** The application that matched the rule. */
  jobCandidateId: string;
}

const AT_ONCE = 500;

/** Invitations with an open outcome or refused by the partner, and the database's clock. */
export async function readOpenInvitations(
  store: Store,
  tenantId: string,
): Promise<{ rows: InvitationRow[]; now: number }> {
  const own = store.kysely.selectFrom('invitations').selectAll().where('tenant_id', '=', tenantId);
  const rows = await own.where('state', 'in', ['sent', 'taken', 'refused']).orderBy('candidate_id').execute();
  return { rows, now: await readClock(store) };
}

/** Invitations of these people to one assessment, by candidate. */
export async function readInvitationsOf(
  { kysely }: Store,
  tenantId: string,
  assessmentId: string,
  candidateIds: readonly string[],
): Promise<Map<string, InvitationRow>> {
  const all = kysely.selectFrom('invitations').selectAll();
  const own = all.where(has({ tenant_id: tenantId, assessment_id: assessmentId }));
  const rows = await readInBatches(candidateIds, (some) => own.where('candidate_id', 'in', some).execute());
  return new Map(rows.map((row) => [row.candidate_id, row]));
}

/** The invitations that still belong to one batch of the partner. */
export async function readInvitationsBatch({ kysely }: Store, tenantId: string, batchId: string) {
  const own = kysely.selectFrom('invitations').selectAll().where('tenant_id', '=', tenantId);
  return own.where('batch_id', '=', batchId).execute();
}

/** Leaves out people who were erased or whose consent is over: nothing is recorded of them. */
export async function withoutErased<One extends Invitee>(
  store: Store,
  tenantId: string,
  people: readonly One[],
): Promise<One[]> {
  const idsOf = ({ candidateId, jobCandidateId }: Invitee): PersonId[] => [
    { kind: 'candidate', id: candidateId },
    { kind: 'job-candidate', id: jobCandidateId },
  ];
  const isErased = await erasedOf(store, tenantId, people.flatMap(idsOf));
  const isStopped = await stoppedAmong(store, tenantId, people.flatMap(idsOf));
  return people.filter((one) => !idsOf(one).some((id) => isErased(id) || isStopped(id)));
}

/**
 * Commits that one request is about to invite these people. Leaves out people erased in the meantime, and those whose
 * row another process changed since it was read.
 */
export async function sendInvitations(
  store: Store,
  tenantId: string,
  people: readonly { invitee: Invitee; before: InvitationRow | undefined }[],
  { writeId, budgetMs }: { writeId: string; budgetMs: number },
): Promise<InvitationRow[]> {
  return inTransaction(store, async (trx) => {
    const asked = people.map(({ invitee }) => invitee);
    const wanted = new Set(await withoutErased(trx, tenantId, asked));
    const now = { ...(await sentNow(trx, budgetMs)), write_id: writeId, batch_id: null, code: null, decided_at: null };
    const rows: InvitationRow[] = [];
    for (const { invitee, before } of people) {
      if (!wanted.has(invitee)) continue;
      const { assessmentId, candidateId, jobCandidateId } = invitee;
      const key = { tenant_id: tenantId, assessment_id: assessmentId, candidate_id: candidateId };
      const in_doubt = before === undefined ? 0 : before.state === 'sent' ? 1 : before.in_doubt;
      const sent = { ...now, job_candidate_id: jobCandidateId, in_doubt };
      const row = await sendOnce(trx, 'invitations', { key, sent, before });
      if (row !== undefined) rows.push(row);
    }
    return rows;
  });
}

/** Records the outcome of invitations that were sent or taken; decided ones, and those sent anew, stay as they are. */
export async function settleInvitations(
  store: Store,
  rows: readonly InvitationRow[],
  change: Partial<Pick<InvitationRow, 'batch_id' | 'code' | 'in_doubt'>> & Pick<InvitationRow, 'state'>,
): Promise<void> {
  const decided = change.state === 'sent' || change.state === 'taken' ? null : store.now;
  for (const some of batchesOf(rows, AT_ONCE)) {
    const [first] = some;
    if (first === undefined) continue;
    await store.kysely
      .updateTable('invitations')
      .set({ code: null, ...change, decided_at: decided })
      .where('tenant_id', '=', first.tenant_id)
      .where('state', 'in', ['sent', 'taken'])
      .where((eb) =>
        eb.or(some.map(({ assessment_id, candidate_id, attempt }) => eb.and({ assessment_id, candidate_id, attempt }))),
      )
      .execute();
  }
}

/** When the partner last refused a rule's request with this code; null if it never did. */
export async function lastRefusal(
  { kysely }: Store,
  table: 'invitations' | 'sourced_leads' | 'resumes',
  tenantId: string,
  code: string,
): Promise<number | null> {
  const { at } = await kysely
    .selectFrom(table)
    .select(({ fn }) => fn.max('decided_at').as('at'))
    .where(has({ tenant_id: tenantId, state: 'absent', code }))
    .executeTakeFirstOrThrow();
  return at;
}

/** Recorded moves of these applications for one flow, by application. */
export async function readMovesOf(
  { kysely }: Store,
  tenantId: string,
  flow: string,
  jobCandidateIds: readonly string[],
): Promise<Map<string, StageMoveRow>> {
  const own = kysely
    .selectFrom('stage_moves')
    .selectAll()
    .where(has({ tenant_id: tenantId, flow }));
  const rows = await readInBatches(jobCandidateIds, (some) => own.where('job_candidate_id', 'in', some).execute());
  return new Map(rows.map((row) => [row.job_candidate_id, row]));
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
  return inTransaction(store, async (trx) => {
    const who = { assessmentId: flow, candidateId, jobCandidateId };
    if ((await withoutErased(trx, tenantId, [who])).length === 0) return undefined;
    const sent = { ...move, ...(await sentNow(trx, budgetMs)), code: null, decided_at: null };
    return sendOnce(trx, 'stage_moves', { key: keyOf(before ?? move), sent, before });
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
    .where(has({ ...keyOf(row), state: 'sent', attempt: row.attempt }))
    .execute();
}

function keyOf({ tenant_id, flow, job_candidate_id }: MoveKey): MoveKey {
  return { tenant_id, flow, job_candidate_id };
}
