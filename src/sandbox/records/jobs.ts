import type { jobStatuses } from '../../partner/contract/jobs.ts';
import { type Context, effect } from '../context.ts';
import { invalidRequest, notFound } from '../errors.ts';
import { emit } from '../events.ts';
import { customFieldsOfJob } from './custom-fields.ts';
import { defaultPipeline, findPipeline, stagesOf } from './pipelines.ts';

type JobStatus = (typeof jobStatuses)[number];

export interface Job {
  id: number;
  companyId: number;
  pipelineId: number;
  status: JobStatus;
  createdAt: number;
  updatedAt: number;
  /** Everything else, as given at creation. */
  fields: JobFields;
}

interface JobFields {
  title: string;
  city: string;
  state: string;
  country: string;
  description: string;
  workMode: string;
  publishType: string;
  salaryRangeFrom: number | null;
  salaryRangeTo: number | null;
  salaryCurrency: string | null;
  [key: string]: unknown;
}

interface Row extends Omit<Job, 'fields'> {
  body: string;
}

const JOB = `select id, company_id as companyId, pipeline_id as pipelineId, status, created_at as createdAt,
    updated_at as updatedAt, body from jobs`;

function toJob({ body, ...row }: Row): Job {
  return { ...row, fields: JSON.parse(body) as JobFields };
}

/**
 * A job, on the company's first pipeline unless another is named (J1, assumed). The API emits no job.created; the
 * dashboard does (section 6, J16).
 */
export function createJob(ctx: Context, input: Record<string, unknown> & { title: string }): Job {
  const { status, pipelineId, customFields: _values, ...given } = input;
  const { state, company, now } = ctx;
  const id = state.nextId('job', 50_001);
  const fields: JobFields = {
    city: '',
    state: '',
    country: '',
    workMode: 'ONSITE',
    publishType: 'EXTERNAL',
    salaryRangeFrom: null,
    salaryRangeTo: null,
    salaryCurrency: null,
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
    title: input.title,
    description:
      typeof given['description'] === 'string'
        ? given['description']
        : `${input.title}: we are looking for a colleague.`,
  };
  state.run(
    'insert into jobs (id, company_id, pipeline_id, status, created_at, updated_at, body) values (?, ?, ?, ?, ?, ?, ?)',
    id,
    company.id,
    typeof pipelineId === 'number' ? findPipeline(ctx, pipelineId).id : defaultPipeline(ctx).id,
    typeof status === 'string' ? status : 'DRAFT',
    now,
    now,
    JSON.stringify(fields),
  );
  effect(ctx, 'job', id);
  if (ctx.origin === 'dashboard') emit(ctx, 'job.created', { jobId: id, title: input.title });
  return findJob(ctx, id);
}

/** 404 when unknown or another company's. */
export function findJob(ctx: Context, id: number): Job {
  const row = ctx.state.one<Row>(`${JOB} where id = ? and company_id = ?`, id, ctx.company.id);
  if (row === undefined) throw notFound('Job');
  return toJob(row);
}

/** A DELETED job takes nobody in (C7, assumed). */
export function openJob(ctx: Context, id: number): Job {
  const job = findJob(ctx, id);
  if (job.status === 'DELETED') throw notFound('Job');
  return job;
}

/** Edits basic details and the pipeline: job.updated names what really changed, and nothing happens otherwise. */
export function updateJob(
  ctx: Context,
  id: number,
  given: Record<string, unknown>,
  pipelineId: number | undefined,
): Job {
  const job = findJob(ctx, id);
  const before: Record<string, unknown> = { ...job.fields, pipelineId: job.pipelineId };
  const asked = Object.entries({ ...given, pipelineId }).filter(([, value]) => value !== undefined);
  const changes = asked.filter(([field, value]) => JSON.stringify(value) !== JSON.stringify(before[field]));
  if (changes.length === 0) return job;
  const { pipelineId: placed, ...fields } = { ...before, ...Object.fromEntries(changes) };
  refuseSalary(fields);
  ctx.state.run(
    'update jobs set body = ?, pipeline_id = ?, updated_at = ? where id = ?',
    JSON.stringify(fields),
    Number(placed),
    ctx.now,
    id,
  );
  effect(ctx, 'job-updated', id);
  emit(ctx, 'job.updated', { jobId: id, updatedFields: changes.map(([field]) => field) });
  return findJob(ctx, id);
}

