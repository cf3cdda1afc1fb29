import type { SQLInputValue } from 'node:sqlite';
import { DateTime } from 'luxon';
import { z } from 'zod';
import { eventNames } from '../../partner/contract/events.ts';
import { allEndpoints } from '../../partner/contract/index.ts';
import { type Context, iso, notFound } from '../context.ts';
import { EVENT_FAULTS, REQUEST_FAULTS } from '../faults.ts';
import { signingUrl } from '../file-urls.ts';
import { contextOf } from '../prepare.ts';
import { QUIRKS } from '../quirks.ts';
import { renderApplication } from '../records/applications.ts';
import { assessmentUrl, questionsOf, renderQuestion } from '../records/assessments.ts';
import { findSchedule, freeSlots, type Schedule } from '../records/booking-schedules.ts';
import { searchPeople } from '../records/candidate-search.ts';
import { findCandidate } from '../records/candidates.ts';
import { companyById, listCompanies } from '../records/companies.ts';
import { listCustomFields, ownValues } from '../records/custom-fields.ts';
import { payloadOf } from '../records/deliveries.ts';
import { findEnrolment, renderEnrolmentInFull } from '../records/enrolments.ts';
import { inviteById, renderSubmission, submissionOf } from '../records/invites.ts';
import { findJobCandidate, renderJobCandidate } from '../records/job-candidates.ts';
import { countLedger, readLedger } from '../records/ledger.ts';
import { documentsOf, findOffer, type Offer, renderDocument, renderOffer } from '../records/onboarding-documents.ts';
import { findJob, renderJob, stagesOf } from '../records/pipelines.ts';
import { answeredCandidate } from '../records/resumes.ts';
import type { SandboxState } from '../state.ts';

/** The page's query of a list; every part may be missing. */
interface Asked {
  /** Part of a name, title or e-mail, ignoring case. */
  search?: string | undefined;
  jobId?: string | number | undefined;
  status?: string | undefined;
  /** Rows to skip: the page continues where it stopped. */
  skip: number;
}

/** A row of any list: `label` is its name for people, `id` its id for actions. */
interface Row {
  id: string | number;
  label: string;
  [column: string]: unknown;
}

interface Rows {
  rows: Row[];
  more: boolean;
}

const PAGE_ROWS = 25;

/** A list as SQL: columns, tables, and the condition of each filter. */
interface Source {
  select: string;
  /** Name of the listed table, for `company_id` and the order. */
  alias: string;
  /** The text that is searched, or a candidate's id: people are found by the index of the API's own search. */
  search: string | { person: string };
  jobId?: string;
  status?: string;
  order: string;
}

function searched(ctx: Context, { search }: Source, text = ''): [string, string | undefined] {
  if (text === '') return ['', undefined];
  if (typeof search === 'string') return [`instr(lower(${search}), lower(?)) > 0`, text];
  const ids = JSON.stringify([...searchPeople(ctx, 'searchTerm', text)]);
  return [`${search.person} in (select value from json_each(?))`, ids];
}

/** Reads one more row than it shows, to know without counting whether there are more. */
function readRows(ctx: Context, source: Source, asked: Asked): Rows {
  const filters: [sql: string | undefined, value: SQLInputValue | undefined][] = [
    [`${source.alias}.company_id = ?`, ctx.company.id],
    searched(ctx, source, asked.search),
    [source.jobId, asked.jobId],
    [source.status, asked.status === '' ? undefined : asked.status],
  ];
  const used = filters.filter(([sql, value]) => sql !== undefined && value !== undefined);
  const rows = ctx.state.all<Row>(
    `${source.select} where ${used.map(([sql]) => sql).join(' and ')} order by ${source.order} limit ? offset ?`,
    ...used.map(([, value]) => value as SQLInputValue),
    PAGE_ROWS + 1,
    asked.skip,
  );
  return { rows: rows.slice(0, PAGE_ROWS), more: rows.length > PAGE_ROWS };
}

