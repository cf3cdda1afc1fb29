import { ApiError, type Context, effect, invalidRequest, notFound, refuse } from '../context.ts';
import { stableUuid } from '../random.ts';
import type { SandboxState } from '../state.ts';
import { type Assessment, findAssessment } from './assessments.ts';
import { emailKey, findCandidate } from './candidates.ts';
import { emit } from './deliveries.ts';
import { findJobCandidate } from './job-candidates.ts';
import { schedule } from './tasks.ts';

export interface Invite {
  id: number;
  assessmentId: string;
  email: string;
  firstName: string | null;
  lastName: string | null;
  jobCandidateId: number | null;
  externalRef: string | null;
  invitedAt: number;
}

/** Whom to invite: a job candidate, or a person by name and e-mail. */
interface Invitee {
  jobCandidateId?: number | undefined;
  firstName?: string | undefined;
  lastName?: string | undefined;
  emailAddress?: string | undefined;
  externalRef?: string | null | undefined;
}

export interface Person {
  email: string;
  firstName: string | null;
  lastName: string | null;
  jobCandidateId: number | null;
}

const INVITE = `select id, assessment_id as assessmentId, email, first_name as firstName, last_name as lastName,
  job_candidate_id as jobCandidateId, external_ref as externalRef, invited_at as invitedAt from assessment_invites`;

/** The invited person; jobCandidateId wins over names (A8, assumed). 404 for an unknown job candidate. */
export function personOf(ctx: Context, invitee: Invitee): Person {
  if (invitee.jobCandidateId !== undefined) {
    const { candidateId } = findJobCandidate(ctx, invitee.jobCandidateId);
    const { email, firstName, lastName } = findCandidate(ctx, candidateId);
    return { email: emailKey(email), firstName, lastName, jobCandidateId: invitee.jobCandidateId };
  }
  return {
    email: emailKey(invitee.emailAddress ?? ''),
    firstName: invitee.firstName ?? null,
    lastName: invitee.lastName ?? null,
    jobCandidateId: null,
  };
}

/** Invites one person. The same e-mail is the same person, invited by id or by name (A7, assumed). */
export function invite(ctx: Context, assessment: Assessment, invitee: Invitee): Invite {
  refuseInactive(assessment);
  const person = personOf(ctx, invitee);
  if (inviteOf(ctx, assessment.id, person.email) !== undefined)
    throw refuse('DUPLICATE_INVITE', 'The candidate has been invited already');
  return writeInvite(ctx, assessment.id, person, invitee.externalRef ?? null);
}

/** A6, assumed: nobody is invited to an INACTIVE assessment. */
export function refuseInactive(assessment: Assessment): void {
  if (assessment.status !== 'ACTIVE')
    throw invalidRequest('The assessment is not active', { assessmentId: `is ${assessment.status}` });
}

export function inviteOf(ctx: Context, assessmentId: string, email: string): Invite | undefined {
  return ctx.state.one<Invite>(`${INVITE} where assessment_id = ? and email = ?`, assessmentId, emailKey(email));
}

/** 404 when unknown or another company's. */
export function inviteById(ctx: Context, id: number): Invite {
  const found = ctx.state.one<Invite>(`${INVITE} where id = ? and company_id = ?`, id, ctx.company.id);
  if (found === undefined) throw notFound('Invitation');
  return found;
}

