import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { ApiError, notFound } from '../../errors.ts';
import { emit } from '../../events.ts';
import { stableUuid } from '../../random.ts';
import { schedule } from '../platform/tasks.ts';
import type { Assessment } from './assessments.ts';
import { findAssessment } from './assessments.ts';
import { type Invitee, invite, personOf, refuseInactive } from './invites.ts';

/** How long a batch of invitations takes. */
const BATCH_MS = 300;

export interface InviteBatch {
  id: string;
  assessmentId: string;
  status: string;
  /** JSON texts. */
  entries: string;
  results: string;
}

/** A4, assumed: what a batch says of one entry. */
interface Outcome {
  index: number;
  status: 'invited' | 'skipped' | 'failed';
  jobCandidateId: number | null;
  emailAddress: string | null;
  externalRef: string | null;
  reason: string | null;
}

const BATCH = 'select id, assessment_id as assessmentId, status, entries, results from invite_batches';

/** Accepts a batch; its entries are looked at in the background, one by one. */
export function startBatch(ctx: Context, assessment: Assessment, entries: readonly Invitee[]): InviteBatch {
  refuseInactive(assessment);
  const { state, company, now } = ctx;
  const id = stableUuid(state.seed, 'invite-batch', state.nextId('invite-batch'));
  state.run(
    `insert into invite_batches (id, company_id, assessment_id, status, entries, created_at)
      values (?, ?, ?, 'processing', ?, ?)`,
    id,
    company.id,
    assessment.id,
    JSON.stringify(entries),
    now,
  );
  effect(ctx, 'invite-batch', id);
  schedule(ctx, 'invite-batch', BATCH_MS, { batchId: id });
  return findBatch(ctx, assessment.id, id);
}

/** 404 when unknown or of another assessment. */
export function findBatch(ctx: Context, assessmentId: string, id: string): InviteBatch {
  const found = ctx.state.one<InviteBatch>(`${BATCH} where id = ? and assessment_id = ?`, id, assessmentId);
  if (found === undefined) throw notFound('Invite batch');
  return found;
}

/** Section 4.6: who was invited already, and who stands twice in the request, is skipped; the others go on. */
export function finishBatch(ctx: Context, { batchId }: { batchId: string }): void {
  const batch = ctx.state.one<InviteBatch>(`${BATCH} where id = ?`, batchId) as InviteBatch;
  const assessment = findAssessment(ctx, batch.assessmentId);
  const seen = new Set<string>();
  const results = (JSON.parse(batch.entries) as Invitee[]).map((entry, index) => ({
    index,
    ...inviteEntry(ctx, assessment, entry, seen),
    externalRef: entry.externalRef ?? null,
  }));
  ctx.state.run(
    "update invite_batches set status = 'completed', results = ? where id = ?",
    JSON.stringify(results),
    batchId,
  );
  const { status: _completed, ...counts } = summaryOf(results, results.length);
  emit(ctx, 'assessment.bulk_invite.completed', { batchId, assessmentId: assessment.id, ...counts });
}

function inviteEntry(
  ctx: Context,
  assessment: Assessment,
  entry: Invitee,
  seen: Set<string>,
): Omit<Outcome, 'index' | 'externalRef'> {
  const asked = { jobCandidateId: entry.jobCandidateId ?? null, emailAddress: entry.emailAddress ?? null };
  try {
    const { email } = personOf(ctx, entry);
    if (seen.has(email)) return { ...asked, emailAddress: email, status: 'skipped', reason: 'DUPLICATE_IN_REQUEST' };
    seen.add(email);
    invite(ctx, assessment, entry);
    return { ...asked, emailAddress: email, status: 'invited', reason: null };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return { ...asked, status: error.code === 'DUPLICATE_INVITE' ? 'skipped' : 'failed', reason: error.code };
  }
}

function summaryOf(results: readonly Outcome[], totalCount: number) {
  const count = (status: Outcome['status']): number => results.filter((one) => one.status === status).length;
  return {
    status: results.length === totalCount ? 'completed' : 'processing',
    totalCount,
    successCount: count('invited'),
    failedCount: count('failed'),
    skippedCount: count('skipped'),
  };
}

/** Status and outcomes in request order; none while it is processing. */
export function renderBatch(batch: InviteBatch): Record<string, unknown> {
  const results = JSON.parse(batch.results) as Outcome[];
  const { length } = JSON.parse(batch.entries) as Invitee[];
  return { batchId: batch.id, assessmentId: batch.assessmentId, ...summaryOf(results, length), results };
}