/** A candidate's name, or their e-mail if they have none. */
function name(body: string): string {
  const full = `trim(concat_ws(' ', ${body} ->> 'firstName', ${body} ->> 'lastName'))`;
  return `coalesce(nullif(${full}, ''), ${body} ->> 'email')`;
}

const JOB_TITLE = "j.body ->> 'title'";
const PERSON = name('c.body');
const ENROLLED = "trim(concat_ws(' ', e.first_name, e.last_name))";
const INVITED = "coalesce(nullif(trim(concat_ws(' ', i.first_name, i.last_name)), ''), i.email)";

/** Each list that the page shows, newest first. */
export const LISTS: Record<string, Source> = {
  jobs: {
    select: `select j.id, ${JOB_TITLE} as label, j.status, j.body ->> 'city' as city, j.body ->> 'country' as country,
      p.name as pipeline, (select count(*) from job_candidates where job_id = j.id) as people, j.created_at as createdAt
      from jobs j join pipelines p on p.id = j.pipeline_id`,
    alias: 'j',
    search: `concat_ws(' ', ${JOB_TITLE}, j.body ->> 'city', j.body ->> 'country')`,
    status: 'j.status = ?',
    order: 'j.id desc',
  },
  candidates: {
    select: `select c.id, ${PERSON} as label, c.email, c.body ->> 'phone' as phone,
      c.body ->> 'currentJobTitle' as title, c.body ->> 'city' as city,
      (select count(*) from job_candidates where candidate_id = c.id) as applications, c.created_at as createdAt
      from candidates c`,
    alias: 'c',
    search: { person: 'c.id' },
    order: 'c.id desc',
  },
  applications: {
    select: `select a.id, ${PERSON} || ', ' || (${JOB_TITLE}) as label, ${PERSON} as person, c.email,
      a.candidate_id as candidateId, a.job_id as jobId, ${JOB_TITLE} as job, s.type as stageType, s.name as stage,
      a.rejected, a.score, a.applied_at as appliedAt, a.added_at as addedAt
      from job_candidates a join candidates c on c.id = a.candidate_id join jobs j on j.id = a.job_id
      join stages s on s.id = a.stage_id`,
    alias: 'a',
    search: { person: 'a.candidate_id' },
    jobId: 'a.job_id = ?',
    status: "iif(a.rejected = 1, 'REJECTED', s.type) = ?",
    order: 'a.id desc',
  },
  enrolments: {
    select: `select e.id, ${ENROLLED} || ', ' || f.name as label, ${ENROLLED} as person, e.email, f.name as flow,
      e.overall_status as status, e.external_ref as externalRef, e.enrolled_at as enrolledAt
      from onboarding_candidates e join onboarding_flows f on f.id = e.flow_id`,
    alias: 'e',
    search: `concat_ws(' ', e.first_name, e.last_name, e.email, e.external_ref)`,
    status: 'e.overall_status = ?',
    order: 'e.seq desc',
  },
  interviews: {
    select: `select i.id, ${INVITED} || ', ' || (t.body ->> 'testName') as label, ${INVITED} as person, i.email,
      t.body ->> 'testName' as assessment, coalesce(b.status, 'INVITED') as status, b.id as submissionId, b.score,
      i.invited_at as invitedAt
      from assessment_invites i join assessments t on t.id = i.assessment_id left join submissions b
      on b.invite_id = i.id`,
    alias: 'i',
    search: `concat_ws(' ', i.first_name, i.last_name, i.email, t.body ->> 'testName')`,
    status: "coalesce(b.status, 'INVITED') = ?",
    order: 'i.id desc',
  },
  offers: {
    select: `select o.id, ${PERSON} || ', ' || o.name as label, ${PERSON} as person, o.name, ${JOB_TITLE} as job,
      o.status, o.job_candidate_id as jobCandidateId, o.created_at as createdAt
      from offers o join candidates c on c.id = o.candidate_id join jobs j on j.id = o.job_id`,
    alias: 'o',
    search: `concat_ws(' ', c.body ->> 'firstName', c.body ->> 'lastName', c.email, o.name, ${JOB_TITLE})`,
    status: 'o.status = ?',
    order: 'o.seq desc',
  },
  bookings: {
    select: `select b.id, coalesce(${PERSON}, b.entity_id) || ', ' || (h.body ->> 'name') as label,
      coalesce(${PERSON}, b.entity_id) as person, h.body ->> 'name' as schedule, b.start_at as startAt,
      b.schedule_id as scheduleId, iif(b.cancelled = 1, 'CANCELLED', coalesce(b.attendance, 'BOOKED')) as status
      from bookings b join booking_schedules h on h.id = b.schedule_id
      left join job_candidates a on b.entity_type = 'JOB_CANDIDATE' and a.id = b.entity_id
      left join candidates c on c.id = a.candidate_id`,
    alias: 'b',
    search: `concat_ws(' ', c.body ->> 'firstName', c.body ->> 'lastName', c.email, h.body ->> 'name')`,
    status: "iif(b.cancelled = 1, 'CANCELLED', coalesce(b.attendance, 'BOOKED')) = ?",
    order: 'b.seq desc',
  },
};

