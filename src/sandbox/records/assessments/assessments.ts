import { defaultBuckets } from '../../../partner/contract/assessment.ts';
import type { Context } from '../../context.ts';
import { effect } from '../../context.ts';
import { notFound, refuse } from '../../errors.ts';
import { stableUuid } from '../../random.ts';
import type { SandboxState } from '../../state.ts';
import { findJob } from '../jobs/jobs.ts';
import { listUsers } from '../workspace/users.ts';
import { questionsOf, renderQuestion } from './assessment-questions.ts';

export interface Bucket {
  name: string;
  description?: string | undefined;
  status: string;
}

/** What is asked of the candidate, as section 2.6 names it. */
export interface AssessmentFields {
  testName: string;
  assessmentType: string;
  hiringForRole: string;
  purposeOfInterview: string;
  duration: number;
  aiLanguage: string;
  skills: string[];
  buckets: Bucket[];
  resumeAllowed: boolean;
  maxResumeCount: number | null;
  isEmailVerificationRequired: boolean;
  shouldEvaluateCEFR: boolean;
}

export interface Assessment {
  id: string;
  companyId: number;
  jobId: number | null;
  status: string;
  createdAt: number;
  updatedAt: number;
  fields: AssessmentFields;
}

interface Row extends Omit<Assessment, 'fields'> {
  body: string;
}

const ASSESSMENT = `select id, company_id as companyId, job_id as jobId, status, body, created_at as createdAt,
    updated_at as updatedAt from assessments`;

function toAssessment({ body, ...row }: Row): Assessment {
  return { ...row, fields: JSON.parse(body) as AssessmentFields };
}

/** Where an invited person takes it: a page of the sandbox. */
export function assessmentUrl(state: SandboxState, id: string): string {
  return `${state.publicUrl}/assessment/${id}`;
}

/** The defaults pass, but the last of them (A14, assumed); an empty list takes them too. */
export function bucketsOf(given: readonly Bucket[] | undefined): Bucket[] {
  if (given !== undefined && given.length > 0) return given.map((bucket) => ({ ...bucket }));
  return defaultBuckets.map((name, index) => ({
    name,
    description: `${name} for the role`,
    status: index === defaultBuckets.length - 1 ? 'fail' : 'pass',
  }));
}

/** A new assessment without questions. 404 for an unknown or DELETED job (C7, assumed). */
export function createAssessment(
  ctx: Context,
  input: { fields: AssessmentFields; jobId?: number | undefined; status?: string | undefined },
): Assessment {
  const { state, company, now } = ctx;
  if (input.jobId !== undefined && findJob(ctx, input.jobId).status === 'DELETED') throw notFound('Job');
  const seq = state.nextId('assessment');
  const id = stableUuid(state.seed, 'assessment', seq);
  state.run(
    `insert into assessments (id, company_id, seq, job_id, status, body, created_at, updated_at)
      values (?, ?, ?, ?, ?, ?, ?, ?)`,
    id,
    company.id,
    seq,
    input.jobId ?? null,
    input.status ?? 'ACTIVE',
    JSON.stringify(input.fields),
    now,
    now,
  );
  effect(ctx, 'assessment', id);
  return findAssessment(ctx, id);
}

/** For reading: unknown and another company's are the same 404 (A10, assumed). */
export function findAssessment(ctx: Context, id: string): Assessment {
  const found = assessmentById(ctx, id);
  if (found?.companyId !== ctx.company.id) throw notFound('Assessment');
  return found;
}

/** For changing: another company's is 403 ACCESS_DENIED (A10, assumed). */
export function findAssessmentToChange(ctx: Context, id: string): Assessment {
  const found = assessmentById(ctx, id);
  if (found === undefined) throw notFound('Assessment');
  if (found.companyId !== ctx.company.id) throw refuse('ACCESS_DENIED', 'Not allowed to change this assessment');
  return found;
}

function assessmentById(ctx: Context, id: string): Assessment | undefined {
  const row = ctx.state.one<Row>(`${ASSESSMENT} where id = ?`, id);
  return row === undefined ? undefined : toAssessment(row);
}

/** Newest first. */
export function listAssessments(
  ctx: Context,
  page: { number: number; size: number },
): { assessments: Assessment[]; total: number } {
  const total = ctx.state.count('assessments', 'company_id = ?', ctx.company.id);
  const rows = ctx.state.all<Row>(
    `${ASSESSMENT} where company_id = ? order by seq desc limit ? offset ?`,
    ctx.company.id,
    page.size,
    (page.number - 1) * page.size,
  );
  return { assessments: rows.map(toAssessment), total };
}

/** Writes the given fields, leaves the others. */
export function updateAssessment(
  ctx: Context,
  id: string,
  changes: { fields?: Partial<AssessmentFields>; status?: string },
): Assessment {
  const before = findAssessmentToChange(ctx, id);
  ctx.state.run(
    'update assessments set body = ?, status = ?, updated_at = ? where id = ?',
    JSON.stringify({ ...before.fields, ...changes.fields }),
    changes.status ?? before.status,
    ctx.now,
    id,
  );
  effect(ctx, 'assessment-updated', id);
  return findAssessment(ctx, id);
}

/**
 * Section 2.6 without its questions, as the list shows it. jobId is text, companyId a number (A16, A19); posted by the
 * key's user (POSTED); assumed.
 */
export function renderAssessment(ctx: Context, assessment: Assessment): Record<string, unknown> {
  const { id, companyId, jobId, status, createdAt, updatedAt, fields } = assessment;
  const [owner] = listUsers(ctx);
  const count = (table: 'assessment_questions' | 'submissions'): number =>
    ctx.state.count(table, 'assessment_id = ?', id);
  return {
    assessmentId: id,
    companyId,
    jobId: jobId === null ? '' : String(jobId),
    status,
    ...fields,
    questionCount: count('assessment_questions'),
    assessmentUrl: assessmentUrl(ctx.state, id),
    createdAt,
    lastUpdatedOn: updatedAt,
    createdBy: owner?.id ?? null,
    postedBy: {
      firstName: owner?.firstName ?? null,
      lastName: owner?.lastName ?? null,
      email: owner?.email ?? null,
      clientId: String(companyId),
    },
    submissionCount: count('submissions'),
  };
}

/** With its questions. */
export function renderAssessmentInFull(ctx: Context, assessment: Assessment): Record<string, unknown> {
  return { ...renderAssessment(ctx, assessment), questions: questionsOf(ctx, assessment.id).map(renderQuestion) };
}
