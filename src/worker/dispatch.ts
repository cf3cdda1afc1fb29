import { type EventIdKind, type EventName, isEventName } from '../partner/contract/events.ts';
import { HRIS_CHANGED } from '../store/inbox.ts';
import type { StreamName } from '../streams/streams.ts';

/**
 * What an event means for hires. `hired`: a hint for each job candidate's hire, started where none runs. `moved`: the
 * same when the move leads into a hiring stage, otherwise like `left`. `left`: a hint for a running hire only.
 * `onboarding`: a hint for the hire of that enrolment, or a reconcile where no id is known.
 */
export type HireHint = 'hired' | 'moved' | 'left' | 'onboarding';

/** What an event leads to: hints for hires, for streams, or nothing, and then why. */
export interface Dispatch {
  hires?: HireHint;
  /** A hint for each hire of the job whose employee is not made yet. */
  hiresOfJob?: boolean;
  /** By stream, where the ids stand; an event without one hints at the whole list. */
  streams?: Partial<Record<StreamName, EventIdKind | 'employeeId'>>;
  /** Of a list in parts: where the ids of its records stand, for an event that names no part. */
  records?: Partial<Record<StreamName, EventIdKind>>;
  /** Streams that an event without an id is nothing to. */
  ifNamed?: readonly StreamName[];
  /** Streams whose record no longer exists, as the event says. */
  gone?: readonly StreamName[];
  nothing?: string;
}

const PARSING = 'it says how parsing goes; the candidates it makes come with events of their own and with the list';

/** The specification shows a submission and no assessment (section 6); the part is known where both are named. */
const interviewed: Dispatch = {
  streams: { interviews: 'assessmentId', results: 'assessmentId' },
  records: { interviews: 'submissionId', results: 'submissionId' },
};

/** Users, teams, pipelines, their stages and onboarding flows are named by no event: their tables are read by time. */
export const dispatch: Record<EventName, Dispatch> = {
  // Of an application read by its id no stage is shown: a move arrives with the next whole pass.
  'candidate.hired': { hires: 'hired' },
  'candidate.stage_changed': { hires: 'moved', streams: { invitations: 'jobCandidateId' } },
  'candidate.rejected': { hires: 'left', streams: { applications: 'jobCandidateId' } },
  // Sent as well where the candidate was deleted from the company, which a read of the candidate tells.
  'candidate.removed_from_job': {
    hires: 'left',
    streams: { applications: 'jobCandidateId', candidates: 'candidateId', consents: 'jobCandidateId' },
    gone: ['applications', 'consents'],
  },
  // Our own enrolment is told by the answer to its request.
  'onboarding.candidate.enrolled': { streams: { onboarding: 'onboardingCandidateId' } },
  'onboarding.candidate.status_changed': { hires: 'onboarding', streams: { onboarding: 'onboardingCandidateId' } },
  'onboarding.candidate.completed': { hires: 'onboarding', streams: { onboarding: 'onboardingCandidateId' } },
  'onboarding.documents.verified': { streams: { documents: 'onboardingCandidateId' } },
  'onboarding.report.ready': { streams: { documents: 'onboardingCandidateId' } },
  'onboarding.offer.completed': { streams: { documents: 'jobCandidateId' } },
  'candidate.added_to_job': {
    streams: { candidates: 'candidateId', applications: 'jobCandidateId', invitations: 'jobCandidateId' },
  },
  'candidate.updated': {
    streams: {
      candidates: 'candidateId',
      employees: 'candidateId',
      amendments: 'candidateId',
      consents: 'jobCandidateId',
    },
    ifNamed: ['consents'],
  },
  'candidate.applied': {
    streams: {
      candidates: 'candidateId',
      applications: 'jobCandidateId',
      invitations: 'jobCandidateId',
      consents: 'jobCandidateId',
    },
  },
  'job.created': { streams: { jobs: 'jobId' } },
  'job.updated': { hiresOfJob: true, streams: { jobs: 'jobId', positions: 'jobId' } },
  'job.status_changed': { streams: { jobs: 'jobId', positions: 'jobId' } },
  'job.candidate.score.completed': { streams: { applications: 'jobCandidateId' } },
  'job.candidate.score.failed': { nothing: 'a score that failed changes no record' },
  'job.candidates.rescored': {
    streams: { applications: 'jobCandidateId', rescoring: 'rescoreId' },
    ifNamed: ['rescoring'],
  },
  'resume.bulk_upload_parse.started': { nothing: PARSING },
  'resume.bulk_upload_parse.completed': { streams: { candidates: 'candidateId', resumes: 'batchId' } },
  'resume.bulk_upload_parse.failed': { streams: { resumes: 'batchId' }, ifNamed: ['resumes'] },
  'resume.single_parse.completed': { streams: { candidates: 'candidateId' } },
  'resume.single_parse.failed': { nothing: PARSING },
  'assessment.ready': { streams: { assessments: 'assessmentId' } },
  'assessment.bulk_invite.completed': { streams: { invitations: 'batchId' } },
  'interview.started': { nothing: 'the list shows an interview once it was submitted or timed out (section 4.6)' },
  'interview.scoring_completed': interviewed,
  'interview.ended': interviewed,
};

/** Fields that both sides edit, as soon as the HRIS says whose changed; the scheduled pass finds them too. */
const ofHris: Dispatch = { streams: { employees: 'employeeId' } };

/** An event that nobody knows leads to nothing. */
export function dispatchOf(event: string): Dispatch {
  if (event === HRIS_CHANGED) return ofHris;
  return isEventName(event) ? dispatch[event] : {};
}

/** Events about hires. Those of one tenant begin little by little; all others are relayed together. */
export const hireEvents = Object.keys(dispatch).filter((event) => dispatchOf(event).hires !== undefined);