type Detail = (ctx: Context, id: string) => unknown;

/** One record with its related records, for one screen. */
const DETAILS: Record<string, Detail> = {
  jobs: (ctx, id) => {
    const job = findJob(ctx, Number(id));
    const people = ctx.state.all<{ stageId: number; people: number }>(
      'select stage_id as stageId, count(*) as people from job_candidates where job_id = ? group by stage_id',
      job.id,
    );
    const counts = new Map(people.map((row) => [row.stageId, row.people]));
    const stages = stagesOf(ctx, job.pipelineId).map((stage) => ({ ...stage, people: counts.get(stage.id) ?? 0 }));
    return { job: renderJob(ctx, job), stages, customFields: fieldRows(ctx, 'job', job.id) };
  },
  candidates: (ctx, id) => {
    const candidate = answeredCandidate(ctx, findCandidate(ctx, Number(id)));
    return {
      candidate,
      customFields: fieldRows(ctx, 'candidate', candidate.id),
      applications: rowsWhere(ctx, 'applications', 'a.candidate_id = ?', candidate.id),
      enrolments: rowsWhere(ctx, 'enrolments', 'e.email = ?', candidate.email),
      interviews: rowsWhere(ctx, 'interviews', 'i.email = ?', candidate.email),
    };
  },
  applications: applicationDetail,
  enrolments: (ctx, id) => ({
    enrolment: renderEnrolmentInFull(ctx, findEnrolment(ctx, id)),
    documents: documentsOf(ctx, id).map((one) => renderDocument(ctx, one)),
  }),
  interviews: (ctx, id) => {
    const invite = inviteById(ctx, Number(id));
    const submission = submissionOf(ctx, invite.id);
    return {
      row: rowsWhere(ctx, 'interviews', 'i.id = ?', invite.id)[0],
      jobCandidateId: invite.jobCandidateId,
      submission: submission === undefined ? null : renderSubmission(ctx, submission),
      questions: questionsOf(ctx, invite.assessmentId).map(renderQuestion),
      assessmentId: invite.assessmentId,
      assessmentUrl: assessmentUrl(ctx.state, invite.assessmentId),
    };
  },
  slots: (ctx, id) => ({ rows: slotRows(ctx, findSchedule(ctx, id)), more: false }),
  offers: (ctx, id) => ({ offer: offerInFull(ctx, findOffer(ctx, id)) }),
};

function applicationDetail(ctx: Context, id: string): unknown {
  const application = findJobCandidate(ctx, Number(id));
  const job = findJob(ctx, application.jobId);
  const { email } = findCandidate(ctx, application.candidateId);
  return {
    row: rowsWhere(ctx, 'applications', 'a.id = ?', application.id)[0],
    stageId: application.stageId,
    stages: stagesOf(ctx, job.pipelineId),
    record: JSON.parse(renderJobCandidate(ctx, application)) as unknown,
    form: application.application === null ? null : renderApplication(ctx, application.id),
    offers: offersOf(ctx, application.id),
    interviews: rowsWhere(ctx, 'interviews', 'i.email = ?', email),
    bookings: rowsWhere(ctx, 'bookings', "b.entity_type = 'JOB_CANDIDATE' and b.entity_id = ?", String(application.id)),
    bookingLinks: linksOf(ctx, application.id),
    enrolments: rowsWhere(ctx, 'enrolments', 'e.email = ?', email),
  };
}

