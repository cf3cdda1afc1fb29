import { count } from '../in-words.ts';
import type { HoldEntry } from './answers.ts';
import { type HireRef, nameHire } from './hire.ts';

type OfHire = Pick<HireRef, 'jobCandidateId'>;
type Unsure = OfHire & { attempt: number; employeeIds: string[] };
type Gone = OfHire & { employeeId: string; other?: HireRef; isChanged?: boolean };
type RefusedEnd = OfHire & { onboardingCandidateIds: string[]; refusal: string; said: string };
type Ambiguity = OfHire & { reason: string; keys: string[]; employeeIds: string[] };
type Refused = { onboardingCandidateId: string; refusal: string; status: string | null };
type Misfit = OfHire & { onboardingCandidateId: string; misfit: string };
type Named = OfHire & { employeeId: string; employeeIds?: string[]; isChanged?: boolean };

/** Both sides changed the same fields, and the mapping says that a person decides. */
const conflicts = {
  scope: 'tenant',
  answers: ['keep-partner', 'keep-hris'],
  what: ({ stream, count: fields }: { stream: string; count: number }) =>
    `Both sides changed ${count(fields, 'field')} of stream ${stream}, and the mapping lets a person decide.`,
  asks:
    'List them with: hirebridge conflicts TENANT. Answer keep-partner or keep-hris for all of them, or add the ' +
    'ids of some; the next run writes the kept value to the other side.',
} as const satisfies HoldEntry;

const noCredits = { scope: 'tenant', answers: ['retry'] } as const;

/** Holds of a whole tenant. */
export const tenantHolds = {
  CREDITS_USED_UP: {
    ...noCredits,
    what: ({ required, available }: { required: number | null; available: number | null }) =>
      `The hiring platform has ${available ?? 'too few'} onboarding credits left, ` +
      `and an enrolment needs ${required ?? 'more'}.`,
    asks:
      'Top them up in its dashboard. hirebridge tries one enrolment from time to time, or at once after the ' +
      'answer retry; the others follow.',
  },
  INVITATION_CREDITS: {
    ...noCredits,
    what: ({ assessmentId }: { assessmentId: string }) =>
      `The hiring platform has no credits for invitations to assessment ${assessmentId}.`,
    asks:
      'Top them up in its dashboard. hirebridge tries one invitation from time to time; after the answer retry, ' +
      'the next run invites everybody who is waiting.',
  },
  LEAD_CREDITS: {
    ...noCredits,
    what: ({ jobId }: { jobId: string }) => `The hiring platform has no credits for new candidates of job ${jobId}.`,
    asks:
      'Top them up in its dashboard. hirebridge tries one lead from time to time; after the answer retry, the ' +
      'next run adds everybody who is waiting.',
  },
  RESUME_CREDITS: {
    ...noCredits,
    what: ({ jobId }: { jobId: string }) => `The hiring platform has no credits to read resumes for job ${jobId}.`,
    asks:
      'Top them up in its dashboard. hirebridge sends one resume from time to time; after the answer retry, the ' +
      'next run sends all that are waiting.',
  },
  REQUISITION_UNKNOWN: {
    scope: 'tenant',
    answers: ['link-job', 'create-job', 'dismiss', 'retry'],
    what: ({ requisitionId, jobIds }: { requisitionId: string; jobIds: string[] }) =>
      `hirebridge asked for a job for requisition ${requisitionId} and got no answer. The list of jobs does not ` +
      `show whether one was created${jobIds.length === 0 ? '' : `; it may be ${jobIds.join(' or ')}`}.`,
    asks:
      'Look in the hiring platform. Answer link-job <jobId> if it is there, create-job if it is not, dismiss if no ' +
      'job is wanted, or retry to look again.',
  },
  ACCOUNT_UNCLEAR: {
    scope: 'tenant',
    answers: ['link', 'create', 'retry', 'dismiss'],
    what: ({ jobCandidateId, destination, keys, employeeIds }: Ambiguity & { destination: string }) =>
      `It is not certain whether job candidate ${jobCandidateId} has an account in destination "${destination}" ` +
      `(${foundBy(keys, employeeIds, 'account')}).`,
    asks:
      'Look there. Answer link <id> if one is theirs, create if none is, retry to look again, or dismiss if no ' +
      'account is wanted. The next run of the stream accounts carries it out.',
  },
  ACCOUNT_OTHER_NAME: {
    scope: 'tenant',
    answers: ['link', 'link-anyway', 'create', 'retry', 'dismiss'],
    what: ({ jobCandidateId, destination, employeeId }: Named & { destination: string }) =>
      `Account ${employeeId} in destination "${destination}" has another name than job candidate ${jobCandidateId}.`,
    asks:
      'Compare the two: answer link-anyway if they are the same person, link <id> with the right account, create if ' +
      'there is none, or dismiss if none is wanted. The next run of the stream accounts carries it out.',
  },
  FIELD_CONFLICTS: conflicts,
  POSITION_CONFLICTS: conflicts,
  AMENDMENTS: {
    scope: 'tenant',
    answers: ['apply', 'keep'],
    what: ({ stream, count: fields }: { stream: string; count: number }) =>
      `The hiring platform changed ${count(fields, 'field')} of people who are already employed (stream ${stream}).`,
    asks:
      'List them with: hirebridge conflicts TENANT. Answer apply to change the employees or keep to leave them ' +
      'as they are, for all of them, or add the ids of some; the next run carries it out.',
  },
  HIRES_NOT_RESTORED: {
    scope: 'tenant',
    answers: ['dismiss'],
    what: ({ jobCandidateIds }: { jobCandidateIds: string[] }) =>
      'The store was restored from a backup, or is new. It does not know the hires of job candidates ' +
      `${jobCandidateIds.join(', ')}, and the hiring platform no longer shows these applications.`,
    asks:
      'Check in the HR system whether employees were created for them, and end the unwanted ones there. Then ' +
      'answer dismiss.',
  },
  REBUILT_BASELINE: {
    scope: 'tenant',
    answers: ['adopt', 'dismiss', 'retry'],
    what: ({ jobCandidateIds }: { jobCandidateIds: string[] }) =>
      'The hiring platform or the HR system holds references that this store does not know: the store was ' +
      `rebuilt. Hires with a reference were resumed; ${jobCandidateIds.length} other hired people were recorded ` +
      'as hired before go-live.',
    asks:
      'Answer adopt <jobCandidateId...> for those whose hire was in progress, dismiss if there were none, or ' +
      'retry to see which of them are still waiting.',
  },
} as const satisfies Record<string, HoldEntry>;

