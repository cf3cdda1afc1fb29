import { type Context, effect, notFound } from '../context.ts';
import { customFieldsOfJobCandidate } from './custom-fields.ts';
import { emit } from './deliveries.ts';
import { type Job, type Stage, stageById, stageOfType } from './pipelines.ts';

/** A candidate's application to a job. */
export interface JobCandidate {
  id: number;
  jobId: number;
  candidateId: number;
  stageId: number;
  status: string;
  rejected: number;
  addedAt: number;
  movedAt: number;
  /** Only for those who came through the hosted page. */
  appliedAt: number | null;
  score: number | null;
  /** evaluationStatus and what PATCH may set, as JSON text. */
  body: string;
  /** The hosted page's form as JSON text. */
  application: string | null;
}

const JOB_CANDIDATE = `select id, job_id as jobId, candidate_id as candidateId, stage_id as stageId, status,
  rejected, added_at as addedAt,
  moved_at as movedAt, applied_at as appliedAt, score, body, application from job_candidates`;

/** Links a candidate to a job in the stage of a type; emits no event, see `tellAdded`. */
export function addToJob(
  ctx: Context,
  candidateId: number,
  job: Job,
  stageType: string,
  application?: Record<string, unknown>,
): JobCandidate {
  const { state, company, now } = ctx;
  const stage = stageOfType(ctx, job.pipelineId, stageType) as Stage;
  const added: JobCandidate = {
    id: state.nextId('job-candidate', 600_001),
    jobId: job.id,
    candidateId,
    stageId: stage.id,
    status: 'IN_PROGRESS',
    rejected: 0,
    addedAt: now,
    movedAt: now,
    appliedAt: application === undefined ? null : now,
    score: null,
    body: '{"evaluationStatus":"PENDING"}',
    application: application === undefined ? null : JSON.stringify(application),
  };
  state.run(
    `insert into job_candidates (id, company_id, job_id, candidate_id, stage_id, added_at, moved_at, applied_at, body,
      application)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    added.id,
    company.id,
    job.id,
    candidateId,
    stage.id,
    now,
    now,
    added.appliedAt,
    added.body,
    added.application,
  );
  effect(ctx, 'job-candidate', added.id, { jobId: job.id, candidateId });
  return added;
}

/** candidate.added_to_job for one or many on one job. */
export function tellAdded(ctx: Context, added: readonly JobCandidate[]): void {
  for (const [jobId, group] of byJob(added)) {
    const stageId = group[0]?.stageId;
    emit(ctx, 'candidate.added_to_job', { jobId, stageId, ...idsOf(group), count: group.length });
  }
}

/** 404 when unknown or another company's. */
export function findJobCandidate(ctx: Context, id: number): JobCandidate {
  const found = jobCandidateById(ctx, id);
  if (found === undefined) throw notFound('Job candidate');
  return found;
}

export function jobCandidateById(ctx: Context, id: number): JobCandidate | undefined {
  return ctx.state.one<JobCandidate>(`${JOB_CANDIDATE} where id = ? and company_id = ?`, id, ctx.company.id);
}

export function jobCandidateOf(ctx: Context, jobId: number, candidateId: number): JobCandidate | undefined {
  return ctx.state.one<JobCandidate>(`${JOB_CANDIDATE} where job_id = ? and candidate_id = ?`, jobId, candidateId);
}

export function jobCandidateIdsOf(ctx: Context, candidateId: number): number[] {
  return ctx.state
    .all<{ id: number }>(
      'select id from job_candidates where candidate_id = ? and company_id = ? order by id',
      candidateId,
      ctx.company.id,
    )
    .map((row) => row.id);
}

/** Ids of the people in a stage, in order of arrival. */
export function jobCandidateIdsIn(ctx: Context, stageId: number): number[] {
  return ctx.state
    .all<{ id: number }>(
      'select id from job_candidates where stage_id = ? and company_id = ? order by id',
      stageId,
      ctx.company.id,
    )
    .map((row) => row.id);
}

/**
 * Puts people into a stage: one candidate.stage_changed for each job and stage they leave, and candidate.hired besides
 * when it is a HIRED stage (E4, assumed). People already there stay, without an event (K4, assumed).
 */
export function moveToStage(ctx: Context, ids: readonly number[], stage: Stage): JobCandidate[] {
  const moving = ids.map((id) => findJobCandidate(ctx, id)).filter((jobCandidate) => jobCandidate.stageId !== stage.id);
  for (const { id, stageId } of moving) {
    ctx.state.run(
      "update job_candidates set stage_id = ?, status = 'IN_PROGRESS', moved_at = ? where id = ?",
      stage.id,
      ctx.now,
      id,
    );
    effect(ctx, 'stage-move', id, { from: stageId, to: stage.id, type: stage.type });
  }
  for (const [jobId, ofJob] of byJob(moving)) {
    for (const [currentStageId, group] of Map.groupBy(ofJob, (jobCandidate) => jobCandidate.stageId)) {
      emit(ctx, 'candidate.stage_changed', { jobId, currentStageId, nextStageId: stage.id, ...idsOf(group) });
    }
    if (stage.type === 'HIRED') emit(ctx, 'candidate.hired', { jobId, ...idsOf(ofJob) });
  }
  return ids.map((id) => findJobCandidate(ctx, id));
}

/** Where `stageType` of a person's own job is; undefined when its pipeline has none. */
export function stageForJobCandidate(ctx: Context, jobCandidate: JobCandidate, stageType: string): Stage | undefined {
  const pipelineId = ctx.state.one<{ id: number }>(
    'select pipeline_id as id from jobs where id = ?',
    jobCandidate.jobId,
  )?.id;
  return pipelineId === undefined ? undefined : stageOfType(ctx, pipelineId, stageType);
}

/**
 * Marks people rejected; they stay in their stage. One candidate.rejected a person (it carries both arrays and single
 * ids), none for people rejected before.
 */
export function rejectJobCandidates(ctx: Context, ids: readonly number[], reason: string | null): void {
  const standing = ids.map((id) => findJobCandidate(ctx, id)).filter((one) => one.rejected === 0);
  for (const jobCandidate of standing) {
    const body = { ...(JSON.parse(jobCandidate.body) as object), evaluationStatus: 'REJECTED' };
    ctx.state.run(
      'update job_candidates set rejected = 1, body = ? where id = ?',
      JSON.stringify(body),
      jobCandidate.id,
    );
    effect(ctx, 'rejection', jobCandidate.id);
    emit(ctx, 'candidate.rejected', {
      jobId: jobCandidate.jobId,
      ...idsOf([jobCandidate]),
      jobCandidateId: jobCandidate.id,
      candidateId: jobCandidate.candidateId,
      reason,
    });
  }
}

/** Removes people from their jobs, profiles stay: one candidate.removed_from_job a job. */
export function removeJobCandidates(ctx: Context, ids: readonly number[]): void {
  const removed = ids.map((id) => findJobCandidate(ctx, id));
  for (const { id } of removed) {
    ctx.state.run('delete from job_candidates where id = ?', id);
    effect(ctx, 'job-candidate-removed', id);
  }
  for (const [jobId, group] of byJob(removed)) emit(ctx, 'candidate.removed_from_job', { jobId, ...idsOf(group) });
}

/** Writes application fields. REJECTED here rejects (K10, E5, assumed). */
export function updateJobCandidate(ctx: Context, id: number, fields: Record<string, unknown>): JobCandidate {
  const before = findJobCandidate(ctx, id);
  const rejected =
    fields['evaluationStatus'] === undefined ? before.rejected : Number(fields['evaluationStatus'] === 'REJECTED');
  const body = JSON.stringify({ ...(JSON.parse(before.body) as object), ...fields });
  // Rejecting is left to rejectJobCandidates below, which knows who was rejected before.
  const kept = Math.min(rejected, before.rejected);
  ctx.state.run('update job_candidates set body = ?, rejected = ? where id = ?', body, kept, id);
  effect(ctx, 'job-candidate-updated', id);
  emit(ctx, 'candidate.updated', {
    candidateId: before.candidateId,
    updatedFields: Object.keys(fields),
    scope: 'application',
    jobCandidateId: id,
    jobId: before.jobId,
  });
  if (rejected === 1 && before.rejected === 0) rejectJobCandidates(ctx, [id], null);
  return findJobCandidate(ctx, id);
}

/** The record of section 2.4 as JSON text: it has no stage. A profile given goes in as the text it is stored in. */
export function renderJobCandidate(ctx: Context, jobCandidate: JobCandidate, profile?: string): string {
  const {
    evaluationStatus = 'PENDING',
    criteriaMatches = null,
    aiSummary = null,
    recommendToRecruitingFirm = null,
    ...application
  } = JSON.parse(jobCandidate.body) as Record<string, unknown>;
  const own = {
    id: jobCandidate.id,
    jobId: jobCandidate.jobId,
    candidateId: jobCandidate.candidateId,
    profileMatchScore: jobCandidate.score,
    evaluationStatus,
    criteriaMatches,
    recommendToRecruitingFirm,
    aiSummary,
    ...application,
  };
  const values = customFieldsOfJobCandidate(ctx, jobCandidate);
  const custom = values === undefined ? '' : `,"customFields":${JSON.stringify(values)}`;
  const details = profile === undefined ? '' : `,"candidate_details":${profile}`;
  return `${JSON.stringify(own).slice(0, -1)}${details}${custom}}`;
}

/** Name of the stage someone is in, for the dashboard only: the API's record does not tell. */
export function stageNow(ctx: Context, jobCandidate: JobCandidate): Stage | undefined {
  return stageById(ctx, jobCandidate.stageId);
}

function byJob(list: readonly JobCandidate[]): Map<number, JobCandidate[]> {
  return Map.groupBy(list, (jobCandidate) => jobCandidate.jobId);
}

function idsOf(list: readonly JobCandidate[]): { jobCandidateIds: number[]; candidateIds: number[] } {
  return { jobCandidateIds: list.map((one) => one.id), candidateIds: list.map((one) => one.candidateId) };
}

export interface JobCandidateQuery {
  pageNumber: number;
  perPage: number;
  sortBy?: string | undefined;
  sortOrder?: string | undefined;
  jobId?: number | undefined;
  stageId?: number | undefined;
  stageType?: string | undefined;
  minScore?: number | undefined;
  maxScore?: number | undefined;
  excludeRejected?: boolean | undefined;
  startDate?: string | undefined;
  endDate?: string | undefined;
}

/**
 * Each filter is one condition with one value. Membership by type follows the stage a person is in, in any pipeline.
 * The date range is that of being added to the job; a date without a time counts whole (K1, assumed).
 */
const FILTERS: Record<string, { sql: string; value?: (given: never) => string | number }> = {
  jobId: { sql: 'job_id = ?' },
  stageId: { sql: 'stage_id = ?' },
  stageType: {
    sql: 'stage_id in (select s.id from stages s where s.company_id = job_candidates.company_id and s.type = ?)',
  },
  minScore: { sql: 'score >= ?' },
  maxScore: { sql: 'score <= ?' },
  excludeRejected: { sql: 'rejected < ?', value: (excluded: boolean) => (excluded ? 1 : 2) },
  startDate: { sql: 'added_at >= ?', value: Date.parse },
  endDate: {
    sql: 'added_at <= ?',
    value: (end: string) => Date.parse(end.length === 10 ? `${end}T23:59:59.999Z` : end),
  },
};

/** One page, oldest first unless sorted otherwise. */
export function jobCandidatePage(ctx: Context, query: JobCandidateQuery): { rows: JobCandidate[]; total: number } {
  const used = Object.entries(FILTERS).flatMap(([name, { sql, value }]) => {
    const given = query[name as keyof JobCandidateQuery];
    return given === undefined ? [] : [{ sql, value: value === undefined ? (given as string) : value(given as never) }];
  });
  const where = ['company_id = ?', ...used.map(({ sql }) => sql)].join(' and ');
  const values = [ctx.company.id, ...used.map(({ value }) => value)];
  const direction = query.sortOrder === 'desc' ? 'desc' : 'asc';
  const order = query.sortBy === 'profileMatchScore' ? `score ${direction}, id` : `id ${direction}`;
  const rows = ctx.state.all<JobCandidate>(
    // Sorts ids, not records: a late page of a stage of 50,000 costs a tenth.
    `${JOB_CANDIDATE} where id in (select id from job_candidates where ${where} order by ${order} limit ? offset ?)
     order by ${order}`,
    ...values,
    query.perPage,
    (query.pageNumber - 1) * query.perPage,
  );
  return { rows, total: ctx.state.count('job_candidates', where, ...values) };
}

interface Moving {
  id: number;
  candidateId: number;
  stageId: number;
}

/**
 * Moves the people of a job to another pipeline: into the stage of the same type, or SOURCED if it has none. This hires
 * nobody, so there is no candidate.hired.
 */
export function transferJob(ctx: Context, jobId: number, pipelineId: number): void {
  const people = ctx.state.all<Moving>(
    `select id, candidate_id as candidateId, stage_id as stageId from job_candidates
     where job_id = ? and company_id = ? order by id`,
    jobId,
    ctx.company.id,
  );
  for (const [stageId, group] of Map.groupBy(people, (one) => one.stageId)) {
    const type = stageById(ctx, stageId)?.type ?? 'SOURCED';
    const next = (stageOfType(ctx, pipelineId, type) ?? stageOfType(ctx, pipelineId, 'SOURCED')) as Stage;
    for (const { id } of group) {
      ctx.state.run('update job_candidates set stage_id = ?, moved_at = ? where id = ?', next.id, ctx.now, id);
      effect(ctx, 'stage-move', id, { from: stageId, to: next.id, type: next.type });
    }
    emit(ctx, 'candidate.stage_changed', {
      jobId,
      currentStageId: stageId,
      nextStageId: next.id,
      jobCandidateIds: group.map((one) => one.id),
      candidateIds: group.map((one) => one.candidateId),
    });
  }
}