function offersOf(ctx: Context, jobCandidateId: number): unknown[] {
  return rowsWhere(ctx, 'offers', 'o.job_candidate_id = ?', jobCandidateId).map(({ id }) =>
    offerInFull(ctx, findOffer(ctx, String(id))),
  );
}

/** Every custom field of a kind of record, with this one's value, or null. */
function fieldRows(ctx: Context, entityType: 'candidate' | 'job', entityId: number): Row[] {
  const values = new Map(ownValues(ctx, entityType, entityId));
  return listCustomFields(ctx, entityType).map(({ id, fieldLabel, fieldType, options }) => ({
    id,
    label: fieldLabel,
    fieldType,
    options,
    value: values.get(id) ?? null,
  }));
}

const SLOT_DAYS = 14;

/** The free slots of the next days, in the schedule's own time; an action needs the instant. */
function slotRows(ctx: Context, schedule: Schedule): Row[] {
  const { timezone } = schedule;
  return freeSlots(ctx, schedule, ctx.now, ctx.now + SLOT_DAYS * 86_400_000).map(({ start }) => ({
    id: iso(start),
    label: DateTime.fromMillis(start, { zone: timezone, locale: 'en-GB' }).toFormat('ccc d LLL, HH:mm ZZZZ'),
  }));
}

/** With the signers' addresses for signing. */
function offerInFull(ctx: Context, offer: Offer): unknown {
  const signers = offer.signers.map((one) => ({ ...one, url: signingUrl(ctx.state, offer.id, one.signingOrder) }));
  return { ...renderOffer(ctx, offer), signers };
}

function linksOf(ctx: Context, jobCandidateId: number): unknown[] {
  return ctx.state.all(
    `select l.id, h.body ->> 'name' as schedule, l.status, ? || '/book/' || l.token as url
      from booking_links l join booking_schedules h on h.id = l.schedule_id
      where l.entity_type = 'JOB_CANDIDATE' and l.entity_id = ? and l.company_id = ? order by l.created_at desc`,
    ctx.state.publicUrl,
    String(jobCandidateId),
    ctx.company.id,
  );
}

function rowsWhere(ctx: Context, list: string, condition: string, value: string | number): Row[] {
  const source = LISTS[list] as Source;
  return readRows(ctx, { ...source, jobId: condition }, { jobId: value, skip: 0 }).rows;
}

/** The record of a kind, or 404. */
function readDetail(ctx: Context, kind: string, id: string): unknown {
  const detail = Object.hasOwn(DETAILS, kind) ? DETAILS[kind] : undefined;
  if (detail === undefined) throw notFound('List');
  return detail(ctx, id);
}

/** A list to choose from: each row has its id and its name for people. */
function choice(from: string, label: string, { id = 'x.id', order = 'x.rowid' } = {}): Source {
  return { select: `select ${id} as id, ${label} as label from ${from}`, alias: 'x', search: label, order };
}

const NAME = "trim(concat_ws(' ', x.first_name, x.last_name, '<' || x.email || '>'))";

