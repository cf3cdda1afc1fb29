import type { EndState, HireRef, HireStep } from './hire.ts';

/** One answer: its argument, the step the hire goes to next, and what it decides for all later steps. */
interface AnswerEntry {
  /** What the answer does, in one sentence for the person about to give it. */
  does: string;
  /** The same for a hold of the whole tenant, if the answer means something else there. */
  doesForTenant?: string;
  /** `same`: the step that opened the hold. Absent if only holds of a whole tenant accept the answer. */
  next?: HireStep | 'same';
  /** The kind of id that must follow the answer. */
  takes?: string;
  /** The state in which the answer ends the hire at once. */
  ends?: EndState;
  decides?: (before: Decisions, given: Given) => Partial<Decisions>;
  /** What happens later, and what ends the wait, while no hold is open. */
  waitsFor?: string;
}

/** The input of an answer. */
export interface Given {
  argument: string | undefined;
  /** Details of the answered hold. */
  details: Record<string, unknown>;
  /** By the database's clock, ms; absent for answers about no hire. */
  at?: number;
}

/** Every answer that a hold may accept. */
export const answers = {
  retry: { does: 'Reads both sides again and continues; asks again if the cause is still there.', next: 'same' },
  adopt: {
    does: 'Uses the enrolment that you name for this hire.',
    doesForTenant: 'Starts the hires that you name, although they were recorded as hired before go-live.',
    next: 'enrol',
    takes: 'id',
    decides: (_, { argument }) => (argument ? { adopt: argument } : {}),
  },
  'adopt-anyway': {
    does: 'Uses the enrolment shown, although its e-mail differs.',
    next: 'enrol',
    // The person saw why this enrolment does not fit, and wants it all the same.
    decides: (_, { details: { onboardingCandidateId: id } }) =>
      typeof id === 'string' ? { adopt: id, adoptAnyway: id } : {},
  },
  dismiss: { does: 'Closes this question, and does nothing else.' },
  'keep-partner': { does: "Keeps the hiring platform's value; the next run writes it to the HR system." },
  'keep-hris': { does: "Keeps the HR system's value; the next run writes it to the hiring platform." },
  apply: { does: "Changes the employees to the hiring platform's values in the next run." },
  'link-job': { does: 'Links the job that you name to this requisition.', takes: 'jobId' },
  'create-job': { does: 'Creates a job for this requisition in the hiring platform.' },
  're-enrol': {
    does: 'Enrols the person again, which costs another credit.',
    next: 're-enrol',
    decides: () => ({ adopt: undefined, createAnyway: false, enrolAnew: true }),
  },
  'skip-onboarding': {
    does: 'Creates the employee without an onboarding.',
    next: 'employ',
    decides: () => ({ skipOnboarding: true }),
  },
  'take-anyway': {
    does: "Finishes this hire here, although its job is outside this tenant's scope.",
    next: 'enrol',
    decides: () => ({ takeAnyway: true }),
  },
  'job-as-known': {
    does: 'Creates the employee with the last known data of the job.',
    next: 'employ',
    decides: () => ({ jobAsKnown: true }),
  },
  'start-in-past': {
    does: 'Creates the employee with this start date.',
    next: 'employ',
    decides: () => ({ startInPast: true }),
  },
  'create-anyway': {
    does: 'Creates the employee, although the onboarding did not succeed.',
    next: 'employ',
    decides: () => ({ createAnyway: true }),
  },
  'same-employee': {
    does: 'Uses the employee of the other hire for this one; creates nothing.',
    next: 'same',
    decides: relatedAs('same-employee'),
  },
  transfer: {
    does: 'Gives the new job to the employee of the other hire.',
    next: 'same',
    decides: relatedAs('transfer'),
  },
  'new-employment': {
    does: 'Creates a second employee record for this person.',
    next: 'same',
    decides: relatedAs('new-employment'),
  },
  'here-too': {
    does: 'Creates an employee in this HR system as well.',
    next: 'same',
    decides: () => ({ hereToo: true }),
  },
  link: {
    does: 'Links this hire to the employee that you name; creates nothing.',
    doesForTenant: 'Links this person to the account that you name; creates nothing.',
    next: 'same',
    takes: 'employeeId',
    decides: (_, { argument, details }) => linkNamed(argument, details['employeeIds']),
  },
  'link-anyway': {
    does: 'Links this hire to the employee shown, although the name differs; creates nothing.',
    doesForTenant: 'Links this person to the account shown, although the name differs; creates nothing.',
    next: 'same',
    decides: (_, { details }) => linkShown(details['employeeId']),
  },
  'same-person': {
    does: 'Links the employee shown to this candidate: both candidates are the same person.',
    next: 'same',
    decides: (_, { details }) => samePersonAs(details['employeeIds']),
  },
  create: {
    does: 'Creates a new employee: none of those shown is this person.',
    doesForTenant: 'Creates a new account: none of those shown belongs to this person.',
    next: 'same',
    decides: denyFound,
  },
  cancel: { does: 'Ends this hire and its enrolment. No employee is created.', next: 'cancel' },
  'no-show': { does: 'Ends the employment in the HR system.', next: 'end-employment' },
  ended: {
    does: 'Ends this hire: you have ended the employment in the HR system.',
    next: 'end-employment',
    decides: () => ({ endedByHand: true }),
  },
  moved: {
    does: 'Hands the employee over to the next hire of this person.',
    next: 'hand-over',
    waitsFor:
      'The employee stays unchanged until the next hire of this person in this tenant takes the record over; a ' +
      'hire that already asks about it does so now. If there is no next hire, end the employment in the HR ' +
      'system.',
  },
  keep: {
    does: 'Ends this hire and leaves everything as it is.',
    doesForTenant: 'Leaves the employees as they are.',
    next: 'ended',
    ends: 'kept',
  },
  left: { does: 'Ends this hire: the person has left. The HR system stays as it is.', next: 'ended', ends: 'left' },
} satisfies Record<string, AnswerEntry>;

