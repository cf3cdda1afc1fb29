import { type EventIdKind, type EventName, isEventName } from '../partner/contract/events.ts';
import { HRIS_CHANGED } from '../store/inbox.ts';
import type { StreamName } from '../streams/streams.ts';

/**
 * The effect of an event on hires. `hired`: a hint for each job candidate's hire, started if none runs. `moved`: the
 * same if the move leads into a hiring stage, otherwise like `left`. `left`: a hint for a running hire only.
 * `onboarding`: a hint for the hire of that enrolment, or a reconcile if no id is known.
 */
export type HireHint = 'hired' | 'moved' | 'left' | 'onboarding';

/** The effect of an event: hints for hires or streams; if none, the reason. */
export interface Dispatch {
  hires?: HireHint;
  /** Sends a hint to each hire of the job without an employee. */
  hiresOfJob?: boolean;
  /** By stream, the kind of ids to hint; an event without such an id hints at the whole list. */
  streams?: Partial<Record<StreamName, EventIdKind | 'employeeId'>>;
  /** For a list in parts, the kind of record ids to use if the event names no part. */
  records?: Partial<Record<StreamName, EventIdKind>>;
  /** Streams that ignore the event if it carries no id. */
  ifNamed?: readonly StreamName[];
  /** Streams whose record no longer exists after the event. */
  gone?: readonly StreamName[];
  nothing?: string;
}

const PARSING = 'it reports the progress of parsing; events of their own and the list bring the new candidates';

/** The specification shows a submission but no assessment (section 6); the part is known if the event names both. */
const interviewed: Dispatch = {
  streams: { interviews: 'assessmentId', results: 'assessmentId' },
  records: { interviews: 'submissionId', results: 'submissionId' },
};

/** No event names users, teams, pipelines, their stages or onboarding flows: their tables are read on schedule. */
export const dispatch: Record<EventName, Dispatch> = {
  // An application read by id shows no stage, so moves arrive with the next full pass.
  'candidate.hired': { hires: 'hired' },
  'candidate.stage_changed': { hires: 'moved', streams: { invitations: 'jobCandidateId' } },
  'candidate.rejected': { hires: 'left', streams: { applications: 'jobCandidateId' } },
  // Also sent if the candidate was deleted from the company; a read of the candidate shows which.
  'candidate.removed_from_job': {
    hires: 'left',
    streams: { applications: 'jobCandidateId', candidates: 'candidateId', consents: 'jobCandidateId' },
    gone: ['applications', 'consents'],
  },
  // The response to our own enrolment request already tells us about it.
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
      applications: 'jobCandidateId',
      consents: 'jobCandidateId',
    },
    ifNamed: ['applications', 'consents'],
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

/** What the HRIS reports is exchanged, or told to the partner, at once; the scheduled pass finds it too. */
const ofHris: Dispatch = { streams: { employees: 'employeeId', employment: 'employeeId' } };

/** An unknown event has no effect. */
export function dispatchOf(event: string): Dispatch {
  if (event === HRIS_CHANGED) return ofHris;
  return isEventName(event) ? dispatch[event] : {};
}

/** Events about hires. Within one tenant they are begun gradually; all other events are relayed together. */
export const hireEvents = Object.keys(dispatch).filter((event) => dispatchOf(event).hires !== undefined);
