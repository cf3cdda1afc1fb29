import { candidateSections, fieldTypes, jobSections } from '../../partner/contract/custom-fields.ts';
import type { Context } from '../context.ts';
import { pick, type Random } from '../random.ts';
import { attachApplication } from '../records/applications.ts';
import { assign, createAssessmentFlow, currentInvite, listAssessmentFlows } from '../records/assessment-flows.ts';
import { type Assessment, addQuestion, bucketsOf, createAssessment, listAssessments } from '../records/assessments.ts';
import { freeSlots, listSchedules, type Schedule } from '../records/booking-schedules.ts';
import { type Booking, book, cancelBooking, linkFor, setAttendance } from '../records/bookings.ts';
import {
  addLeads,
  createCampaign,
  LEAD_LABELS,
  type LeadStatus,
  linkedSites,
  setCampaign,
  setLeadStatus,
  verifiedNumbers,
} from '../records/campaigns.ts';
import { findCandidate } from '../records/candidates.ts';
import { type CustomField, createCustomField, upsertValue } from '../records/custom-fields.ts';
import {
  finishInterview,
  leaveInterview,
  resumeInterview,
  scoreInterview,
  startInterview,
  timeOutInterview,
} from '../records/interviews.ts';
import { type Invite, invite, inviteOf, personOf } from '../records/invites.ts';
import { findJobCandidate, jobCandidateIdsIn } from '../records/job-candidates.ts';
import { createOffer, openOffer, sendOffer, signOffer } from '../records/onboarding-documents.ts';
import { defaultPipeline, type Job, setJobStatus, stageOfType } from '../records/pipelines.ts';

/** Enough jobs for some to be drafts and some to be closed. */
const JOBS_ENOUGH = 6;
/** How many people each kind of event has happened to, and how many have custom fields. */
const SOME = 24;
const FILLED = 500;
/** A company's data besides people on jobs. It has its own randomness, so people and their jobs stay the same. */
export interface Richness {
  random: Random;
  jobs: number;
}

/** Drafts accept nobody. */
export function seededStatus({ jobs }: Richness, n: number): { status: 'DRAFT' | 'ACTIVE' } {
  return { status: jobs >= JOBS_ENOUGH && n % 5 === 4 ? 'DRAFT' : 'ACTIVE' };
}

/** The history of the first people of each stage, and the company's other records. */
export function seedEvents(
  ctx: Context,
  richness: Richness,
  { jobs, jobIds, candidateIds }: { jobs: readonly Job[]; jobIds: readonly number[]; candidateIds: readonly number[] },
): void {
  const inStage = (type: string): number[] => {
    const stage = stageOfType(ctx, defaultPipeline(ctx).id, type);
    return stage === undefined ? [] : jobCandidateIdsIn(ctx, stage.id).slice(0, SOME);
  };
  seedCustomFields(ctx, richness.random, { candidateIds: candidateIds.slice(0, FILLED), jobIds });
  seedInterviews(ctx, inStage('ASSESSMENT'));
  seedBookings({ ...ctx, now: ctx.state.clock.now() }, inStage('SCREEN'));
  seedMoreOffers(ctx, inStage('SHORTLISTED'));
  seedCampaigns(ctx, candidateIds);
  if (richness.jobs < JOBS_ENOUGH) return;
  for (const { id } of jobs.filter((_job, n) => n % 4 === 3)) setJobStatus(ctx, id, 'INACTIVE');
}

type FieldType = (typeof fieldTypes)[number];

const SOURCES = ['Agency', 'Referral', 'Website', 'Job fair'];
const SHIFTS = ['Early', 'Late', 'Night', 'Weekend'];

interface Invented {
  candidate: string;
  job: string;
  options?: readonly string[];
  value: (random: Random) => unknown;
}

/** One field of each type for candidates and for jobs. */
const FIELDS: Record<FieldType, Invented> = {
  text: { candidate: 'Locker', job: 'Cost centre', value: (random) => `L-${String(100 + Math.floor(random() * 900))}` },
  textarea: {
    candidate: 'Note of the recruiter',
    job: 'Note for the agency',
    value: (random) => pick(random, ['Very friendly on the phone.', 'Asks for a part-time contract.', 'Call back.']),
  },
  number: { candidate: 'Years abroad', job: 'Head count', value: (random) => Math.floor(random() * 12) },
  date: {
    candidate: 'Available from',
    job: 'Start of work',
    value: (random) => `2026-${String(1 + Math.floor(random() * 12)).padStart(2, '0')}-01`,
  },
  select: {
    candidate: 'Source',
    job: 'Budget',
    options: SOURCES,
    value: (random) => pick(random, SOURCES),
  },
  'multi-select': {
    candidate: 'Shifts',
    job: 'Shifts to fill',
    options: SHIFTS,
    value: (random) => SHIFTS.filter(() => random() < 0.5),
  },
  checkbox: { candidate: 'Has a car', job: 'Urgent', value: (random) => random() < 0.5 },
};

