import { DateTime } from 'luxon';

/** The day of a moment in a time zone, `YYYY-MM-DD`. */
export function dayOf(at: number, zone = 'UTC'): string {
  return DateTime.fromMillis(at, { zone }).toFormat('yyyy-MM-dd');
}

const DAY_MS = 86_400_000;

/** The day that is this long before a moment. A day of 23 or 25 hours, when clocks change, counts as one. */
export function dayBefore(at: number, ms: number, zone = 'UTC'): string {
  return DateTime.fromMillis(at, { zone })
    .minus({ days: Math.floor(ms / DAY_MS), milliseconds: ms % DAY_MS })
    .toFormat('yyyy-MM-dd');
}