/** Section 2.2, for the job as it would be: the three together, and from less than to. */
function refuseSalary(fields: Record<string, unknown>): void {
  const salary = ['salaryRangeFrom', 'salaryRangeTo', 'salaryCurrency'].map((field) => fields[field] ?? undefined);
  const given = salary.filter((value) => value !== undefined).length;
  if (given === 0 || (given === 3 && Number(salary[0]) < Number(salary[1]))) return;
  throw invalidRequest('salaryRangeFrom, a greater salaryRangeTo and salaryCurrency must be given together', {
    salaryRangeFrom: 'does not fit the other two',
  });
}

export function setJobStatus(
  ctx: Context,
  id: number,
  status: JobStatus,
  closing: { status?: string | undefined; reason?: string | undefined } = {},
): Job {
  const job = findJob(ctx, id);
  ctx.state.run('update jobs set status = ?, updated_at = ? where id = ?', status, ctx.now, id);
  effect(ctx, 'job-updated', id, { status });
  emit(ctx, 'job.status_changed', {
    jobId: id,
    status,
    previousStatus: job.status,
    closingStatus: closing.status ?? null,
    closingReason: closing.reason ?? null,
  });
  return findJob(ctx, id);
}

interface JobQuery {
  pageNumber: number;
  perPage: number;
  [filter: string]: unknown;
}

/** Text filters match a part, whatever the case (J2, assumed). */
const PARTIAL = "instr(lower(body ->> '$'), lower(?)) > 0";
const EXACT = "body ->> '$' = ?";
const FILTERS: Record<string, string> = {
  status: 'status = ?',
  jobTitle: PARTIAL.replace('$', 'title'),
  city: PARTIAL.replace('$', 'city'),
  state: PARTIAL.replace('$', 'state'),
  country: PARTIAL.replace('$', 'country'),
  ...Object.fromEntries(
    ['teamId', 'careerLevel', 'contractType', 'degreeLevel', 'jobRole', 'publishType', 'workMode'].map((field) => [
      field,
      EXACT.replace('$', field),
    ]),
  ),
};

/** Newest first (J3); a DELETED job is shown only to who asks for that status. */
export function listJobs(ctx: Context, query: JobQuery): { jobs: Job[]; total: number } {
  const used = Object.entries(FILTERS).filter(([name]) => typeof query[name] === 'string');
  const shown = query['status'] === undefined ? ["status <> 'DELETED'"] : [];
  const where = ['company_id = ?', ...shown, ...used.map(([, sql]) => sql)].join(' and ');
  const values = [ctx.company.id, ...used.map(([name]) => query[name] as string)];
  const rows = ctx.state.all<Row>(
    `${JOB} where ${where} order by id desc limit ? offset ?`,
    ...values,
    query.perPage,
    (query.pageNumber - 1) * query.perPage,
  );
  return { jobs: rows.map(toJob), total: ctx.state.count('jobs', where, ...values) };
}

/** The list item of section 2.2. */
export function renderJob(ctx: Context, job: Job): Record<string, unknown> {
  const { fields } = job;
  const counts = new Map(
    ctx.state
      .all<{ stageId: number; n: number }>(
        'select stage_id as stageId, count(*) as n from job_candidates where job_id = ? group by stage_id',
        job.id,
      )
      .map((row) => [row.stageId, row.n]),
  );
  const rejected = ctx.state.count('job_candidates', 'job_id = ? and rejected = 1', job.id);
  return {
    id: job.id,
    title: fields.title,
    description: fields.description,
    city: fields.city,
    state: fields.state,
    country: fields.country,
    pipelineId: job.pipelineId,
    status: job.status,
    workMode: fields.workMode,
    pipelineStage: stagesOf(ctx, job.pipelineId).map((stage) => ({
      name: stage.name,
      type: stage.type,
      totalCandidate: counts.get(stage.id) ?? 0,
    })),
    createdAt: job.createdAt,
    runningRevenue: 0,
    rejectedCandidateCount: rejected,
    salaryRangeFrom: fields.salaryRangeFrom,
    salaryRangeTo: fields.salaryRangeTo,
    salaryCurrency: fields.salaryCurrency,
    customFields: customFieldsOfJob(ctx, job.id),
  };
}