export type Answer = keyof typeof answers;

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

/** The entry for an answer read from the store; undefined if the word is no answer. */
export function entryOf(answer: string): AnswerEntry | undefined {
  return Object.hasOwn(answers, answer) ? answers[answer as Answer] : undefined;
}

/** What the hire is to a person who is hired already, as the hire that the question named. */
function relatedAs(person: Decisions['person']): NonNullable<AnswerEntry['decides']> {
  return (_, { at, details: { other } }) => ({
    person,
    personAt: at,
    askedAbout: typeof other === 'object' && other !== null ? (other as HireRef) : undefined,
    link: undefined,
  });
}

/** An employee that the question showed was compared with the person already; any other id may be mistyped. */
function linkNamed(id: string | undefined, shown: unknown): Partial<Decisions> {
  if (!id) return {};
  return Array.isArray(shown) && shown.map(String).includes(id) ? linkShown(id) : { link: id };
}

/** The person who answers `link-anyway` saw that the name differs. */
function linkShown(id: unknown): Partial<Decisions> {
  return typeof id === 'string' ? { link: id, linkAnyway: id } : {};
}

/** The person who answers `same-person` saw the employee and the other candidate. */
function samePersonAs(employeeIds: unknown): Partial<Decisions> {
  const [id] = Array.isArray(employeeIds) ? employeeIds.map(String) : [];
  return id === undefined ? {} : { samePerson: id, link: id };
}

/**
 * The person who answers `create` looked at what the hold showed: those employees are other people, and that attempt
 * created none.
 */
function denyFound(before: Decisions, { details }: Given): Partial<Decisions> {
  const { employeeIds, reason, attempt, told } = details;
  const shown = Array.isArray(employeeIds) ? employeeIds.map(String) : [];
  return {
    link: undefined,
    notThese: new Set([...before.notThese, ...shown]),
    ...(reason === 'absence-unproven' || told !== undefined ? { createUnproven: true } : {}),
    ...(typeof attempt === 'number' ? { neverHappened: new Set([...before.neverHappened, attempt]) } : {}),
  };
}

/** Whether the last decision about a hire is `cancel`; a `retry` after it only repeats the attempt. */
export function asksToCancel(given: ReadonlyArray<{ answer: string }>): boolean {
  return given.findLast(({ answer }) => answer !== 'retry')?.answer === 'cancel';
}

/** An answer of a person, as stored. */
export interface GivenAnswer extends Given {
  /** Of the question. */
  code?: string;
  answer: string;
  /** The hire went on with it. */
  isTaken?: boolean;
  /** The question was asked about the tenant's former HR system. */
  isOfFormerHris?: boolean;
}

/** Combines the answers given so far, oldest first. Employees of a former HR system are nobody in the present one. */
export function decide(given: readonly GivenAnswer[]): Decisions {
  return given.reduce<Decisions>((before, one) => {
    const decided = { ...before, ...entryOf(one.answer)?.decides?.(before, one) };
    const { link, linkAnyway, samePerson, notThese, createUnproven } = before;
    const ofPresentHris = { link, linkAnyway, samePerson, notThese, createUnproven };
    return one.isOfFormerHris === true ? { ...decided, ...ofPresentHris } : decided;
  }, undecided);
}

/** What people decided about a hire; the last answer to each question counts. */
export interface Decisions {
  /** The enrolment made by hand that belongs to this hire. */
  adopt?: string | undefined;
  /** The enrolment to adopt although its e-mail differs. */
  adoptAnyway?: string;
  /** Enrol again, even if somebody with the same e-mail completed an enrolment before. */
  enrolAnew?: boolean;
  skipOnboarding?: boolean;
  createAnyway?: boolean;
  /** Finish this hire here although the tenant no longer takes its job. */
  takeAnyway?: boolean;
  /** The partner no longer shows the job: use the job as it was shown last. */
  jobAsKnown?: boolean;
  /** The start date far in the past is intended. */
  startInPast?: boolean;
  /** For a person who was hired before or for another job. */
  person?: 'same-employee' | 'transfer' | 'new-employment' | undefined;
  /** The time of that answer, by the database's clock; it does not cover later changes by other hires. */
  personAt?: number | undefined;
  /** The hire that the question named; the answer does not cover employees of another one. */
  askedAbout?: HireRef | undefined;
  /** Make an employee here although another HR system of the company has or gets this person too. */
  hereToo?: boolean;
  /** The person's employee. */
  link?: string | undefined;
  /** The employee to link even if the name differs. */
  linkAnyway?: string | undefined;
  /** The employee stored for another candidate who is the same human. */
  samePerson?: string | undefined;
  /** Employees who are other people. */
  notThese: ReadonlySet<string>;
  /** A person looked and found no employee, although the HR system cannot prove it or an employee was made before. */
  createUnproven?: boolean | undefined;
  /** Somebody ended the employment in the HR system by hand, because the person did not start. */
  endedByHand?: boolean;
  /** Create attempts that never happened, according to a person. */
  neverHappened: ReadonlySet<number>;
}

export const undecided: Decisions = { notThese: new Set(), neverHappened: new Set() };