/** A name is not an identifying key, so the message explains why it leads to a question. */
function foundBy(keys: readonly string[], ids: readonly string[], record: 'account' | 'employee'): string {
  if (ids.length === 0) return `${record === 'account' ? 'it' : 'the HR system'} cannot prove that there is none`;
  const who = `${record}${ids.length === 1 ? '' : 's'} ${ids.join(', ')}`;
  if (keys.join() !== 'name') return `found by ${keys.join(', ')}: ${who}`;
  return `the same name as ${who}, and no birth date to compare`;
}

const onboardingEnded = {
  scope: 'hire',
  answers: ['retry', 're-enrol', 'create-anyway', 'cancel'],
  what: ({ jobCandidateId, status }: OfHire & { status: string }) =>
    `The onboarding of job candidate ${jobCandidateId} is ${status}.`,
  asks:
    'Answer re-enrol (costs another credit), create-anyway (creates the employee regardless), cancel, or retry ' +
    'to look again.',
} as const satisfies HoldEntry;

/** A person named the employee by an id that no question showed, and nothing else says that it is the right one. */
const otherName = {
  scope: 'hire',
  answers: ['link', 'link-anyway', 'create', 'retry', 'cancel'],
  what: ({ jobCandidateId, employeeId }: Named) =>
    `The name of employee ${employeeId} differs from that of job candidate ${jobCandidateId}.`,
  told: ({ jobCandidateId }: Named) =>
    `The name of the employee who was named for job candidate ${jobCandidateId} differs.`,
  asks: 'Compare the two: answer link-anyway if they are the same person, or link <employeeId> with the right one.',
} as const satisfies HoldEntry;

