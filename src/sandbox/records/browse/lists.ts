import type { Source } from './rows.ts';

/** A candidate's name, or the e-mail of one who has none. */
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
