import { DateTime } from 'luxon';

/** The day of a moment in a time zone, `YYYY-MM-DD`. */
export function dayOf(at: number, zone = 'UTC'): string {
  return DateTime.fromMillis(at, { zone }).toFormat('yyyy-MM-dd');
}
