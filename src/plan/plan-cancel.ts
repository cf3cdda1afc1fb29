import { rejected } from '../errors.ts';
import { asksToCancel } from '../hire/answers.ts';
import type { FieldValue, HireState } from '../hire/hire.ts';
import { type Held, held } from '../hire/holds.ts';

interface CancelledHire {
  jobCandidateId: string;
  state: HireState;
  employeeId: string | null;
  /** Every answer given, oldest first. */
  answers: ReadonlyArray<{ answer: string }>;
}

interface CancelPlan {
  /**
   * `cancelled` if a person decided it: the candidate may still be in the stage, which must not start the hire again.
   */
  ends: 'cancelled' | 'left';
  /** Whether the person may be back, in which case the hire goes on. */
  mayBeBack: boolean;
}

/**
 * Ends a hire without an employee, because a person decided so or because its person left the stage. If a late answer
 * shows that there is an employee by now, a person is asked.
 */
export function planCancel({ jobCandidateId, state, employeeId, answers }: CancelledHire): CancelPlan | Held {
  const asked = asksToCancel(answers);
  if (employeeId !== null && asked)
    throw rejected(
      'EMPLOYEE_EXISTS',
      `Job candidate ${jobCandidateId} cannot be cancelled: employee ${employeeId} exists. ` +
        'Answer keep to end this hire alone. End the employment in the HR system only if no other hire needs it: ' +
        'another tenant of the company may have made the employee.',
    );
  if (employeeId !== null) return held('LEFT_AFTER_EMPLOYEE', { jobCandidateId, employeeId });
  if (asked) return { ends: 'cancelled', mayBeBack: false };
  return { ends: 'left', mayBeBack: state === 'open' };
}

/** The newest attempt at a write. */
interface Attempt {
  outcome: 'open' | 'done' | 'absent' | 'refused';
  give_up_at: number;
  now: number;
}

type LiveEnrolment =
  | { kind: 'none' }
  | { kind: 'known'; onboardingCandidateId: string }
  /** The answer was lost, so the enrolment is looked up by its reference. */
  | { kind: 'look' }
  /** The request may still be under way. */
  | { kind: 'wait'; waitMs: number };

/** Which enrolment ends with the hire: the known one, or one whose answer was lost. */
export function liveEnrolment(onboardingCandidateId: string | null, enrolling: Attempt | undefined): LiveEnrolment {
  if (onboardingCandidateId !== null) return { kind: 'known', onboardingCandidateId };
  if (enrolling === undefined) return { kind: 'none' };
  const waitMs = enrolling.give_up_at - enrolling.now;
  return enrolling.outcome === 'open' && waitMs > 0 ? { kind: 'wait', waitMs } : { kind: 'look' };
}

/** Whether we may have ended the enrolment ourselves, even if the answer was lost. */
export function mayBeTerminatedByUs(terminating: Pick<Attempt, 'outcome'> | undefined): boolean {
  return terminating?.outcome === 'open' || terminating?.outcome === 'done';
}

/** A person who has an employee record and is no longer in the hiring stage. */
export interface Departure {
  jobCandidateId: string;
  employeeId: string;
  startDate: FieldValue | undefined;
  /** The employment has ended. */
  former: boolean;
  /** Another hire has taken over the employee. */
  takenOver: boolean;
  /** `YYYY-MM-DD` in the tenant's time zone. */
  today: string;
  /** For this many days after the first day, the person may turn out not to have started. */
  noShowDays: number;
  /** The question was asked in time and waits for its answer. */
  asked: boolean;
}

const DAY_MS = 86_400_000;

/**
 * Asks before the first day and for some days after it, because candidates who did not come are moved out of the stage
 * then. Later the employment is the HR system's matter, no matter where the application goes. Without a first day, a
 * person is asked. A question that was asked in time stays open, however late the answer comes.
 */
export function judgeDeparture(departure: Departure): { verdict: 'over' } | Held {
  const { jobCandidateId, employeeId, startDate, former, takenOver, today, noShowDays, asked } = departure;
  if (former || takenOver) return { verdict: 'over' };
  const first = typeof startDate === 'string' ? Date.parse(startDate) : Number.NaN;
  if (Number.isNaN(first)) return held('LEFT_AFTER_EMPLOYEE', { jobCandidateId, employeeId });
  const daysSince = Math.round((Date.parse(today) - first) / DAY_MS);
  if (daysSince > noShowDays && !asked) return { verdict: 'over' };
  return held('LEFT_BEFORE_START', { jobCandidateId, employeeId, ...(daysSince > 0 ? { daysSince } : {}) });
}
