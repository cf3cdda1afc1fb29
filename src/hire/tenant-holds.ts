import type { HoldEntry } from './hold-entry.ts';

/** Fields that both sides changed, where the mapping says that a person decides. */
const conflicts = {
  scope: 'tenant',
  answers: ['keep-partner', 'keep-hris'],
  what: ({ stream, count }: { stream: string; count: number }) =>
    `${count} fields of stream ${stream} were changed on both sides, and the mapping says that a person decides.`,
  asks:
    'List them with: hirebridge conflicts TENANT. Answer keep-partner or keep-hris for all of them, or with the ' +
    'ids of some; the next run writes the value that stays to the other side.',
} as const satisfies HoldEntry;

/** Holds of a whole tenant. */
export const tenantHolds = {
  CREDITS_USED_UP: {
    scope: 'tenant',
    answers: ['retry'],
    what: ({ required, available }: { required: number | null; available: number | null }) =>
      `The hiring platform has ${available ?? 'too few'} onboarding credits left, ` +
      `and an enrolment needs ${required ?? 'more'}.`,
    asks:
      'Top them up in its dashboard. One enrolment is tried by itself from time to time, ' +
      'or at once with the answer retry; the others follow.',
  },
  REQUISITION_UNKNOWN: {
    scope: 'tenant',
    answers: ['link-job', 'create-job', 'dismiss', 'retry'],
    what: ({ requisitionId, jobIds }: { requisitionId: string; jobIds: string[] }) =>
      `A job for requisition ${requisitionId} was asked for, and no answer came. The list of jobs does not show ` +
      `whether one was made${jobIds.length === 0 ? '' : `; it may be ${jobIds.join(' or ')}`}.`,
    asks:
      'Look in the hiring platform. Answer link-job <jobId> if it is there, create-job if it is not, dismiss if no ' +
      'job is wanted, or retry to look again.',
  },
  FIELD_CONFLICTS: conflicts,
  POSITION_CONFLICTS: conflicts,
  AMENDMENTS: {
    scope: 'tenant',
    answers: ['apply', 'keep'],
    what: ({ stream, count }: { stream: string; count: number }) =>
      `${count} fields of people who are employed already were changed in the hiring platform (stream ${stream}).`,
    asks:
      'List them with: hirebridge conflicts TENANT. Answer apply to change the employees, or keep to leave them as ' +
      'they are, for all of them or with the ids of some; the next run does it.',
  },
  HIRES_NOT_RESTORED: {
    scope: 'tenant',
    answers: ['dismiss'],
    what: ({ jobCandidateIds }: { jobCandidateIds: string[] }) =>
      'The store was restored from a backup. It does not know the hires of job candidates ' +
      `${jobCandidateIds.join(', ')}, and the hiring platform does not show these applications any more.`,
    asks:
      'Look in the HR system whether employees were made for them, and end there what is not wanted. ' +
      'Then answer dismiss.',
  },
  REBUILT_BASELINE: {
    scope: 'tenant',
    answers: ['adopt', 'dismiss', 'retry'],
    what: ({ jobCandidateIds }: { jobCandidateIds: string[] }) =>
      'The partner or the HR system carries references that this store does not know: the store was rebuilt. ' +
      'Hires with a reference were taken up again; ' +
      `${jobCandidateIds.length} other hired people were recorded as before go-live.`,
    asks:
      'Answer adopt <jobCandidateId...> for those that were work in progress, dismiss if nobody was, ' +
      'or retry to see which of them still wait.',
  },
} as const satisfies Record<string, HoldEntry>;
