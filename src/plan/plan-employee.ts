import type { Decisions } from '../hire/answers.ts';
import { type Change, type EmployeeFields, type HireRef, isSameHire, type KnownEmployee } from '../hire/hire.ts';
import { type Held, held } from '../hire/holds.ts';
import { climbIdentityLadder, type Finding, type IdentityDecision, withoutDenied } from './identity-ladder.ts';

/** What is known of one person before the HR system is asked about them. */
export interface KnownPerson {
  ref: HireRef;
  candidateId: string;
  /** Fields mapped from the records just read. */
  fields: EmployeeFields;
  /** The fields that depend on the job, which a transfer writes. `null`: the new job has no such value. */
  ofJob: EmployeeFields;
  problems: ReadonlyArray<{ field: string; code: string; text: string }>;
  /** The employee that this hire already has. */
  own: KnownEmployee | undefined;
  /** The newest employee that another hire linked to this person. */
  before: KnownEmployee | undefined;
  /** The reference that an employee of this hire is made with. */
  reference: string;
  /** This hire sent a create whose outcome is unknown. */
  unsettledCreate: boolean;
  /** The id of the employee that this hire's create made. */
  made?: string | undefined;
  /** The earliest start date that needs no question, and where the date is read from. */
  startLimit?: { earliest: string; days: number; source: string } | undefined;
  /** Whether hirebridge can make former employees active again in this HR system. */
  canRehire?: boolean;
}

/** The person that an employee is linked to. */
export interface LinkedPerson {
  employeeId: string;
  /** Whether it is the hire's own person, under any candidate id. */
  isThisPerson: boolean;
  hire: HireRef;
}

export interface EmployeeObservation extends KnownPerson {
  /** The employee that a person named; undefined if the HR system has none with that id. */
  named?: KnownEmployee | undefined;
  /** Nothing but the typed id says that they are this person: the name differs. */
  isOtherName?: boolean;
  /** Answers along the identity ladder. */
  findings?: readonly Finding[];
  /** Links of the employees that were found or named. */
  links?: readonly LinkedPerson[];
  /** The employee's id, if the planned employee is a former one. */
  former?: string | undefined;
  /** The Employee ID that the partner shows for this hire; somebody wrote it, so an employee was made before. */
  told?: string | undefined;
}

/** Which reading of the HR system the plan still needs. */
export function readingFor(person: KnownPerson, decisions: Decisions): 'none' | 'named' | 'ladder' {
  if (changeAtHand(person, decisions) !== undefined) return 'none';
  if (decisions.link !== undefined) return 'named';
  return person.problems.length > 0 ? 'none' : 'ladder';
}

/** Decides what to write for one hire, or what a person must be asked first. */
export function planEmployee(observed: EmployeeObservation, decisions: Decisions): Change | Held {
  const { link } = decisions;
  let planned: Change | Held | undefined = changeAtHand(observed, decisions);
  if (planned === undefined && link !== undefined) planned = planNamed(observed, link, decisions);
  planned ??= observed.problems.length > 0 ? incomplete(observed) : planFromLadder(observed, decisions);
  const change = 'verdict' in planned || planned.kind === 'create' ? planned : rehired(observed, planned);
  if ('verdict' in change) return change;
  // A link writes nothing, so it needs no field.
  if (change.kind !== 'link' && observed.problems.length > 0) return incomplete(observed);
  return startsTooEarly(observed, change, decisions) ?? change;
}

/** Asks if the start date is far in the past, which reveals a mapping that reads another date. */
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

/** Makes a former employee active again, or asks a person to do it if the HR system cannot. */
function rehired(observed: EmployeeObservation, change: Exclude<Change, { kind: 'create' }>): Change | Held {
  const { ref, own, before, former, canRehire, fields, ofJob } = observed;
  const { employee } = change;
  if (former !== employee.id || own?.id === employee.id) return change;
  if (canRehire === true) return { kind: 'rehire', employee, fields: { ...fields, ...ofJob } };
  // If the former employee was hired through us, a person has already decided what this hire is.
  if (before?.id === employee.id) return change;
  return held('FORMER_EMPLOYEE', { jobCandidateId: ref.jobCandidateId, employeeIds: [employee.id] });
}

