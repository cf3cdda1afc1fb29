/** One application in one employment period. */
export interface HireRef {
  tenantId: string;
  jobCandidateId: string;
  period: number;
}

/** Period of an imported link, which has no hire behind it. */
export const IMPORTED_PERIOD = 0;

export function isSameHire(one: HireRef, other: HireRef): boolean {
  return one.tenantId === other.tenantId && one.jobCandidateId === other.jobCandidateId && one.period === other.period;
}

/** The hire's name in messages. */
export function nameHire({ jobCandidateId, tenantId, period }: HireRef): string {
  if (period === IMPORTED_PERIOD) return `an employee linked by import, in tenant ${tenantId}`;
  return `job candidate ${jobCandidateId} of tenant ${tenantId}`;
}

/**
 * before-go-live: hired before the tenant went live; never worked on by itself. open: a workflow follows it. done: the
 * Employee ID was written back and verified. left: over, and the person has left the stage, so coming back starts a new
 * period. cancelled, kept: ended by the answer of that name; the person may still be in the stage, and nothing starts
 * again by itself.
 */
export const hireStates = ['before-go-live', 'open', 'done', 'left', 'cancelled', 'kept'] as const;
export type HireState = (typeof hireStates)[number];

/** States that a hire ends in; after that its row never changes by itself. */
export type EndState = 'done' | 'left' | 'cancelled' | 'kept';

/**
 * States of hires that are over and followed by nobody. Only `--adopt` opens such a hire again; once its person is seen
 * to have left, it becomes `left`.
 */
export const restingStates = ['before-go-live', 'cancelled', 'kept'] as const satisfies readonly HireState[];

/** A workflow follows an open hire, and may be started again for a done hire whose person has left. */
export const followedStates = ['open', 'done'] as const satisfies readonly HireState[];

export function isResting(state: HireState): boolean {
  return (restingStates as readonly HireState[]).includes(state);
}

/** What an open hire does now: the workflow's position and the column `hires.step`. */
export type HireStep =
  | 'enrol'
  | 're-enrol'
  | 'await-credits'
  | 'onboard'
  | 'employ'
  | 'write-back'
  | 'confirm-left'
  | 'cancel'
  | 'watch-done'
  | 'end-employment'
  | 'hand-over'
  | 'ended';

/** What a tenant that only observes would have done about one hire: ids, codes and field names, no personal data. */
export interface Observed {
  /** `ask`: it would have opened a hold with this code and message. */
  would: 'create' | 'link' | 'update' | 'rehire' | 'ask';
  employeeId?: string;
  code?: string;
  message?: string;
  /** Most onboarding credits that the hire would cost. */
  credits: number;
}

/** Describes it in one line. */
export function describeObserved({ would, employeeId, code, credits }: Observed): string {
  const what = {
    create: 'create an employee',
    link: `link employee ${employeeId}`,
    update: `update employee ${employeeId}`,
    rehire: `rehire employee ${employeeId}`,
    ask: `ask a person (${code})`,
  }[would];
  return credits === 0 ? what : `enrol (${credits} credit) and ${what}`;
}

/** Most credits that these hires would cost together. */
export function creditsOf(hires: ReadonlyArray<{ observed: Observed }>): number {
  return hires.reduce((sum, { observed }) => sum + observed.credits, 0);
}

/** Side that holds a record: the hiring platform or the HR system. */
export type Side = 'partner' | 'hris';

/**
 * A field's value as sent to an HRIS. Dates `YYYY-MM-DD`, instants UTC ISO text, phones E.164, countries ISO 3166-1
 * alpha-2.
 */
export type FieldValue = string | number | boolean | string[] | null;

/** An employee's fields as the mapping made them: canonical field name -> value. */
export type EmployeeFields = Record<string, FieldValue>;

declare const IN_HRIS: unique symbol;

/** An employee of one HR system. An id alone is not enough: another HR system may use it for another person. */
export interface Employee {
  /** Name of the connection to the HR system. */
  readonly connection: string;
  readonly id: string;
  readonly [IN_HRIS]: true;
}

/** An employee with the number people use; absent until the HR system assigns one. */
export interface KnownEmployee extends Employee {
  readonly number?: string;
}

export function employeeIn(connection: string, id: string): Employee {
  return { connection, id } as Employee;
}

/** Makes an employee from an HR system's answer about one of its own. */
export function knownIn(connection: string, { id, number }: EmployeeRef): KnownEmployee {
  const employee = employeeIn(connection, id);
  return number === undefined ? employee : { ...employee, number };
}

export function isSameEmployee(one: Employee, other: Employee): boolean {
  return one.connection === other.connection && one.id === other.id;
}

