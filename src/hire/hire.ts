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

/** Ids come from webhooks, so only text that looks like an id may become part of a workflow id. */
export function isSafeId(id: string): boolean {
  return /^[A-Za-z0-9_-]{1,64}$/.test(id);
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