/** Whether another hire took over this hire's own employee, and a person said that this hire gets one of its own. */
export function isGivenUp({ own, before }: Pick<KnownPerson, 'own' | 'before'>, { person }: Decisions): boolean {
  return person === 'new-employment' && own !== undefined && own.id === before?.id;
}

/** The change that needs no reading of the HR system, because the employee is known. */
function changeAtHand({ own, before, ofJob }: KnownPerson, { person, link, notThese }: Decisions): Change | undefined {
  // If another hire took over this hire's own employee, a transfer brings them back, with this hire's job.
  if (own !== undefined && own.id !== before?.id) return { kind: 'link', employee: own };
  if (before === undefined || person === 'new-employment') return undefined;
  // Somebody looked at the record of before, and it is not the person's, or no longer there.
  if (link !== undefined || notThese.has(before.id)) return undefined;
  if (person === 'same-employee') return { kind: 'link', employee: before };
  return { kind: 'update', employee: before, fields: ofJob };
}

function planNamed(observed: EmployeeObservation, employeeId: string, decisions: Decisions): Change | Held {
  const { named, isOtherName } = observed;
  const { jobCandidateId } = observed.ref;
  if (named === undefined) return held('LINK_NOT_FOUND', { jobCandidateId, employeeId });
  const change = planTransfer(observed, planLink(observed, named, decisions), decisions);
  if (isOtherName !== true || 'verdict' in change) return change;
  // As the HR system writes the id: the typed one may differ in case.
  return held('LINK_OTHER_NAME', { jobCandidateId, employeeId: named.id });
}

function planFromLadder(observed: EmployeeObservation, decisions: Decisions): Change | Held {
  const { ref, fields, reference, before, unsettledCreate, told, links = [], findings = [] } = observed;
  // The hire gets a record of its own, beside those of the person's other hires.
  const others = links.filter((one) => one.isThisPerson && !isSameHire(one.hire, ref)).map((one) => one.employeeId);
  const notThese = new Set([...decisions.notThese, ...(before === undefined ? [] : [before.id, ...others])]);
  const identity = climbIdentityLadder(withoutDenied(findings, notThese), { unsettledCreate });
  if (identity.kind === 'link') {
    const change = planLink(observed, identity.ref, decisions);
    const { id } = identity.ref;
    const isOurs = findings.some(({ by, found }) => by === 'reference' && found.kind === 'one' && found.ref.id === id);
    return isOurs ? planTransfer(observed, change, decisions) : change;
  }
  // A person's word that there is no employee counts while nothing is found that they were not shown.
  const vouched = decisions.createUnproven === true && identity.kind === 'hold' && identity.evidence.length === 0;
  // applyPlan settles a create that was already sent, because it knows the create's deadline.
  if (identity.kind === 'hold' && !unsettledCreate && !vouched) return ambiguous(observed, identity);
  // After a restore, the store may not know which employee was made, and HR may have merged or deleted the record
  // since. The earlier record is known.
  const isKnown = told === before?.id || told === before?.number;
  if (told !== undefined && !isKnown && !unsettledCreate && decisions.createUnproven !== true)
    return held('EMPLOYEE_TOLD', { jobCandidateId: ref.jobCandidateId, told });
  return { kind: 'create', fields, reference };
}

/**
 * A restored store may have forgotten the employee that an earlier hire made, whom a transfer is about: the job goes to
 * the one who has our reference, or whom a person named.
 */
function planTransfer(
  { unsettledCreate, ofJob }: EmployeeObservation,
  change: Change | Held,
  { person }: Decisions,
): Change | Held {
  if (person !== 'transfer' || unsettledCreate || !('kind' in change) || change.kind !== 'link') return change;
  return { kind: 'update', employee: change.employee, fields: ofJob };
}

/** An employee linked to another candidate is taken only if somebody said that both candidates are one person. */
function planLink(
  { ref, made, links = [] }: EmployeeObservation,
  employee: KnownEmployee,
  { samePerson }: Decisions,
): Change | Held {
  const link = links.find((one) => one.employeeId === employee.id);
  // applyPlan sees whose the employee is that our own create made.
  if (samePerson === employee.id || made === employee.id || link === undefined || link.isThisPerson)
    return { kind: 'link', employee };
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
