import type { EndState, HireRef, HireState, HireStep } from './hire.ts';
import type { HireInput, HirePolicy, HireResult } from './hire-run.ts';
import type { Held, HoldRequest } from './holds.ts';

export type Opened =
  | {
      verdict: 'open';
      period: number;
      step: HireStep;
      policy: HirePolicy;
      /** Answered, and not yet acted upon. */
      hold?: { holdId: string; code: string };
      /** What the enrolment came to, where the opening went on to it. */
      enrolled?: Enrolled;
    }
  | { verdict: 'closed'; period: number; state: HireResult['state'] };

/** `present`: this call read the person in the stage. `waiting`: the new enrolment has not begun. */
export type Enrolled =
  | { verdict: 'enrolled'; present?: boolean; waiting?: boolean }
  | { verdict: 'skip' }
  | { verdict: 'left' }
  | { verdict: 'no-credits'; waitMs: number }
  | Held;

/** `present` as with `Enrolled`. */
export type Employed =
  | ({ verdict: 'employee'; present?: boolean } & WentOn)
  | { verdict: 'not-yet' }
  /** The person is back in the stage since it was planned. */
  | { verdict: 'stale' }
  | { verdict: 'left' }
  | { verdict: 'pending'; nextCheckMs: number }
  | Held;

export type Onboarding = ({ verdict: 'ready'; present?: boolean } & WentOn) | { verdict: 'waiting' } | Held;

/**
 * An activity that is asked to go on does the steps after its own, as long as nothing is to be waited for. What a later
 * step came to is left out where `WentOn` has no name for it: as an activity of its own, that step comes to it again,
 * so that the workflow takes the way that earlier versions of it know.
 */
interface GoesOn {
  goOn?: boolean;
  /** The workflow knows `held`; earlier versions ask without it. */
  orHold?: boolean;
}

/** Where an activity that went on came to. */
export interface WentOn {
  /** To the hire's end. */
  done?: boolean;
  /** The write-back waits for a person: what the partner refused is not sent again by itself. */
  held?: HoldRequest;
}

export type Answered = { verdict: 'waiting' } | { verdict: 'answered'; next: HireStep | 'same'; ends?: EndState };

/** What the hire workflow may ask of the world. Every one can run twice; each says by which key that is harmless. */
export interface HireActivities {
  /** By (tenant, job candidate, period) in `hires`: opens the hire and enrols, or says how it ended. */
  openHire(input: Omit<HireInput, 'timing' | 'carried'> & { adopt: boolean; watch: boolean }): Promise<Opened>;
  /** Read-only: is this person in a hiring stage now? One reading proves nothing about absence. */
  readHire(input: HireRef): Promise<{ verdict: 'in' | 'out' | 'missing' }>;
  /** By the reference of this enrolment: found is adopted, never sent twice. Costs one credit. */
  enrol(input: HireRef): Promise<Enrolled>;
  /** By the enrolment's number in `hires`: ends the live enrolment and counts up once per answered hold. */
  startNextEnrolment(input: HireRef): Promise<{ verdict: 'begun' } | Held>;
  /** `asked`: the hire waits for an answer about its onboarding, which is closed where the onboarding is ready now. */
  readOnboarding(input: HireRef & GoesOn & { asked?: boolean }): Promise<Onboarding>;
  /**
   * By the claim on the person and the intent of this hire: reads, plans, and makes one employee or takes the one that
   * is there. `seenAtOpening`: nothing was heard of the person since the hire was opened, so what this process read
   * then may serve.
   */
  employ(input: HireRef & GoesOn & { seenAtOpening?: boolean }): Promise<Employed>;
  /** Writes the same values again, and reads each of them back; with everything shown the hire is done. */
  finishHire(input: HireRef): Promise<{ verdict: 'verified' } | { verdict: 'differs'; hold: HoldRequest } | Held>;
  /** The second reading and the known-good reading. `here` as long as absence is not proven. */
  confirmGone(input: HireRef): Promise<{ verdict: 'gone' | 'here' }>;
  /** A change limit: above the tenant's number of cancellations an hour, a person decides. */
  allowCancellation(input: HireRef): Promise<{ verdict: 'allowed' } | Held>;
  /**
   * Terminates the enrolment, releases the claim, ends the period; `back` when the person stands in the stage again.
   */
  cancelHire(input: HireRef): Promise<{ verdict: 'cancelled'; state: HireState } | { verdict: 'back' } | Held>;
  /**
   * Whether the person of a hire that waits to be ended stands in the stage again; then the question how it ends is
   * closed. Ends nothing: what was refused is not sent again.
   */
  lookForReturn(input: HireRef): Promise<{ verdict: 'back' | 'away' }>;
  /** As asked by workflows that began before there was `judgeDeparture`. */
  describeLeftAfterEmployee(input: HireRef): Promise<HoldRequest>;
  /**
   * What it means that the person of a finished hire is gone: a question before the first day, and afterwards nothing;
   * then the hire is over as `left`. `back` when the person stands in the stage again.
   */
  judgeDeparture(input: HireRef): Promise<{ verdict: 'over' } | { verdict: 'back' } | Held>;
  /**
   * By the intent of this hire: ends the employment of somebody who did not start, and tells the partner. `back` when
   * the person stands in the stage again.
   */
  endEmployment(input: HireRef): Promise<{ verdict: 'over' } | { verdict: 'back' } | Held>;
  /** The person takes another job: what its hire asks about them is answered by it. Repeating it changes nothing. */
  handOver(input: HireRef): Promise<{ verdict: 'over' }>;
  hasEmployee(input: HireRef): Promise<boolean>;
  /** By (hire, code): an open hold is not opened twice. */
  openHold(input: HireRef & { hold: HoldRequest }): Promise<{ holdId: string }>;
  /** Closes an answered hold and says where its answer leads. `waiting` while nobody answered. */
  takeAnswer(input: HireRef & { holdId: string }): Promise<Answered>;
}