/** A field of every type, filled for most of these people and jobs; one of them hangs on a work experience. */
function seedCustomFields(
  ctx: Context,
  random: Random,
  of: { candidateIds: readonly number[]; jobIds: readonly number[] },
): void {
  const candidateFields = definitions(ctx, 'candidate');
  const jobFields = definitions(ctx, 'job');
  for (const id of of.candidateIds) fill(ctx, random, candidateFields, id);
  for (const id of of.jobIds) fill(ctx, random, jobFields, id);
  seedNested(ctx, of.candidateIds.slice(0, 20));
}

function definitions(ctx: Context, entityType: 'candidate' | 'job'): CustomField[] {
  const sections = entityType === 'job' ? jobSections : candidateSections;
  return fieldTypes.map((fieldType, index) => {
    const { [entityType]: fieldLabel, options } = FIELDS[fieldType];
    const parentSection = sections[index % sections.length];
    return createCustomField(ctx, { entityType, fieldLabel, fieldType, options, parentSection });
  });
}

function fill(ctx: Context, random: Random, fields: readonly CustomField[], entityId: number): void {
  for (const { id: customFieldId, entityType, fieldType } of fields) {
    const value = FIELDS[fieldType as FieldType].value(random);
    if (random() < 0.8) upsertValue(ctx, { customFieldId, entityType, entityId, value });
  }
}

/** A job's tasks: a value of section 2.5 on the work experience. */
function seedNested(ctx: Context, candidateIds: readonly number[]): void {
  const field = createCustomField(ctx, {
    entityType: 'candidate',
    fieldLabel: 'Reason for leaving',
    fieldType: 'text',
    parentSection: 'Experience',
  });
  for (const entityId of candidateIds) {
    const [first] = findCandidate(ctx, entityId)['workExperiences'] as { id: number }[];
    if (first === undefined) continue;
    const nested = { parentEntityType: 'work_experience', parentEntityId: first.id };
    upsertValue(ctx, { customFieldId: field.id, entityType: 'candidate', entityId, ...nested, value: 'Moved house' });
  }
}

const unscored = { scored: false };

/** How far an invited person has come: every state that section 4.6 speaks of. */
const STATES: readonly ((ctx: Context, invite: Invite) => void)[] = [
  () => undefined,
  (ctx, invited) => void startInterview(ctx, invited),
  (ctx, invited) => void leaveInterview(ctx, startInterview(ctx, invited).id, unscored),
  (ctx, invited) => {
    const { id } = startInterview(ctx, invited);
    leaveInterview(ctx, id, unscored);
    resumeInterview(ctx, id);
  },
  (ctx, invited) => void finishInterview(ctx, startInterview(ctx, invited).id, unscored),
  (ctx, invited) => void timeOutInterview(ctx, startInterview(ctx, invited).id, unscored),
  (ctx, invited) => {
    const { id } = finishInterview(ctx, startInterview(ctx, invited).id, unscored);
    scoreInterview(ctx, { submissionId: id });
  },
  (ctx, invited) => {
    const { id } = timeOutInterview(ctx, startInterview(ctx, invited).id, unscored);
    scoreInterview(ctx, { submissionId: id });
  },
];

/** These people are invited to the assessment that may be resumed, and each has come a different way. */
function seedInterviews(ctx: Context, jobCandidateIds: readonly number[]): void {
  const { assessments } = listAssessments(ctx, { number: 1, size: 100 });
  const resumable = assessments.find(({ fields }) => fields.resumeAllowed);
  if (resumable === undefined) return;
  for (const [index, jobCandidateId] of jobCandidateIds.entries())
    takePart(ctx, resumable, { jobCandidateId, way: STATES[index % STATES.length] });
}

function takePart(
  ctx: Context,
  assessment: Assessment,
  { jobCandidateId, way }: { jobCandidateId: number; way: (typeof STATES)[number] | undefined },
): void {
  const { email } = personOf(ctx, { jobCandidateId });
  if (inviteOf(ctx, assessment.id, email) !== undefined) return;
  way?.(ctx, invite(ctx, assessment, { jobCandidateId }));
}

/** An offer that its candidate has signed, one that waits for a signature, and a draft, as far as there are people. */
export function seedOffers(ctx: Context, jobCandidateIds: readonly number[]): void {
  const [signed, waiting] = jobCandidateIds.slice(0, 3).map((id) => offerFor(ctx, id));
  if (waiting !== undefined) sendOffer(ctx, waiting);
  if (signed === undefined) return;
  sendOffer(ctx, signed);
  signOffer(ctx, signed, 1);
}

