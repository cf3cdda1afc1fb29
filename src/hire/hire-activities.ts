import type { EndState, HireInput, HirePolicy, HireRef, HireResult, HireState, HireStep } from './hire.ts';
import type { Held, HoldRequest } from './holds.ts';

export type Opened =
  | {
      verdict: 'open';
      period: number;
      step: HireStep;
      policy: HirePolicy;
      /** A hold that was answered but not acted upon yet. */
      hold?: { holdId: string; code: string };
      /** Result of the enrolment, if the opening went on to it. */
      enrolled?: Enrolled;
    }
  | { verdict: 'closed'; period: number; state: HireResult['state'] };

/**
 * `present`: this call read the person in the stage. `waiting`: the new enrolment has not been started by the person.
 */
export type Enrolled =
  | { verdict: 'enrolled'; present?: boolean; waiting?: boolean }
  | { verdict: 'skip' }
  | { verdict: 'left' }
  | { verdict: 'no-credits'; waitMs: number }
  | Held;

/** `present` as in `Enrolled`. */
export type Employed =
  | ({ verdict: 'employee'; present?: boolean } & WentOn)
  | { verdict: 'not-yet' }
  /** The person came back to the stage after the plan was made. */
  | { verdict: 'stale' }
  | { verdict: 'left' }
  | { verdict: 'pending'; nextCheckMs: number }
  | Held;

export type Onboarding = ({ verdict: 'ready'; present?: boolean } & WentOn) | { verdict: 'waiting' } | Held;

/**
 * An activity that is asked to go on also does the following steps, until one has to wait. A later step's result that
 * `WentOn` cannot express is left out: that step then runs as an activity of its own and gets the result again, so that
 * the workflow follows the path that its earlier versions know.
 */
interface GoesOn {
  goOn?: boolean;
  /** The workflow understands `held`; earlier versions do not set this. */
  orHold?: boolean;
}

/** How far an activity got. */
export interface WentOn {
  /** It reached the end of the hire. */
  done?: boolean;
  /** The write-back waits for a person; what the partner refused is not sent again by itself. */
  held?: HoldRequest;
}

type Answered = { verdict: 'waiting' } | { verdict: 'answered'; next: HireStep | 'same'; ends?: EndState };

/**
 * The activities that the hire workflow may call. Each activity can run twice and names the key that makes this
 * harmless.
 */
export interface HireActivities {
  /** By (tenant, job candidate, period) in `hires`: opens the hire and enrols, or tells how it ended. */
  openHire(input: Omit<HireInput, 'timing' | 'carried'> & { adopt: boolean; watch: boolean }): Promise<Opened>;
  /** Reads only: whether this person is in a hiring stage now. One reading does not prove absence. */
  readHire(input: HireRef): Promise<{ verdict: 'in' | 'out' | 'missing' }>;
  /** By the enrolment's reference: an enrolment that is found is adopted, never sent twice. Costs one credit. */
  enrol(input: HireRef): Promise<Enrolled>;
  /** By the enrolment's number in `hires`: ends the live enrolment and counts up, once per answered hold. */
  startNextEnrolment(input: HireRef): Promise<{ verdict: 'begun' } | Held>;
  /**
   * `asked`: the hire waits for an answer about its onboarding; if the onboarding is ready now, that question is
   * closed.
   */
  readOnboarding(input: HireRef & GoesOn & { asked?: boolean }): Promise<Onboarding>;
  /**
   * By the claim on the person and this hire's intent: reads, plans, and makes one employee or takes the existing one.
   * `seenAtOpening`: no news of the person came since the hire was opened, so this process may reuse that reading.
   */
  employ(input: HireRef & GoesOn & { seenAtOpening?: boolean }): Promise<Employed>;
  /** Writes the same values again and reads each of them back; once all are shown, the hire is done. */
  finishHire(input: HireRef): Promise<{ verdict: 'verified' } | { verdict: 'differs'; hold: HoldRequest } | Held>;
  /** The second reading, and the check of the key. Returns `here` until absence is proven. */
  confirmGone(input: HireRef): Promise<{ verdict: 'gone' | 'here' }>;
  /** A change limit: beyond the tenant's number of cancellations per hour, a person decides. */
  allowCancellation(input: HireRef): Promise<{ verdict: 'allowed' } | Held>;
  /**
   * Terminates the enrolment, releases the claim and ends the period; returns `back` if the person is in the stage
   * again.
   */
  cancelHire(input: HireRef): Promise<{ verdict: 'cancelled'; state: HireState } | { verdict: 'back' } | Held>;
  /**
   * Whether the person is in the stage again while the hire waits to be ended; if so, closes that question. Ends
   * nothing, because a refused request is not sent again.
   */
  lookForReturn(input: HireRef): Promise<{ verdict: 'back' | 'away' }>;
  /** For workflows that began before `judgeDeparture` existed. */
  describeLeftAfterEmployee(input: HireRef): Promise<HoldRequest>;
  /**
   * Decides about a finished hire whose person is gone: asks before the first day and `noShowDays` after it, and ends
   * the hire as `left` later on. Returns `back` if the person is in the stage again.
   */
  judgeDeparture(input: HireRef): Promise<{ verdict: 'over' } | { verdict: 'back' } | Held>;
  /**
   * By this hire's intent: ends the employment of a person who did not start, and tells the partner. Returns `back` if
   * the person is in the stage again.
   */
  endEmployment(input: HireRef): Promise<{ verdict: 'over' } | { verdict: 'back' } | Held>;
  /** The person takes another job: answers the question of that job's hire about them. Repeating it changes nothing. */
  handOver(input: HireRef): Promise<{ verdict: 'over' }>;
  hasEmployee(input: HireRef): Promise<boolean>;
  /** By (hire, code): an open hold is not opened twice. */
  openHold(input: HireRef & { hold: HoldRequest }): Promise<{ holdId: string }>;
  /** Closes an answered hold and says where its answer leads. Returns `waiting` while it has no answer. */
  takeAnswer(input: HireRef & { holdId: string }): Promise<Answered>;
}

/** What one reconcile saw and did. */
export interface ReconcileCounts {
  jobs: number;
  jobsListed: number;
  people: number;
  started: number;
  /** Hires that were signalled to read again. */
  hinted: number;
  /** Records that do not fit the contract: seen, counted and skipped. */
  unreadable: number;
}

/** The result of a reconcile that Temporal stores. */
export interface Reconciled extends ReconcileCounts {
  /** When it ended, ms by the store's clock; absent in results of earlier versions. */
  reconciledAt?: number;
}

export interface ReconcileActivities {
  reconcile(input: { tenantId: string }): Promise<Reconciled>;
}