/** The link goes out by e-mail and is never returned (section 4.6). */
export function writeInvite(ctx: Context, assessmentId: string, person: Person, externalRef: string | null): Invite {
  const id = ctx.state.nextId('assessment-invite');
  ctx.state.run(
    `insert into assessment_invites (id, company_id, assessment_id, email, first_name, last_name, job_candidate_id,
      external_ref, invited_at)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    ctx.company.id,
    assessmentId,
    person.email,
    person.firstName,
    person.lastName,
    person.jobCandidateId,
    externalRef,
    ctx.now,
  );
  effect(ctx, 'invite', id, { assessmentId });
  return ctx.state.one<Invite>(`${INVITE} where id = ?`, id) as Invite;
}

/** One interview taken on an invitation; its states are not shown (SUBMISSION, assumed). */
export interface Submission {
  id: string;
  assessmentId: string;
  inviteId: number;
  status: 'IN_PROGRESS' | 'PAUSED' | 'COMPLETED' | 'TIMED_OUT';
  resumesUsed: number;
  score: number | null;
  startedAt: number;
  endedAt: number | null;
  scoredAt: number | null;
}

const SUBMISSION = `select id, assessment_id as assessmentId, invite_id as inviteId, status,
  resumes_used as resumesUsed, score,
  started_at as startedAt, ended_at as endedAt, scored_at as scoredAt from submissions`;

/** 404 when unknown, another company's, or of another assessment than the one given (A15, assumed). */
export function findSubmission(ctx: Context, id: string, assessmentId?: string): Submission {
  const found = ctx.state.one<Submission>(`${SUBMISSION} where id = ? and company_id = ?`, id, ctx.company.id);
  if (found === undefined || (assessmentId !== undefined && found.assessmentId !== assessmentId))
    throw notFound('Submission');
  return found;
}

export function submissionOf(ctx: Context, inviteId: number): Submission | undefined {
  return ctx.state.one<Submission>(`${SUBMISSION} where invite_id = ?`, inviteId);
}

export function inviteOfSubmission(ctx: Context, submission: Submission): Invite {
  return ctx.state.one<Invite>(`${INVITE} where id = ?`, submission.inviteId) as Invite;
}

/** The owner of a submission, before a company is known: the result page is opened without a key. */
export function companyOfSubmission(state: SandboxState, id: string): number | undefined {
  return state.one<{ id: number }>('select company_id as id from submissions where id = ?', id)?.id;
}

/** Those who submitted or timed out, in the order they began. */
export function listSubmitted(
  ctx: Context,
  assessmentId: string,
  page: { number: number; size: number },
): { submissions: Submission[]; total: number } {
  const where = "assessment_id = ? and status in ('COMPLETED', 'TIMED_OUT')";
  const total = ctx.state.count('submissions', where, assessmentId);
  const submissions = ctx.state.all<Submission>(
    `${SUBMISSION} where ${where} order by seq limit ? offset ?`,
    assessmentId,
    page.size,
    (page.number - 1) * page.size,
  );
  return { submissions, total };
}

/** Who takes the interview: the name is that of the invitation (A23, assumed). */
export function toldOf(invite: Invite, submission: Submission): Record<string, unknown> {
  return {
    submissionId: submission.id,
    interviewStatus: submission.status,
    firstName: invite.firstName,
    lastName: invite.lastName,
    email: invite.email,
    jobCandidateId: invite.jobCandidateId,
  };
}

interface InterviewResult {
  score: number | null;
  bucket: string | null;
  bucketStatus: string | null;
  cefrLevel: string | null;
}

/** The score falls into the buckets from the best to the worst, in equal parts; null until scored. */
export function resultOf({ fields }: Assessment, { id, score }: Submission): InterviewResult {
  if (score === null) return { score: null, bucket: null, bucketStatus: null, cefrLevel: null };
  const { buckets } = fields;
  const bucket = buckets[Math.min(buckets.length - 1, Math.floor(((100 - score) / 100) * buckets.length))];
  const level = ['A2', 'B1', 'B2', 'C1'][Number.parseInt(id.slice(0, 2), 16) % 4];
  return {
    score,
    bucket: bucket?.name ?? null,
    bucketStatus: bucket?.status ?? null,
    cefrLevel: fields.shouldEvaluateCEFR ? (level ?? null) : null,
  };
}

/** An entry of the assessment's candidates. */
export function renderSubmission(ctx: Context, submission: Submission): Record<string, unknown> {
  const { startedAt, endedAt, scoredAt } = submission;
  const invite = inviteOfSubmission(ctx, submission);
  return {
    ...toldOf(invite, submission),
    externalRef: invite.externalRef,
    ...resultOf(findAssessment(ctx, submission.assessmentId), submission),
    startedAt,
    endedAt,
    scoredAt,
  };
}

/** How long a batch of invitations takes. */
const BATCH_MS = 300;

interface InviteBatch {
  id: string;
  assessmentId: string;
  status: string;
  /** JSON texts. */
  entries: string;
  results: string;
}

/** A4, assumed: a batch's result for one entry. */
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

/** Section 4.6: people invited already, and duplicates in the request, are skipped; the others continue. */
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
    asked.emailAddress ??= email;
    if (seen.has(email)) return { ...asked, status: 'skipped', reason: 'DUPLICATE_IN_REQUEST' };
    seen.add(email);
    invite(ctx, assessment, entry);
    return { ...asked, status: 'invited', reason: null };
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