/** More offers, each further on its way than the one before: draft, sent, opened, signed. */
function seedMoreOffers(ctx: Context, jobCandidateIds: readonly number[]): void {
  for (const [index, jobCandidateId] of jobCandidateIds.entries()) {
    const offerId = offerFor(ctx, jobCandidateId);
    const steps = [sendOffer, openOffer, signOffer].slice(0, index % 4);
    for (const step of steps) step(ctx, offerId, 1);
  }
}

function offerFor(ctx: Context, jobCandidateId: number): string {
  const { firstName, lastName, email } = findCandidate(ctx, findJobCandidate(ctx, jobCandidateId).candidateId);
  const signers = [{ name: `${firstName ?? ''} ${lastName ?? ''}`, email }];
  return createOffer(ctx, { jobCandidateId, name: 'Offer of employment', signers }).id;
}

const CAMPAIGNS = [
  { title: 'Finish your first interview', status: 'RUNNING' },
  { title: 'Autumn intake: last call', status: 'COMPLETED' },
  { title: 'Night shift, second round', status: 'PAUSED' },
  { title: 'Spring intake', status: 'DRAFT' },
] as const;
const LEADS = 8;
const STATUSES = Object.keys(LEAD_LABELS) as LeadStatus[];

/** Reminder campaigns in each status, with leads of each but in the draft. */
function seedCampaigns(ctx: Context, candidateIds: readonly number[]): void {
  const [site] = linkedSites(ctx);
  const [phoneNumber] = verifiedNumbers(ctx);
  if (site === undefined || phoneNumber === undefined) return;
  for (const [index, { title, status }] of CAMPAIGNS.entries()) {
    const { id } = createCampaign(ctx, {
      title,
      timezone: 'Europe/London',
      companySiteId: site.id,
      phoneNumber,
      openingMessage: 'Hello, this is about your application.',
      closingMessage: 'Thank you, and goodbye.',
      purposeType: 'ASSESSMENT_REMINDER',
      jobDetails: { assessmentName: 'First interview', assessmentFirstReminderDelayHours: 24 },
      status: status === 'DRAFT' ? 'DRAFT' : 'RUNNING',
    });
    if (status === 'DRAFT') continue;
    seedLeads(ctx, id, candidateIds.slice(index * LEADS, (index + 1) * LEADS));
    if (status !== 'RUNNING') setCampaign(ctx, id, { status });
  }
}

function seedLeads(ctx: Context, campaignId: number, candidateIds: readonly number[]): void {
  if (candidateIds.length === 0) return;
  const leads = candidateIds.map((id) => {
    const { firstName, lastName, phone, email } = findCandidate(ctx, id);
    return { firstName: firstName ?? '', lastName: lastName ?? '', phone: phone ?? '', email };
  });
  for (const [index, { leadId }] of addLeads(ctx, campaignId, leads).entries())
    setLeadStatus(ctx, leadId, STATUSES[index % STATUSES.length] ?? 'PENDING');
}

const WEEK_MS = 7 * 86_400_000;

const PAST: readonly ((ctx: Context, booking: Booking) => void)[] = [
  (ctx, { id }) => void setAttendance(ctx, id, 'CHECKED_IN'),
  (ctx, { id }) => void setAttendance(ctx, id, 'NO_SHOW'),
  (ctx, { id }) => void cancelBooking(ctx, id),
];

/** Some have come, not come or cancelled three weeks ago, some will come next week, some only hold a link. */
function seedBookings(ctx: Context, jobCandidateIds: readonly number[]): void {
  const [interview] = listSchedules(ctx, 'INTERVIEW', null);
  const [event] = listSchedules(ctx, 'EVENT', null);
  if (interview === undefined || event === undefined) return;
  const third = Math.ceil(jobCandidateIds.length / 3);
  const [past, next, linked] = [0, 1, 2].map((part) => jobCandidateIds.slice(part * third, (part + 1) * third));
  const before: Context = { ...ctx, now: ctx.now - 4 * WEEK_MS };
  for (const [index, id] of (past ?? []).entries()) {
    const booking = bookNext(before, index % 2 === 0 ? interview : event, id);
    if (booking !== undefined) PAST[index % PAST.length]?.(before, booking);
  }
  for (const [index, id] of (next ?? []).entries()) bookNext(ctx, index % 2 === 0 ? interview : event, id);
  for (const id of linked ?? []) linkFor(ctx, interview, entityOf(id), undefined);
}

