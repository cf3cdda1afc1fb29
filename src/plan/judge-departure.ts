import type { FieldValue } from '../hire/employee.ts';
import { type Held, held } from '../hire/holds.ts';

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