/** An employee as one HR system names it: `id` is its immutable internal key, `number` the number people use. */
export interface EmployeeRef {
  id: string;
  number?: string;
}

/** A name split into two fields. */
export interface NameParts {
  familyName: string;
  givenName: string;
}

/** Ways to look a person up, strongest first (identity ladder). */
export type FindKey =
  | { by: 'reference'; value: string }
  | { by: 'number'; value: string }
  | { by: 'email'; value: string }
  | { by: 'person'; familyName: string; givenName: string; birthDate: string }
  /**
   * Same name, but one side has no birth date, so only a person can tell whether it is them. `parts` is absent if the
   * HR system has one field for the whole name.
   */
  | { by: 'name'; fullName: string; parts?: NameParts; birthDate?: string };

/** `trusted: false`: an empty answer to this search proves nothing. */
export type Found<Ref = EmployeeRef> =
  | { kind: 'none'; trusted: boolean }
  | { kind: 'one'; ref: Ref; by: FindKey['by'] }
  | { kind: 'many'; refs: Ref[]; by: FindKey['by'] };

/** All fields that a change writes; names made by rule are added to a new employee's fields. */
export function allFields(change: Exclude<Change, { kind: 'link' }>): EmployeeFields {
  return { ...change.fields, ...('names' in change ? change.names : {}) };
}

/** One write of a plan. Holds personal data, so it never leaves the store. */
export type Change =
  /** `names`: user name and work e-mail made by rule, which say nothing about who the person is. */
  | { kind: 'create'; fields: EmployeeFields; names?: EmployeeFields; reference: string }
  | { kind: 'link'; employee: KnownEmployee }
  /** Reactivates a former employee. */
  | { kind: 'rehire'; employee: KnownEmployee; fields: EmployeeFields }
  | { kind: 'update'; employee: KnownEmployee; fields: EmployeeFields };

/**
 * Why something should be read again. A hint decides what is read first, never what is true. `adopt`: a person asks for
 * a resting hire, see HireInput.
 */
export type HintAbout = 'person' | 'onboarding' | 'answer' | 'credits' | 'adopt';

/**
 * Signals a hire's workflow. With `start`, starts a workflow if none runs; without it, returns `false` if none runs.
 * `behind`: the period that the workflow follows, if the restored store knows an earlier one.
 */
export type SignalHire = (
  hire: { tenantId: string; jobCandidateId: string },
  about: HintAbout,
  options: { start: boolean; adopt?: boolean; watch?: boolean; behind?: number },
) => Promise<boolean>;

/**
 * Code of the error that ends a run because the store knows less about the hire than its workflow, because it was
 * restored from a backup. The hire starts again from what the store and both sides show.
 */
export const HIRE_BEHIND = 'HIRE_BEHIND';

/** Code of the error of a run, or of a stalled worker, whose hire is over. A run ends and begins anew. */
export const HIRE_OVER = 'HIRE_OVER';

/** How long a stalled worker may go unnoticed, in ms; configurable, so that tests need not wait. */
export interface HireTiming {
  heartbeatMs: number;
  attemptMs: number;
  retryMs: number;
}

export interface HireInput {
  tenantId: string;
  jobCandidateId: string;
  timing: HireTiming;
  /** A person asks for this hire although it was recorded as before go-live or ended by an answer. */
  adopt?: boolean;
  /** The reconcile found that the person of a finished hire is gone. */
  watch?: boolean;
  /** The period that the run before this one followed; the restored store knows an earlier one, or none. */
  behind?: number;
  /** State of the run that this run continues. */
  carried?: HireProgress;
}

/** What the workflow needs of the tenant's policies; durations in milliseconds. */
export interface HirePolicy {
  skipOnboarding: boolean;
  onboardingDeadlineMs: number;
  cancelGraceMs: number;
}

/** The hold that a hire waits in, and the step that opened it. */
interface CurrentHold {
  holdId: string;
  code: string;
  from: HireStep;
}

/** What a hire carries from one run into the next: ids and verdicts only. */
export interface HireProgress {
  period: number;
  step: HireStep;
  policy: HirePolicy;
  /** When the wait for onboarding ends, in workflow time. */
  deadlineAt?: number;
  /** How long to wait for credits before the next try. */
  creditsWaitMs?: number;
  /** How often in a row the partner did not show the write-back. */
  verifyTries?: number;
  hold?: CurrentHold;
  /** The person of an employee left the hiring stage while the hire was held. */
  isGone?: boolean;
  /** Hints that the run before received but did not act upon. */
  hints?: HintAbout[];
  /** The state in which the hire ended, if not `done`. */
  outcome?: HireState;
}

export interface HireResult {
  state: HireState | 'not-hired';
  period: number;
}
