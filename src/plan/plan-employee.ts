import type { Decisions } from '../hire/answers.ts';
import type { Change, EmployeeFields, KnownEmployee } from '../hire/employee.ts';
import type { HireRef } from '../hire/hire.ts';
import { type Held, held } from '../hire/holds.ts';
import { climbIdentityLadder, type Finding, type IdentityDecision, withoutDenied } from './identity-ladder.ts';

/** What is known of one person before the HR system is asked about them. */
export interface KnownPerson {
  ref: HireRef;
  candidateId: string;
  /** Mapped from the records just read. */
  fields: EmployeeFields;
  /** Those of the job, not of the person: what a transfer writes. `null`: the new job has no value of it. */
  ofJob: EmployeeFields;
  problems: ReadonlyArray<{ field: string; code: string; text: string }>;
  /** The employee that this hire already has. */
  own: KnownEmployee | undefined;
  /** The newest employee that another hire linked to this person. */
  before: KnownEmployee | undefined;
  /** Under which reference an employee of this hire is made. */
  reference: string;
  /** A create of this hire left, and its outcome is not known. */
  unsettledCreate: boolean;
  /** The earliest start that nobody is asked about, and what the start is read from. */
  startLimit?: { earliest: string; days: number; source: string } | undefined;
  /** The HR system makes former employees active again. */
  canRehire?: boolean;
}

/** To whom an employee is linked. */
export interface LinkedPerson {
  employeeId: string;
  /** Of the hire's own person, by whichever candidate id. */
  isThisPerson: boolean;
  hire: HireRef;
}

export interface EmployeeObservation extends KnownPerson {
  /** The employee a person named; undefined where the HR system has none of that id. */
  named?: KnownEmployee | undefined;
  /** Answers along the identity ladder. */
  findings?: readonly Finding[];
  /** Links of the employees found or named. */
  links?: readonly LinkedPerson[];
  /** The id of the employee that the person is, where that one is a former employee. */
  former?: string | undefined;
  /** The Employee ID that the partner shows of this hire: somebody told it, so an employee was made. */
  told?: string | undefined;
}

/** Which reading of the HR system the plan still needs. */
export function readingFor(person: KnownPerson, decisions: Decisions): 'none' | 'named' | 'ladder' {
  if (person.problems.length > 0 || changeAtHand(person, decisions) !== undefined) return 'none';
  return decisions.link === undefined ? 'ladder' : 'named';
}

/** What should be written for one hire, or what a person must be asked first. */
export function planEmployee(observed: EmployeeObservation, decisions: Decisions): Change | Held {
  const planned = planPerson(observed, decisions);
  const change = 'verdict' in planned || planned.kind === 'create' ? planned : rehired(observed, planned);
  return 'verdict' in change ? change : (startsTooEarly(observed, change, decisions) ?? change);
}

/** A field that holds another date than the start of the employment is found out by this. */
function startsTooEarly(
  { ref, startLimit, unsettledCreate }: EmployeeObservation,
  change: Change,
  { startInPast }: Decisions,
): Held | undefined {
  if (startLimit === undefined || unsettledCreate || startInPast === true || !('fields' in change)) return undefined;
  const { startDate } = change.fields;
  const { earliest, days, source } = startLimit;
  if (typeof startDate !== 'string' || startDate === '' || startDate >= earliest) return undefined;
  return held('START_DATE_PAST', { jobCandidateId: ref.jobCandidateId, source, days });
}

/** A former employee is made active again; where that cannot be asked for, a person does it. */
function rehired(observed: EmployeeObservation, change: Exclude<Change, { kind: 'create' }>): Change | Held {
  const { ref, own, before, former, canRehire, fields, ofJob } = observed;
  const { employee } = change;
  if (former !== employee.id || own?.id === employee.id) return change;
  if (canRehire === true) return { kind: 'rehire', employee, fields: { ...fields, ...ofJob } };
  // Of somebody who was hired through us a person has decided already what this hire is.
  if (before?.id === employee.id) return change;
  return held('FORMER_EMPLOYEE', { jobCandidateId: ref.jobCandidateId, employeeIds: [employee.id] });
}

function planPerson(observed: EmployeeObservation, decisions: Decisions): Change | Held {
  if (observed.problems.length > 0) return incomplete(observed);
  const atHand = changeAtHand(observed, decisions);
  if (atHand !== undefined) return atHand;
  return decisions.link === undefined
    ? planFromLadder(observed, decisions)
    : planNamed(observed, decisions.link, decisions);
}

/** The change that needs no reading of the HR system: the employee is known. */
function changeAtHand({ own, before, ofJob }: KnownPerson, { person }: Decisions): Change | undefined {
  if (own !== undefined) return { kind: 'link', employee: own };
  if (before === undefined || person === 'new-employment') return undefined;
  if (person === 'same-employee') return { kind: 'link', employee: before };
  return { kind: 'update', employee: before, fields: ofJob };
}

function planNamed(observed: EmployeeObservation, employeeId: string, decisions: Decisions): Change | Held {
  if (observed.named !== undefined) return planLink(observed, observed.named, decisions);
  return held('LINK_NOT_FOUND', { jobCandidateId: observed.ref.jobCandidateId, employeeId });
}

function planFromLadder(observed: EmployeeObservation, decisions: Decisions): Change | Held {
  const { fields, reference, before, unsettledCreate, told, findings = [] } = observed;
  const notThese = before === undefined ? decisions.notThese : new Set([...decisions.notThese, before.id]);
  const identity = climbIdentityLadder(withoutDenied(findings, notThese), { unsettledCreate });
  if (identity.kind === 'link') return planLink(observed, identity.ref, decisions);
  // A person's word on an absence holds while nothing is found that they were not shown.
  const vouched = decisions.createUnproven === true && identity.kind === 'hold' && identity.evidence.length === 0;
  // applyPlan settles a create that already left: it knows the create's deadline.
  if (identity.kind === 'hold' && !unsettledCreate && !vouched) return ambiguous(observed, identity);
  // After a restore the store may not know what it made, and HR may have merged or deleted that record since.
  if (told !== undefined && !unsettledCreate && decisions.createUnproven !== true)
    return held('EMPLOYEE_TOLD', { jobCandidateId: observed.ref.jobCandidateId, told });
  return { kind: 'create', fields, reference };
}

/** An employee who is linked to another candidate is taken only where somebody says that both are one person. */
function planLink(
  { ref, links = [] }: EmployeeObservation,
  employee: KnownEmployee,
  { samePerson }: Decisions,
): Change | Held {
  const link = links.find((one) => one.employeeId === employee.id);
  if (samePerson === employee.id || link === undefined || link.isThisPerson) return { kind: 'link', employee };
  const { jobCandidateId } = ref;
  return held('EMPLOYEE_OF_ANOTHER', { jobCandidateId, employeeIds: [employee.id], other: link.hire });
}

function ambiguous({ ref }: EmployeeObservation, identity: Extract<IdentityDecision, { kind: 'hold' }>): Held {
  const { reason, evidence } = identity;
  const employeeIds = [...new Set(evidence.flatMap(({ refs }) => refs.map(({ id }) => id)))];
  const keys = evidence.map(({ by }) => by);
  return held('IDENTITY_AMBIGUOUS', { jobCandidateId: ref.jobCandidateId, reason, keys, employeeIds });
}

function incomplete({ ref, problems }: EmployeeObservation): Held {
  return held('MAPPING_INCOMPLETE', {
    jobCandidateId: ref.jobCandidateId,
    problems: problems.map(({ text }) => text).join(' '),
    fields: Object.fromEntries(problems.map(({ field, code }) => [field, code])),
  });
}
