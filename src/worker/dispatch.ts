import type { EventName } from '../partner/contract/events.ts';

/**
 * What an event leads to. `hired`: a hint for each job candidate's hire, started where none runs. `moved`: the same
 * when the move leads into a hiring stage, otherwise like `left`. `left`: a hint for a running hire only. `onboarding`:
 * a hint for the hire of that enrolment, or a reconcile where no id is known. `ignored`: nothing acts upon it yet.
 */
export type HintKind = 'hired' | 'moved' | 'left' | 'onboarding' | 'ignored';

export const dispatch: Record<EventName, HintKind> = {
  'candidate.hired': 'hired',
  'candidate.stage_changed': 'moved',
  'candidate.rejected': 'left',
  'candidate.removed_from_job': 'left',
  // Ours is told by the answer to its request, and another's is no hire's business.
  'onboarding.candidate.enrolled': 'ignored',
  'onboarding.candidate.status_changed': 'onboarding',
  'onboarding.candidate.completed': 'onboarding',
  'onboarding.documents.verified': 'ignored',
  'onboarding.report.ready': 'ignored',
  'onboarding.offer.completed': 'ignored',
  'candidate.added_to_job': 'ignored',
  'candidate.updated': 'ignored',
  'candidate.applied': 'ignored',
  'job.created': 'ignored',
  'job.updated': 'ignored',
  'job.status_changed': 'ignored',
  'job.candidate.score.completed': 'ignored',
  'job.candidate.score.failed': 'ignored',
  'job.candidates.rescored': 'ignored',
  'resume.bulk_upload_parse.started': 'ignored',
  'resume.bulk_upload_parse.completed': 'ignored',
  'resume.bulk_upload_parse.failed': 'ignored',
  'resume.single_parse.completed': 'ignored',
  'resume.single_parse.failed': 'ignored',
  'assessment.ready': 'ignored',
  'assessment.bulk_invite.completed': 'ignored',
  'interview.started': 'ignored',
  'interview.scoring_completed': 'ignored',
  'interview.ended': 'ignored',
};