/** The choices in pickers of forms, besides the lists of the page. */
export const CHOICES: Record<string, Source> = {
  assessments: choice('assessments x', "x.body ->> 'testName'"),
  'booking-links': choice(
    'booking_links x join booking_schedules h on h.id = x.schedule_id',
    `concat_ws(' ', x.person ->> 'firstName', x.person ->> 'lastName', h.body ->> 'name', lower(x.status))`,
  ),
  campaigns: choice('campaigns x', "x.body ->> 'title'"),
  'custom-fields': choice('custom_fields x', "x.field_label || ' (' || x.entity_type || ')'"),
  'flow-candidates': choice('flow_candidates x', `${NAME} || ', ' || lower(x.status)`),
  leads: choice('campaign_leads x', "concat_ws(' ', x.body ->> 'firstName', x.body ->> 'lastName', lower(x.status))"),
  'onboarding-flows': choice('onboarding_flows x', 'x.name', { order: 'x.seq' }),
  pipelines: choice('pipelines x', 'x.name'),
  schedules: choice('booking_schedules x', "x.body ->> 'name'", { order: 'x.deleted, x.seq' }),
  sites: choice('company_sites x', 'x.name'),
  stages: choice('stages x join pipelines p on p.id = x.pipeline_id', "x.name || ', ' || p.name", {
    order: 'x.pipeline_id, x.position',
  }),
  submissions: choice(
    `submissions x join assessment_invites i on i.id = x.invite_id join assessments t on t.id = x.assessment_id`,
    `concat_ws(' ', i.first_name, i.last_name, t.body ->> 'testName', lower(replace(x.status, '_', ' ')))`,
    { order: 'x.seq desc' },
  ),
  teams: choice('teams x', 'x.name', { order: 'x.seq' }),
  users: choice('users x', NAME, { order: 'x.seq' }),
};

const Query = z.strictObject({
  /** The first company where it is absent, as with every action. */
  companyId: z.coerce.number().int().optional(),
  search: z.string().trim().optional(),
  jobId: z.coerce.number().int().optional(),
  status: z.string().optional(),
  skip: z.coerce.number().int().min(0).default(0),
});

const SOURCES = new Map(Object.entries({ ...CHOICES, ...LISTS }));

const PATH = /^\/browse\/([a-z-]+)(?:\/([\w-]+))?$/;

/** Data for the page besides the control plane's other answers: lists, records, bodies. */
export function browse(state: SandboxState, path: string, given: Record<string, string>): unknown {
  const [, kind, id] = PATH.exec(path) ?? [];
  if (kind === undefined) return undefined;
  const { companyId: named, ...asked } = Query.parse(given);
  const company = named === undefined ? listCompanies(state)[0] : companyById(state, named);
  if (company === undefined) throw notFound('Company');
  const companyId = company.id;
  if (kind === 'exchanges') return { exchanges: state.exchanges.list(companyId) };
  if (kind === 'deliveries') return { deliveries: lastDeliveries(state, companyId) };
  if (kind === 'machinery') return machinery(state, companyId);
  const ctx = contextOf(state, company);
  // Some records are drawn with new addresses of documents, which are counted.
  if (id !== undefined) return state.transaction(() => readDetail(ctx, kind, id));
  const source = SOURCES.get(kind);
  if (source === undefined) throw notFound('List');
  return readRows(ctx, source, asked);
}

const LAST = 100;

/** The last attempts, each with its request and answer. */
function lastDeliveries(state: SandboxState, companyId: number): unknown[] {
  return readLedger(state, { kind: 'delivery', companyId, last: LAST })
    .toReversed()
    .map(({ seq, at, name, status, subject, detail }) => ({
      seq,
      at,
      event: name,
      deliveryId: Number(subject),
      status: status ?? null,
      ...detail,
      payload: payloadOf(state, Number(subject)) ?? null,
    }));
}

/** Limits, faults and quirks: those in force with their counts, and the available ones. */
function machinery(state: SandboxState, companyId: number): unknown {
  return {
    limit: state.limit ?? null,
    refusedByLimit: readLedger(state, { kind: 'request', companyId, status: 429, last: 1000 }).length,
    struck: countLedger(state, { kind: 'fault' }).fault ?? {},
    faults: state.faults.list(),
    quirks: state.quirks.list(),
    knownFaults: { ...REQUEST_FAULTS, ...EVENT_FAULTS },
    knownQuirks: QUIRKS,
    operations: [...new Set(allEndpoints().map(({ id }) => id))].toSorted((a, b) => a.localeCompare(b)),
    events: eventNames,
  };
}
