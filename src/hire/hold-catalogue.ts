import type { Answer } from './answers.ts';
import { type HireRef, nameHire } from './hire.ts';

/** One reason to ask a person. `what` and `asks` form the message and hold only ids, codes and field names. */
export interface HoldEntry {
  /** Whether the hold belongs to one hire or to the whole tenant. */
  scope: 'hire' | 'tenant';
  answers: readonly Answer[];
  what: (about: never) => string;
  /**
   * Message shown at the candidate instead of `what`, if `what` names another person, their records, or text from
   * outside.
   */
  told?: (about: never) => string;
  /** What the person should look at, and what each answer means. */
  asks: string;
}

interface OfHire {
  jobCandidateId: string;
}

interface RefusedEnd {
  onboardingCandidateIds: string[];
  refusal: string;
  said: string;
}

interface Misfit {
  onboardingCandidateId: string;
  misfit: string;
}

interface Ambiguity {
  reason: string;
  keys: string[];
  employeeIds: string[];
}

interface Refused {
  onboardingCandidateId: string;
  refusal: string;
  status: string | null;
}

/** Both sides changed the same fields, and the mapping says that a person decides. */
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
  INVITATION_CREDITS: {
    scope: 'tenant',
    answers: ['retry'],
    what: ({ assessmentId }: { assessmentId: string }) =>
      `The hiring platform has no credits for invitations to assessment ${assessmentId}.`,
    asks:
      'Top them up in its dashboard. One invitation is tried by itself from time to time; after the answer retry ' +
      'the next run invites everybody who waits.',
  },
  LEAD_CREDITS: {
    scope: 'tenant',
    answers: ['retry'],
    what: ({ jobId }: { jobId: string }) => `The hiring platform has no credits for new candidates of job ${jobId}.`,
    asks:
      'Top them up in its dashboard. One lead is tried by itself from time to time; after the answer retry the next ' +
      'run takes everybody who waits.',
  },
  RESUME_CREDITS: {
    scope: 'tenant',
    answers: ['retry'],
    what: ({ jobId }: { jobId: string }) => `The hiring platform has no credits to read resumes for job ${jobId}.`,
    asks:
      'Top them up in its dashboard. One resume is sent by itself from time to time; after the answer retry the next ' +
      'run sends all that wait.',
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
  ACCOUNT_UNCLEAR: {
    scope: 'tenant',
    answers: ['link', 'create', 'retry', 'dismiss'],
    what: ({ jobCandidateId, destination, keys, employeeIds }: OfHire & Ambiguity & { destination: string }) =>
      `Whether job candidate ${jobCandidateId} has an account in destination "${destination}" is not certain (${
        employeeIds.length === 0 ? 'it cannot prove that there is none' : `${foundBy(keys)}: ${employeeIds.join(', ')}`
      }).`,
    asks:
      'Look there. Answer link <id> if one is theirs, create if none is, retry to look again, or dismiss if no ' +
      'account is wanted. The next run of the stream accounts does it.',
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
      'The store was restored from a backup, or is new. It does not know the hires of job candidates ' +
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

/** A name is not an identifying key, so the message explains why it leads to a question. */
function foundBy(keys: readonly string[]): string {
  return keys.join() === 'name' ? 'the same name, and no birth date to compare' : `found by ${keys.join(', ')}`;
}

const onboardingEnded = {
  scope: 'hire',
  answers: ['retry', 're-enrol', 'create-anyway', 'cancel'],
  what: ({ jobCandidateId, status }: OfHire & { status: string }) =>
    `The onboarding of job candidate ${jobCandidateId} is ${status}.`,
  asks:
    'Answer re-enrol (costs one more credit), create-anyway (makes the employee all the same), cancel, ' +
    'or retry to look again.',
} as const satisfies HoldEntry;

/** Every hold that hirebridge opens itself; a refusal from outside becomes a hold through `refusalHold`. */
export const holdCatalogue = {
  ENROLMENT_UNKNOWN: {
    scope: 'hire',
    answers: ['adopt', 'retry', 'skip-onboarding', 'cancel'],
    what: ({ jobCandidateId, reference }: OfHire & { reference: string }) =>
      `An enrolment of job candidate ${jobCandidateId} left under reference ${reference}, and no answer came.`,
    asks: 'Look for the reference in the hiring platform: answer adopt <onboardingCandidateId> if it is there.',
  },
  ENROLLED_ELSEWHERE: {
    scope: 'hire',
    answers: ['adopt', 'retry', 'skip-onboarding', 'cancel'],
    what: ({ jobCandidateId }: OfHire) =>
      `Job candidate ${jobCandidateId} already has an active enrolment in this flow, and this hire's reference does ` +
      'not tell which one it is.',
    asks:
      'It may be of an earlier hire, or of another person with the same e-mail. Answer adopt <onboardingCandidateId> ' +
      'if it belongs to this hire.',
  },
  ENROLMENT_COMPLETED_ELSEWHERE: {
    scope: 'hire',
    answers: ['adopt', 're-enrol', 'retry', 'skip-onboarding', 'cancel'],
    what: ({ jobCandidateId, onboardingCandidateIds }: OfHire & { onboardingCandidateIds: string[] }) =>
      `Somebody with the e-mail of job candidate ${jobCandidateId} has completed this flow already, in enrolment ` +
      `${onboardingCandidateIds.join(', ')}, which hirebridge did not make.`,
    told: ({ jobCandidateId }: OfHire) =>
      `Somebody with the e-mail of job candidate ${jobCandidateId} has completed this flow already.`,
    asks:
      'Answer adopt <onboardingCandidateId> if that was for this hire, or re-enrol if it was for an earlier ' +
      'employment or another person (costs one credit).',
  },
  ADOPT_NOT_FOUND: {
    scope: 'hire',
    answers: ['adopt', 'retry', 'skip-onboarding', 'cancel'],
    what: ({ onboardingCandidateId }: { onboardingCandidateId: string }) =>
      `There is no enrolment ${onboardingCandidateId} in the hiring platform.`,
    told: () => 'The enrolment that was named is not in the hiring platform.',
    asks: 'Answer adopt with the id of the right one.',
  },
  ADOPT_MISFIT: {
    scope: 'hire',
    answers: ['adopt', 'retry', 'skip-onboarding', 'cancel'],
    what: ({ jobCandidateId, onboardingCandidateId, misfit }: OfHire & Misfit) =>
      `Enrolment ${onboardingCandidateId} cannot be the one of job candidate ${jobCandidateId}: it ${misfit}.`,
    told: ({ jobCandidateId }: OfHire) =>
      `The enrolment that was named cannot be the one of job candidate ${jobCandidateId}.`,
    asks: 'Answer adopt with the id of the right one; or correct it in the hiring platform, then answer retry.',
  },
  ADOPT_OTHER_EMAIL: {
    scope: 'hire',
    answers: ['adopt', 'adopt-anyway', 'retry', 'skip-onboarding', 'cancel'],
    what: ({ jobCandidateId, onboardingCandidateId }: OfHire & { onboardingCandidateId: string }) =>
      `Enrolment ${onboardingCandidateId} has another e-mail than job candidate ${jobCandidateId}.`,
    told: ({ jobCandidateId }: OfHire) =>
      `The enrolment that was named has another e-mail than job candidate ${jobCandidateId}.`,
    asks:
      'Compare the two people in the hiring platform: answer adopt-anyway if they are the same person, ' +
      'or adopt <onboardingCandidateId> with the id of the right one.',
  },
  ENROLMENT_GONE: {
    ...onboardingEnded,
    what: ({ jobCandidateId, onboardingCandidateId }: OfHire & { onboardingCandidateId: string }) =>
      `The hiring platform no longer shows enrolment ${onboardingCandidateId} of job candidate ${jobCandidateId}.`,
  },
  ONBOARDING_REJECTED: onboardingEnded,
  ONBOARDING_FAILED: onboardingEnded,
  ONBOARDING_TERMINATED: onboardingEnded,
  ONBOARDING_DEADLINE: {
    ...onboardingEnded,
    what: ({ jobCandidateId }: OfHire) =>
      `The onboarding of job candidate ${jobCandidateId} was not ready before the tenant's deadline.`,
  },
  JOB_LEFT_SCOPE: {
    scope: 'hire',
    answers: ['retry', 'take-anyway', 'cancel'],
    what: ({ jobCandidateId, jobId }: OfHire & { jobId: string }) =>
      `Job ${jobId} of job candidate ${jobCandidateId} is no longer among those that this tenant takes.`,
    asks:
      'Answer take-anyway to finish this hire here, retry once job or scope is corrected, or cancel to end it; ' +
      'the tenant that takes the job then starts it with: hirebridge hire start TENANT JOB_CANDIDATE_ID --adopt',
  },
  JOB_NOT_SHOWN: {
    scope: 'hire',
    answers: ['retry', 'job-as-known', 'cancel'],
    what: ({ jobCandidateId, jobId }: OfHire & { jobId: string }) =>
      `The hiring platform no longer lists job ${jobId} of job candidate ${jobCandidateId}, ` +
      'and the employee is made of what it says (title, department).',
    asks:
      'Answer retry once it is listed again, job-as-known to take the job as it was listed last, ' +
      'or cancel to end the hire.',
  },
  START_DATE_PAST: {
    scope: 'hire',
    answers: ['retry', 'start-in-past', 'cancel'],
    what: ({ jobCandidateId, source, days }: OfHire & { source: string; days: number }) =>
      `The start date of job candidate ${jobCandidateId}, read from ${source}, is more than ${days} days ago.`,
    asks:
      'Correct it in the hiring platform, or name the right field in the mapping, then answer retry; ' +
      'or answer start-in-past if the employee began then.',
  },
  PERSON_HIRED_BEFORE: {
    scope: 'hire',
    answers: ['same-employee', 'transfer', 'new-employment', 'retry', 'cancel'],
    what: ({ jobCandidateId, other }: OfHire & { other: HireRef }) =>
      `The person of job candidate ${jobCandidateId} is already hired as ${nameHire(other)}.`,
    told: ({ jobCandidateId }: OfHire) => `The person of job candidate ${jobCandidateId} is already hired.`,
    asks:
      'Answer same-employee (nothing new is made), transfer (the employee takes the new job), ' +
      'or new-employment (a second employee record).',
  },
  PERSON_RECORDED: {
    scope: 'hire',
    answers: ['link', 'new-employment', 'retry', 'cancel'],
    what: ({ jobCandidateId, other }: OfHire & { other: HireRef }) =>
      `The person of job candidate ${jobCandidateId} was hired without hirebridge before, as ${nameHire(other)}, ` +
      'and may be an employee already.',
    told: ({ jobCandidateId }: OfHire) =>
      `The person of job candidate ${jobCandidateId} was hired before, and may be an employee already.`,
    asks:
      'Look in the HR system: answer link <employeeId> if the person is there (nothing new is made), ' +
      'new-employment if a new employee record is to be made, or cancel to end this hire.',
  },
  PERSON_BEING_HIRED: {
    scope: 'hire',
    answers: ['retry', 'cancel'],
    what: ({ jobCandidateId, other }: OfHire & { other: HireRef }) =>
      `The person of job candidate ${jobCandidateId} is also ${nameHire(other)}, whose hire has no employee yet.`,
    told: ({ jobCandidateId }: OfHire) =>
      `The person of job candidate ${jobCandidateId} is also being hired by another application.`,
    asks: 'Finish or cancel that hire, then answer retry.',
  },
  PERSON_HIRED_ELSEWHERE: {
    scope: 'hire',
    answers: ['here-too', 'retry', 'cancel'],
    what: ({ jobCandidateId, other }: OfHire & { other: HireRef }) =>
      `The person of job candidate ${jobCandidateId} is also ${nameHire(other)}, ` +
      'whose tenant is of the same company and has another HR system.',
    told: ({ jobCandidateId }: OfHire) =>
      `The person of job candidate ${jobCandidateId} is also being hired into another HR system of the company.`,
    asks:
      'Answer here-too to have an employee in both HR systems, cancel to have none here, ' +
      'or retry once the other hire has ended.',
  },
  MAPPING_INCOMPLETE: {
    scope: 'hire',
    answers: ['retry', 'cancel'],
    what: ({ jobCandidateId, problems }: OfHire & { problems: string; fields: Record<string, string> }) =>
      `Job candidate ${jobCandidateId} lacks what the HR system needs. ${problems}`,
    told: ({ jobCandidateId, fields }: OfHire & { fields: Record<string, string> }) =>
      `Job candidate ${jobCandidateId} lacks what the HR system needs: ${Object.keys(fields).join(', ')}.`,
    asks: 'Then answer retry.',
  },
  NAMES_USED_UP: {
    scope: 'hire',
    answers: ['retry', 'cancel'],
    what: ({ jobCandidateId, fields, most }: OfHire & { fields: string[]; most: number }) =>
      `Each of the ${most} names that the mapping has for job candidate ${jobCandidateId} is taken ` +
      `(${fields.join(', ')}).`,
    asks: 'Free one in the HR system, or let the rule in the mapping say more of the person; then answer retry.',
  },
  IDENTITY_AMBIGUOUS: {
    scope: 'hire',
    answers: ['link', 'create', 'retry', 'cancel'],
    what: ({ jobCandidateId, reason, keys, employeeIds }: OfHire & Ambiguity) =>
      `Whether job candidate ${jobCandidateId} is an employee already is not certain (${reason}; ${
        employeeIds.length === 0
          ? 'the HR system cannot prove that there is none'
          : `${foundBy(keys)}: ${employeeIds.join(', ')}`
      }).`,
    told: ({ jobCandidateId }: OfHire) =>
      `Whether job candidate ${jobCandidateId} is an employee already is not certain.`,
    asks: 'Answer link <employeeId> if one of them is this person, or create if none is.',
  },
  EMPLOYEE_TOLD: {
    scope: 'hire',
    answers: ['link', 'create', 'retry', 'keep'],
    what: ({ jobCandidateId, told }: OfHire & { told: string }) =>
      `The hiring platform shows Employee ID ${told} for job candidate ${jobCandidateId}, so an employee was made ` +
      'before; the HR system shows none with our reference.',
    asks:
      'Look there: answer link <employeeId> if the record was merged into another one or lost the reference, create ' +
      'if it was deleted and another employee is wanted, or keep to end the hire as it is.',
  },
  EMPLOYEE_OF_ANOTHER: {
    scope: 'hire',
    answers: ['same-person', 'retry', 'link', 'create', 'cancel'],
    what: ({ jobCandidateId, employeeIds, other }: OfHire & { employeeIds: [string]; other: HireRef }) =>
      `Employee ${employeeIds[0]} fits job candidate ${jobCandidateId} ` +
      `and is linked to ${nameHire(other)}, another candidate of the hiring platform.`,
    told: ({ jobCandidateId }: OfHire) =>
      `The employee who fits job candidate ${jobCandidateId} is linked to another candidate.`,
    asks:
      'Answer same-person if both candidates are one human (the employee is linked to this one from then on); ' +
      'correct the record in the HR system, then answer retry; answer link <employeeId> with the right one, ' +
      'or create to make another employee.',
  },
  FORMER_EMPLOYEE: {
    scope: 'hire',
    answers: ['create', 'retry', 'cancel'],
    what: ({ jobCandidateId, employeeIds }: OfHire & { employeeIds: [string] }) =>
      `Job candidate ${jobCandidateId} is former employee ${employeeIds[0]}, ` +
      'and hirebridge cannot rehire people in this HR system.',
    asks: 'Rehire the person there, then answer retry; or answer create to make another employee.',
  },
  LINK_NOT_FOUND: {
    scope: 'hire',
    answers: ['link', 'create', 'retry', 'cancel'],
    what: ({ jobCandidateId, employeeId }: OfHire & { employeeId: string }) =>
      `The HR system has no employee ${employeeId} to link to job candidate ${jobCandidateId}.`,
    told: ({ jobCandidateId }: OfHire) =>
      `The HR system does not have the employee who was named for job candidate ${jobCandidateId}.`,
    asks: 'Answer link with the id of the right one.',
  },
  CREATE_UNKNOWN: {
    scope: 'hire',
    answers: ['link', 'create', 'retry', 'cancel'],
    what: ({ jobCandidateId, employeeIds }: OfHire & { attempt: number; employeeIds: string[] }) =>
      `A create for job candidate ${jobCandidateId} left, no answer came, ` +
      `and the HR system cannot show whether it worked.${
        employeeIds.length === 0 ? '' : ` It shows ${employeeIds.join(', ')}, by the e-mail or the name.`
      }`,
    told: ({ jobCandidateId }: OfHire) =>
      `Whether an employee was made for job candidate ${jobCandidateId} is not known.`,
    asks: 'Look there: answer link <employeeId> if the employee exists, create if not.',
  },
  EMPLOYEE_PENDING: {
    scope: 'hire',
    answers: ['retry', 'link', 'cancel'],
    what: ({ jobCandidateId, ticket, days }: OfHire & { ticket: string; days: number }) =>
      `The HR system took the request for job candidate ${jobCandidateId} (${ticket}) ${days} days ago ` +
      'and has not said what became of it.',
    asks:
      'Ask whoever finishes it there. Answer link <employeeId> if the employee exists, retry to wait as long again, ' +
      'or cancel once the request is withdrawn there.',
  },
  EMPLOYEE_GONE: {
    scope: 'hire',
    answers: ['link', 'retry', 'keep'],
    what: ({ jobCandidateId, employeeId, other }: OfHire & { employeeId: string; other?: HireRef }) =>
      other === undefined
        ? `The HR system does not show employee ${employeeId} of job candidate ${jobCandidateId} any more, ` +
          'so the hiring platform was not told the Employee ID.'
        : `Employee ${employeeId}, named for job candidate ${jobCandidateId}, is linked to ${nameHire(other)}, ` +
          'another person.',
    told: ({ jobCandidateId }: OfHire) =>
      `The HR system does not show the employee of job candidate ${jobCandidateId}.`,
    asks:
      'Look there: answer link <employeeId> if the record was merged into another one or made anew, ' +
      'retry if it is back, or keep to end the hire as it is.',
  },
  WRITE_BACK_TARGET_MISSING: {
    scope: 'hire',
    answers: ['retry', 'keep'],
    what: ({ jobCandidateId }: OfHire) =>
      `Job candidate ${jobCandidateId} has no enrolment, and the tenant names no custom field for the Employee ID.`,
    asks:
      'Set writeBack.customField in the tenant file, restart the worker, then answer retry; ' +
      'or keep to end the hire as it is.',
  },
  WRITE_BACK_REFUSED: {
    scope: 'hire',
    answers: ['retry', 'keep'],
    what: ({ onboardingCandidateId, refusal, status }: Refused) =>
      `The hiring platform refuses the Employee ID on enrolment ${onboardingCandidateId} ` +
      `(${refusal}, ${status ?? 'status unknown'}).`,
    asks:
      'Set writeBack.customField in the tenant file as the place for it, restart the worker, then answer retry; ' +
      'or keep to end the hire as it is.',
  },
  WRITE_BACK_NOT_VERIFIED: {
    scope: 'hire',
    answers: ['retry', 'keep'],
    what: ({ jobCandidateId, targets }: OfHire & { targets: string[] }) =>
      `The hiring platform accepted what was written back for job candidate ${jobCandidateId} ` +
      `and does not show it (${targets.join(', ')}).`,
    asks: 'Look there, then answer retry; or keep to end the hire as it is.',
  },
  TOO_MANY_CANCELLATIONS: {
    scope: 'hire',
    answers: ['cancel', 'retry'],
    what: ({ jobCandidateId, most }: OfHire & { most: number }) =>
      `Job candidate ${jobCandidateId} left the hiring stage, ` +
      `and ${most} hires of this tenant already ended that way within the hour.`,
    asks: 'Check that the move is meant, then answer cancel; or retry if the person is back.',
  },
  TERMINATE_REFUSED: {
    scope: 'hire',
    answers: ['retry', 'keep'],
    what: ({ jobCandidateId, onboardingCandidateIds, said }: OfHire & RefusedEnd) =>
      `The hiring platform does not end enrolment ${onboardingCandidateIds.join(', ')} of job candidate ` +
      `${jobCandidateId}. ${said}`,
    told: ({ jobCandidateId }: OfHire) =>
      `The hiring platform does not end an enrolment of job candidate ${jobCandidateId}.`,
    asks: 'End it there, then answer retry; or keep to end the hire and leave the enrolment as it is.',
  },
  LEFT_AFTER_EMPLOYEE: {
    scope: 'hire',
    answers: ['keep', 'left', 'retry'],
    what: ({ jobCandidateId, employeeId }: OfHire & { employeeId: string }) =>
      `Job candidate ${jobCandidateId} left the hiring stage after employee ${employeeId} was made. ` +
      'Nothing is undone by itself.',
    asks: 'End the employment in the HR system if the move is meant, then answer left; or keep if the employee stays.',
  },
  LEFT_BEFORE_START: {
    scope: 'hire',
    answers: ['no-show', 'moved', 'keep', 'retry'],
    what: ({ jobCandidateId, employeeId, daysSince }: OfHire & { employeeId: string; daysSince?: number }) =>
      `Job candidate ${jobCandidateId} left the hiring stage ` +
      `${daysSince === undefined ? 'before' : `${daysSince} days after`} the first day of employee ${employeeId}.`,
    asks:
      'Answer no-show to end the employment, moved if the person takes another job of this tenant (the next hire of ' +
      'theirs takes over the employee), keep to leave everything as it is, or retry to look again.',
  },
  LEFT_WHILE_PENDING: {
    scope: 'hire',
    answers: ['cancel', 'link', 'retry'],
    what: ({ jobCandidateId }: OfHire) =>
      `Job candidate ${jobCandidateId} left the hiring stage while the HR system may still make the employee.`,
    asks:
      'Withdraw it there, then answer cancel, also where nothing waits there any more; or answer link <employeeId> ' +
      'if the employee exists by now, or retry to look again. An employee that is made meanwhile is found by itself.',
  },
  EMPLOYMENT_NOT_ENDED: {
    scope: 'hire',
    answers: ['ended', 'retry', 'keep'],
    what: ({ jobCandidateId, employeeId, said }: OfHire & { employeeId: string; said: string }) =>
      `The employment of employee ${employeeId}, made for job candidate ${jobCandidateId}, was not ended. ${said}`,
    told: ({ jobCandidateId }: OfHire) => `The employment made for job candidate ${jobCandidateId} was not ended.`,
    asks: 'End it in the HR system, then answer ended; or keep if the employee stays.',
  },
  ...tenantHolds,
} as const satisfies Record<string, HoldEntry>;