function entityOf(jobCandidateId: number): { entityType: 'JOB_CANDIDATE'; entityId: string } {
  return { entityType: 'JOB_CANDIDATE', entityId: String(jobCandidateId) };
}

/** The first free slot of a week from now. */
function bookNext(ctx: Context, schedule: Schedule, jobCandidateId: number): Booking | undefined {
  const [slot] = freeSlots(ctx, schedule, ctx.now + WEEK_MS, ctx.now + 2 * WEEK_MS);
  if (slot === undefined) return undefined;
  const [place] = schedule.locations;
  return book(ctx, schedule, {
    ...entityOf(jobCandidateId),
    scheduledStartAt: new Date(slot.start).toISOString(),
    ...(schedule.bookingMode === 'BOTH' ? { selectedFormat: 'ONSITE' as const } : {}),
    ...(place === undefined ? {} : { selectedLocationId: place.id }),
    bookingAnswers: schedule.questions.length === 0 ? {} : { shift: 'Day', phone: '+447700900123' },
  });
}

const QUESTIONS = [
  'What made you apply?',
  'Tell us about a colleague who was hard to work with.',
  'Which part of your last job would you have given away?',
  'What do you do when two things are urgent at once?',
];

/** Two assessments and a flow through both: enough to invite and to assign at once. */
export function seedAssessments(ctx: Context): void {
  const [first, second] = [
    seedOne(ctx, 'First interview', 'AI_AUDIO_INTERVIEW', 0),
    seedOne(ctx, 'Meet the team', 'AI_VIDEO_INTERVIEW', 2),
  ];
  createAssessmentFlow(ctx, {
    flowName: 'Two interviews',
    description: 'A first interview, then the team.',
    steps: [
      { assessmentId: first, passThreshold: 50, name: 'First' },
      { assessmentId: second, passThreshold: 60, name: 'Team' },
    ],
  });
}

function seedOne(ctx: Context, testName: string, assessmentType: string, maxResumeCount: number): string {
  const fields = {
    testName,
    assessmentType,
    hiringForRole: 'Colleague',
    purposeOfInterview: 'Find out who fits the role and the team.',
    duration: 12,
    aiLanguage: 'english',
    skills: ['communication', 'initiative'],
    buckets: bucketsOf(undefined),
    resumeAllowed: maxResumeCount > 0,
    maxResumeCount: maxResumeCount > 0 ? maxResumeCount : null,
    isEmailVerificationRequired: true,
    shouldEvaluateCEFR: false,
  };
  const { id } = createAssessment(ctx, { fields });
  for (const question of QUESTIONS) addQuestion(ctx, id, { question, type: 'SUBJECTIVE' });
  return id;
}

/**
 * The history of some of the first people: two came through the hosted page, one without consent; three were assigned
 * to the flow, one of whom was scored, one has ended and waits, one has not begun. Adds nobody and draws no random
 * number.
 */
export function seedOutcomes(
  ctx: Context,
  { jobs, jobCandidateIds }: { jobs: readonly Job[]; jobCandidateIds: readonly number[] },
): void {
  seedApplications(ctx, jobs[0]);
  const [flow] = listAssessmentFlows(ctx);
  if (flow === undefined) return;
  const assigned = jobCandidateIds.slice(0, 3).map((jobCandidateId) => {
    const { candidate } = assign(ctx, flow, personOf(ctx, { jobCandidateId }), {});
    return currentInvite(ctx, candidate);
  });
  const [scored] = assigned.slice(0, 2).map((invite) => takeQuietly(ctx, invite));
  if (scored !== undefined) scoreInterview(ctx, { submissionId: scored });
}

function takeQuietly(ctx: Context, invite: Invite | undefined): string | undefined {
  if (invite === undefined) return undefined;
  const { id } = startInterview(ctx, invite);
  return finishInterview(ctx, id, { scored: false }).id;
}

function seedApplications(ctx: Context, job: Job | undefined): void {
  const stage = job === undefined ? undefined : stageOfType(ctx, job.pipelineId, 'APPLIED');
  const applied = stage === undefined ? [] : jobCandidateIdsIn(ctx, stage.id).slice(0, 2);
  applied.forEach((id, index) => {
    const person = findCandidate(ctx, findJobCandidate(ctx, id).candidateId);
    attachApplication(ctx, id, person, {
      consent: index === 0,
      resume: true,
      application: {
        currentJobTitle: person['currentJobTitle'],
        company: person['currentCompany'],
        noticePeriod: '1 month',
        isWillingToRelocate: index === 0,
        screeningQuestionAnswer: [{ question: 'When could you start?', answer: 'Next month' }],
        otherFiles: [{ name: 'References' }],
      },
    });
  });
}
