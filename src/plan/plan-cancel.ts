import { ConnectorError } from '../errors.ts';
import { asksToCancel } from '../hire/answers.ts';
import type { FieldValue } from '../hire/employee.ts';
import type { HireState } from '../hire/hire.ts';
import { type Held, held } from '../hire/holds.ts';

interface CancelledHire {
  jobCandidateId: string;
  state: HireState;
  employeeId: string | null;
  /** Every answer given, oldest first. */
  answers: ReadonlyArray<{ answer: string }>;
}

interface CancelPlan {
  /** By a person's word they may still stand in the stage: that must not start the hire again, so it is not `left`. */
  ends: 'cancelled' | 'left';
  /** Whether the person may be back: then the hire goes on. */
  mayBeBack: boolean;
}

/**
 * Ends a hire that has no employee: by a person's word, or because its person left the stage. One that has an employee
 * by now, whose answer came late, is a question.
 */
export function planCancel({ jobCandidateId, state, employeeId, answers }: CancelledHire): CancelPlan | Held {
  const asked = asksToCancel(answers);
  if (employeeId !== null && asked) throw hasEmployee(jobCandidateId, employeeId);
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
  /** Its answer was lost: it is looked up by its reference. */
  | { kind: 'look' }
  /** Its request may still be under way. */
  | { kind: 'wait'; waitMs: number };

/** Which enrolment ends with the hire: the one that we know of, or one whose answer was lost. */
export function liveEnrolment(onboardingCandidateId: string | null, enrolling: Attempt | undefined): LiveEnrolment {
  if (onboardingCandidateId !== null) return { kind: 'known', onboardingCandidateId };
  if (enrolling === undefined) return { kind: 'none' };
  const waitMs = enrolling.give_up_at - enrolling.now;
  return enrolling.outcome === 'open' && waitMs > 0 ? { kind: 'wait', waitMs } : { kind: 'look' };
}

/** Whether it may have been us who ended the enrolment: also when the answer to that was lost. */
export function mayBeTerminatedByUs(terminating: Pick<Attempt, 'outcome'> | undefined): boolean {
  return terminating?.outcome === 'open' || terminating?.outcome === 'done';
}

function hasEmployee(jobCandidateId: string, employeeId: string): ConnectorError {
  return new ConnectorError({
    code: 'EMPLOYEE_EXISTS',
    action: 'reject',
    message:
      `Job candidate ${jobCandidateId} cannot be cancelled: employee ${employeeId} exists. ` +
      'End the employment in the HR system.',
  });
}

/** Somebody who has an employee and is no longer in the hiring stage. */
export interface Departure {
  jobCandidateId: string;
  employeeId: string;
  startDate: FieldValue | undefined;
  /** The employment has ended by now. */
  former: boolean;
  /** Another hire has the employee by now. */
  takenOver: boolean;
  /** `YYYY-MM-DD`, in the tenant's time zone. */
  today: string;
  /** So many days after the first one somebody may not have started. */
  noShowDays: number;
  /** The question was asked in time and waits for its answer. */
  asked: boolean;
}

const DAY_MS = 86_400_000;

/**
 * Before the first day, and for some days after it, it is a question: who did not come is moved out of the stage then.
 * Later the employment is the HR system's, wherever the application goes. Without a first day a person has to know. A
 * question that was asked in time stays one, however late its answer comes.
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