/** Every hold that hirebridge opens itself; a refusal from outside becomes a hold through `refusalHold`. */
export const holdCatalogue = {
  ENROLMENT_UNKNOWN: {
    scope: 'hire',
    answers: ['adopt', 'retry', 'skip-onboarding', 'cancel'],
    what: ({ jobCandidateId, reference }: OfHire & { reference: string }) =>
      `hirebridge sent an enrolment of job candidate ${jobCandidateId} under reference ${reference} and got no ` +
      'answer.',
    asks:
      'Look for the reference in the hiring platform: answer adopt <onboardingCandidateId> if it is there, or ' +
      'retry to look again.',
  },
  ENROLLED_ELSEWHERE: {
    scope: 'hire',
    answers: ['adopt', 'retry', 'skip-onboarding', 'cancel'],
    what: ({ jobCandidateId }: OfHire) =>
      `Job candidate ${jobCandidateId} already has an active enrolment in this flow, and this hire's reference does ` +
      'not tell which one it is.',
    asks:
      'It may belong to an earlier hire, or to another person with the same e-mail. Answer adopt ' +
      '<onboardingCandidateId> if it belongs to this hire.',
  },
  ENROLMENT_COMPLETED_ELSEWHERE: {
    scope: 'hire',
    answers: ['adopt', 're-enrol', 'retry', 'skip-onboarding', 'cancel'],
    what: ({ jobCandidateId, onboardingCandidateIds }: OfHire & { onboardingCandidateIds: string[] }) =>
      `Somebody with the e-mail of job candidate ${jobCandidateId} has already completed this flow, in enrolment ` +
      `${onboardingCandidateIds.join(', ')}, which hirebridge did not create.`,
    told: ({ jobCandidateId }: OfHire) =>
      `Somebody with the e-mail of job candidate ${jobCandidateId} has already completed this flow.`,
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
    what: ({ jobCandidateId, onboardingCandidateId, misfit }: Misfit) =>
      `Enrolment ${onboardingCandidateId} cannot belong to job candidate ${jobCandidateId}: it ${misfit}.`,
    told: ({ jobCandidateId }: OfHire) =>
      `The enrolment that was named cannot belong to job candidate ${jobCandidateId}.`,
    asks: 'Answer adopt with the id of the right one; or correct it in the hiring platform, then answer retry.',
  },
  ADOPT_OTHER_EMAIL: {
    scope: 'hire',
    answers: ['adopt', 'adopt-anyway', 'retry', 'skip-onboarding', 'cancel'],
    what: ({ jobCandidateId, onboardingCandidateId }: OfHire & { onboardingCandidateId: string }) =>
      `The e-mail of enrolment ${onboardingCandidateId} differs from that of job candidate ${jobCandidateId}.`,
    told: ({ jobCandidateId }: OfHire) =>
      `The e-mail of the enrolment that was named differs from that of job candidate ${jobCandidateId}.`,
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
      `Job ${jobId} of job candidate ${jobCandidateId} is no longer in this tenant's scope.`,
    asks:
      'Answer take-anyway to finish this hire here, retry once the job or the scope is corrected, or cancel to ' +
      'end it; the tenant whose scope has the job then starts it with: hirebridge hire start TENANT ' +
      'JOB_CANDIDATE_ID --adopt',
  },
  JOB_NOT_SHOWN: {
    scope: 'hire',
    answers: ['retry', 'job-as-known', 'cancel'],
    what: ({ jobCandidateId, jobId }: OfHire & { jobId: string }) =>
      `The hiring platform no longer lists job ${jobId} of job candidate ${jobCandidateId}, and the employee ` +
      'needs its data (title, department).',
    asks: 'Answer retry once it is listed again, job-as-known to use its last known data, or cancel to end the hire.',
  },
  START_DATE_PAST: {
    scope: 'hire',
    answers: ['retry', 'start-in-past', 'cancel'],
    what: ({ jobCandidateId, source, days }: OfHire & { source: string; days: number }) =>
      `The start date of job candidate ${jobCandidateId}, read from ${source}, is more than ${days} days ago.`,
    asks:
      'Correct it in the hiring platform, or name the right field in the mapping, then answer retry; or answer ' +
      'start-in-past if the date is right.',
  },
  PERSON_HIRED_BEFORE: {
    scope: 'hire',
    answers: ['same-employee', 'transfer', 'new-employment', 'retry', 'cancel'],
    what: ({ jobCandidateId, other }: OfHire & { other: HireRef }) =>
      `The person of job candidate ${jobCandidateId} is already hired as ${nameHire(other)}.`,
    told: ({ jobCandidateId }: OfHire) => `The person of job candidate ${jobCandidateId} is already hired.`,
    asks:
      'Answer same-employee (creates nothing), transfer (gives the employee the new job), or new-employment ' +
      '(creates a second employee record).',
  },
  PERSON_RECORDED: {
    scope: 'hire',
    answers: ['link', 'new-employment', 'retry', 'cancel'],
    what: ({ jobCandidateId, other }: OfHire & { other: HireRef }) =>
      `The person of job candidate ${jobCandidateId} was hired before as ${nameHire(other)}, without hirebridge or ` +
      'with an unknown outcome, and may be an employee already.',
    told: ({ jobCandidateId }: OfHire) =>
      `The person of job candidate ${jobCandidateId} was hired before, and may be an employee already.`,
    asks:
      'Look in the HR system: answer link <employeeId> if the person is there (creates nothing), new-employment ' +
      'to create a new employee record, or cancel to end this hire.',
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
    what: ({ jobCandidateId, other }: OfHire & { other: HireRef & { how?: string } }) =>
      `The person of job candidate ${jobCandidateId} is also ${nameHire(other)}, whose tenant belongs to the same ` +
      'company but has another HR system.' +
      (other.how === undefined ? '' : ' That hire ended, but may have created an employee there: look there first.'),
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
    asks: 'Once that is done, answer retry; a changed mapping counts after `hirebridge tenant apply`.',
  },
  NAMES_USED_UP: {
    scope: 'hire',
    answers: ['retry', 'cancel'],
    what: ({ jobCandidateId, fields, most }: OfHire & { fields: string[]; most: number }) =>
      `All ${most} names that the mapping allows for job candidate ${jobCandidateId} are taken ` +
      `(${fields.join(', ')}).`,
    asks: "Free one in the HR system, or use more of the person's data in the mapping rule; then answer retry.",
  },
  IDENTITY_AMBIGUOUS: {
    scope: 'hire',
    answers: ['link', 'create', 'retry', 'cancel'],
    what: ({ jobCandidateId, keys, employeeIds }: Ambiguity) =>
      `It is not certain whether job candidate ${jobCandidateId} is already an employee ` +
      `(${foundBy(keys, employeeIds, 'employee')}).`,
    told: ({ jobCandidateId }: OfHire) =>
      `It is not certain whether job candidate ${jobCandidateId} is already an employee.`,
    asks: 'Answer link <employeeId> if one of them is this person, or create if none is.',
  },
  EMPLOYEE_TOLD: {
    scope: 'hire',
    answers: ['link', 'create', 'retry', 'keep'],
    what: ({ jobCandidateId, told }: OfHire & { told: string }) =>
      `The hiring platform shows Employee ID ${told} for job candidate ${jobCandidateId}, so an employee was ` +
      'created before; the HR system shows none with our reference.',
    asks:
      'Look there: answer link <employeeId> if the record was merged into another one or lost the reference, create ' +
      'if it was deleted and another employee is wanted, or keep to end the hire as it is.',
  },
  EMPLOYEE_OF_ANOTHER: {
    scope: 'hire',
    answers: ['same-person', 'retry', 'link', 'create', 'cancel'],
    what: ({ jobCandidateId, employeeIds, other }: OfHire & { employeeIds: [string]; other: HireRef }) =>
      `Employee ${employeeIds[0]} matches job candidate ${jobCandidateId} but is linked to ${nameHire(other)}, ` +
      'another candidate of the hiring platform.',
    told: ({ jobCandidateId }: OfHire) =>
      `The employee who matches job candidate ${jobCandidateId} is linked to another candidate.`,
    asks:
      'Answer same-person if both candidates are the same person (links the employee to this candidate). ' +
      'Otherwise answer link <employeeId> with the right employee, or create for a new one; or correct the record ' +
      'in the HR system, then answer retry.',
  },
  FORMER_EMPLOYEE: {
    scope: 'hire',
    answers: ['create', 'retry', 'cancel'],
    what: ({ jobCandidateId, employeeIds }: OfHire & { employeeIds: [string] }) =>
      `Job candidate ${jobCandidateId} is former employee ${employeeIds[0]}, ` +
      'and hirebridge cannot rehire people in this HR system.',
    asks: 'Rehire the person there, then answer retry; or answer create for a new employee.',
  },
  LINK_NOT_FOUND: {
    scope: 'hire',
    answers: ['link', 'create', 'retry', 'cancel'],
    what: ({ jobCandidateId, employeeId: id, isChanged }: Named) =>
      `The HR system has no employee ${id}${isChanged ? ' of our reference' : ''} for job candidate ${jobCandidateId}.`,
    told: ({ jobCandidateId }: OfHire) =>
      `The HR system does not have the employee who was named for job candidate ${jobCandidateId}.`,
    asks: 'Answer link with the id of the right one, or create if the HR system has none.',
  },
  LINK_OTHER_NAME: otherName,
  CREATE_UNKNOWN: {
    scope: 'hire',
    answers: ['link', 'create', 'retry', 'cancel'],
    what: ({ jobCandidateId, employeeIds }: Unsure) =>
      `hirebridge asked the HR system to create an employee for job candidate ${jobCandidateId} and got no answer, ` +
      `and the HR system cannot show whether it worked.${
        employeeIds.length === 0 ? '' : ` By e-mail or name it shows ${employeeIds.join(', ')}.`
      }`,
    told: ({ jobCandidateId }: OfHire) =>
      `It is not known whether an employee was created for job candidate ${jobCandidateId}.`,
    asks: 'Look there: answer link <employeeId> if the employee exists, create if not.',
  },
  EMPLOYEE_PENDING: {
    scope: 'hire',
    answers: ['retry', 'link', 'cancel'],
    what: ({ jobCandidateId, ticket, days }: OfHire & { ticket: string; days: number }) =>
      `The HR system accepted the request for job candidate ${jobCandidateId} (${ticket}) ${days} days ago and ` +
      'has not reported a result.',
    asks:
      'Ask the people who handle it there. Answer link <employeeId> if the employee exists, retry to wait the ' +
      'same time again, or cancel once the request is withdrawn there.',
  },
  REQUEST_LOST: {
    scope: 'hire',
    answers: ['link', 'create', 'retry', 'cancel'],
    what: ({ jobCandidateId, ticket, employeeIds }: Unsure & { ticket: string }) =>
      `The HR system accepted the request for job candidate ${jobCandidateId} (${ticket}), but ${
        employeeIds.length === 0
          ? 'no longer knows it, and shows no employee with our reference.'
          : `names ${employeeIds.join(', ')} as the new employee, whose record does not have our reference.`
      }`,
    told: ({ jobCandidateId }: OfHire) => `The outcome of the request for job candidate ${jobCandidateId} is unknown.`,
    asks: 'Answer link <employeeId> if they exist there, create if nobody will be created, or retry to ask again.',
  },
  EMPLOYEE_GONE: {
    scope: 'hire',
    answers: ['link', 'retry', 'keep'],
    what: ({ jobCandidateId, employeeId, other, isChanged = false }: Gone) =>
      other !== undefined
        ? `Employee ${employeeId}, named for job candidate ${jobCandidateId}, is linked to ${nameHire(other)}, ` +
          'another person.'
        : `${
            isChanged
              ? `The record of employee ${employeeId} of job candidate ${jobCandidateId} no longer has our reference`
              : `The HR system no longer shows employee ${employeeId} of job candidate ${jobCandidateId}`
          }, so the Employee ID was not written to the hiring platform.`,
    told: ({ jobCandidateId }: OfHire) => `The HR system shows no employee of job candidate ${jobCandidateId}.`,
    asks:
      'Look there: answer link <employeeId> with the record that is theirs now, retry if the record is as it was, or ' +
      'keep to end the hire as it is.',
  },
  RELINK_OTHER_NAME: { ...otherName, answers: ['link', 'link-anyway', 'retry', 'keep'] },
  WRITE_BACK_TARGET_MISSING: {
    scope: 'hire',
    answers: ['retry', 'keep'],
    what: ({ jobCandidateId }: OfHire) =>
      `Job candidate ${jobCandidateId} has no enrolment, and the tenant names no custom field for the Employee ID.`,
    asks: 'Set writeBack.customField in the tenant file, apply it, then answer retry; or keep to end it as it is.',
  },
  WRITE_BACK_REFUSED: {
    scope: 'hire',
    answers: ['retry', 'keep'],
    what: ({ onboardingCandidateId, refusal, status }: Refused) =>
      `The hiring platform refuses the Employee ID on enrolment ${onboardingCandidateId} ` +
      `(${refusal}, ${status ?? 'status unknown'}).`,
    asks:
      'If its names differ, set partner.overrides.externalStatusBody; if it takes none there, writeBack.customField. ' +
      'Apply that, then answer retry; or keep to end the hire as it is.',
  },
  WRITE_BACK_NOT_VERIFIED: {
    scope: 'hire',
    answers: ['retry', 'keep'],
    what: ({ jobCandidateId, targets }: OfHire & { targets: string[] }) =>
      `The hiring platform accepted the values written back for job candidate ${jobCandidateId} but does not ` +
      `show them (${targets.join(', ')}).`,
    asks: 'Look there; if it is shown, set partner.overrides.externalStatusAt. Then answer retry; or keep to end it.',
  },
  TOO_MANY_CANCELLATIONS: {
    scope: 'hire',
    answers: ['cancel', 'retry'],
    what: ({ jobCandidateId, most }: OfHire & { most: number }) =>
      `Job candidate ${jobCandidateId} left the hiring stage, and ${most} hires of this tenant already ended ` +
      'that way within the last hour.',
    asks: 'Check that the move is intended, then answer cancel; or retry if the person is back.',
  },
  TERMINATE_REFUSED: {
    scope: 'hire',
    answers: ['retry', 'keep'],
    what: ({ jobCandidateId, onboardingCandidateIds, said }: RefusedEnd) =>
      `The hiring platform does not end enrolment ${onboardingCandidateIds.join(', ')} of job candidate ` +
      `${jobCandidateId}. ${said}`,
    told: ({ jobCandidateId }: OfHire) =>
      `The hiring platform does not end an enrolment of job candidate ${jobCandidateId}.`,
    asks: 'End it there, then answer retry; or keep to end the hire and leave the enrolment as it is.',
  },
  LEFT_AFTER_EMPLOYEE: {
    scope: 'hire',
    answers: ['keep', 'left', 'retry'],
    what: ({ jobCandidateId, employeeId }: Named) =>
      `Job candidate ${jobCandidateId} left the hiring stage after employee ${employeeId} was created. ` +
      'hirebridge undoes nothing by itself.',
    asks:
      'End the employment in the HR system if the move is intended, then answer left; or keep if the employee ' +
      'stays.',
  },
  LEFT_BEFORE_START: {
    scope: 'hire',
    answers: ['no-show', 'moved', 'keep', 'retry'],
    what: ({ jobCandidateId, employeeId, daysSince }: OfHire & { employeeId: string; daysSince?: number }) =>
      `Job candidate ${jobCandidateId} left the hiring stage ` +
      `${daysSince === undefined ? 'before' : `${daysSince} days after`} the first day of employee ${employeeId}.`,
    asks:
      'Answer no-show to end the employment, moved if the person takes another job of this tenant (their next ' +
      'hire takes over the employee), keep to leave everything as it is, or retry to look again.',
  },
  LEFT_WHILE_PENDING: {
    scope: 'hire',
    answers: ['cancel', 'link', 'retry'],
    what: ({ jobCandidateId }: OfHire) =>
      `The hire of job candidate ${jobCandidateId} ends while the HR system may still create the employee.`,
    asks:
      'Withdraw the request there, then answer cancel, even if nothing is waiting there any more; or answer link ' +
      '<employeeId> if the employee now exists, or retry to look again. hirebridge finds an employee that is ' +
      'created meanwhile.',
  },
  EMPLOYMENT_NOT_ENDED: {
    scope: 'hire',
    answers: ['ended', 'retry', 'keep'],
    what: ({ jobCandidateId, employeeId, said }: OfHire & { employeeId: string; said: string }) =>
      `The employment of employee ${employeeId}, created for job candidate ${jobCandidateId}, was not ended. ${said}`,
    told: ({ jobCandidateId }: OfHire) => `The employment created for job candidate ${jobCandidateId} was not ended.`,
    asks: 'End it in the HR system, then answer ended; or keep if the employee stays.',
  },
  ...tenantHolds,
} as const satisfies Record<string, HoldEntry>;
