import { DateTime } from 'luxon';
import type { Context } from '../../context.ts';
import { iso } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { signingUrl } from '../../signing-urls.ts';
import { questionsOf, renderQuestion } from '../assessments/assessment-questions.ts';
import { assessmentUrl } from '../assessments/assessments.ts';
import { inviteById } from '../assessments/invites.ts';
import { renderSubmission, submissionOf } from '../assessments/submissions.ts';
import { findSchedule, type Schedule } from '../booking/booking-schedules.ts';
import { freeSlots } from '../booking/booking-slots.ts';
import { findCandidate } from '../candidates/candidates.ts';
import { answeredCandidate } from '../candidates/own-resumes.ts';
import { ownValues } from '../custom-fields/custom-field-values.ts';
import { listCustomFields } from '../custom-fields/custom-fields.ts';
import { renderApplication } from '../job-candidates/application-record.ts';
import { findJobCandidate, renderJobCandidate } from '../job-candidates/job-candidates.ts';
import { findJob, renderJob } from '../jobs/jobs.ts';
import { findEnrolment, renderEnrolmentInFull } from '../onboarding/enrolments.ts';
import { findOffer, type Offer, renderOffer } from '../onboarding/offers.ts';
import { documentsOf, renderDocument } from '../onboarding/onboarding-documents.ts';
import { stagesOf } from '../pipelines/pipelines.ts';
import { LISTS } from './lists.ts';
import { type Row, readRows, type Source } from './rows.ts';

type Detail = (ctx: Context, id: string) => unknown;

/** One record with what hangs on it: what a person works with on one screen. */
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

/** The free slots of the next days, told in the schedule's own time; an action wants the instant. */
function slotRows(ctx: Context, schedule: Schedule): Row[] {
  const { timezone } = schedule;
  return freeSlots(ctx, schedule, ctx.now, ctx.now + SLOT_DAYS * 86_400_000).map(({ start }) => ({
    id: iso(start),
    label: DateTime.fromMillis(start, { zone: timezone, locale: 'en-GB' }).toFormat(`ccc d LLL, HH:mm`),
  }));
}

/** With the addresses where the signers sign. */
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
export function readDetail(ctx: Context, kind: string, id: string): unknown {
  const detail = Object.hasOwn(DETAILS, kind) ? DETAILS[kind] : undefined;
  if (detail === undefined) throw notFound('List');
  return detail(ctx, id);
}
