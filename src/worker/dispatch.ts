import type { EventName } from '../partner/contract/events.ts';

/**
 * What an event wakes. `hired`: each job candidate's hire, started where none runs. `moved`: the same when the move leads into a hiring stage,
 * otherwise like `left`. `left`: a running hire only. `onboarding`: the hire of that enrolment, or the sweep where no id is known.
 * `closed`: a stream that is not built yet.
 */
export type Wake = 'hired' | 'moved' | 'left' | 'onboarding' | 'closed';

export const dispatch: Record<EventName, Wake> = {
  'candidate.hired': 'hired',
  'candidate.stage_changed': 'moved',
  'candidate.rejected': 'left',
  'candidate.removed_from_job': 'left',
  'onboarding.candidate.enrolled': 'onboarding',
  'onboarding.candidate.status_changed': 'onboarding',
  'onboarding.candidate.completed': 'onboarding',
  'onboarding.documents.verified': 'closed',
  'onboarding.report.ready': 'closed',
  'onboarding.offer.completed': 'closed',
  'candidate.added_to_job': 'closed',
  'candidate.updated': 'closed',
  'candidate.applied': 'closed',
  'job.created': 'closed',
  'job.updated': 'closed',
  'job.status_changed': 'closed',
  'job.candidate.score.completed': 'closed',
  'job.candidate.score.failed': 'closed',
  'job.candidates.rescored': 'closed',
  'resume.bulk_upload_parse.started': 'closed',
  'resume.bulk_upload_parse.completed': 'closed',
  'resume.bulk_upload_parse.failed': 'closed',
  'resume.single_parse.completed': 'closed',
  'resume.single_parse.failed': 'closed',
  'assessment.ready': 'closed',
  'assessment.bulk_invite.completed': 'closed',
  'interview.started': 'closed',
  'interview.scoring_completed': 'closed',
  'interview.ended': 'closed',
};
