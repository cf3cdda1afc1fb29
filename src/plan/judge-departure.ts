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
  /** `YYYY-MM-DD` */
  today: string;
}

/**
 * Before the first day it is a question; from then on the employment is the HR system's, wherever the application goes.
 * Without a first day a person has to know.
 */
export function judgeDeparture(departure: Departure): { verdict: 'over' } | Held {
  const { jobCandidateId, employeeId, startDate, former, takenOver, today } = departure;
  if (former || takenOver) return { verdict: 'over' };
  if (typeof startDate !== 'string') return held('LEFT_AFTER_EMPLOYEE', { jobCandidateId, employeeId });
  // In the west it is still the day before.
  return startDate >= today ? held('LEFT_BEFORE_START', { jobCandidateId, employeeId }) : { verdict: 'over' };
}
