import { DateTime } from 'luxon';
import type { Notify } from '../tenants/notify-section.ts';

/** A tenant's digest day: the 24 hours before its digest, ms since 1970. */
export interface DigestDay {
  /** The day on which it ends, YYYY-MM-DD in the tenant's time zone. */
  day: string;
  from: number;
  to: number;
}

/** A tenant without an earlier digest gets its first at the next due time, not at once. */
const FIRST_WITHIN_MS = 3_600_000;

/** The day whose digest is due now, if any. `lastDay` is the day of the last digest. */
export function dueDigest(
  notify: Notify | undefined,
  lastDay: string | null | undefined,
  now: Date,
): DigestDay | undefined {
  if (notify?.digest === undefined) return undefined;
  const [hour = 0, minute = 0] = notify.digest.split(':').map(Number);
  const local = DateTime.fromJSDate(now, { zone: notify.timezone });
  const today = local.set({ hour, minute, second: 0, millisecond: 0 });
  const end = today <= local ? today : today.minus({ days: 1 });
  const day = end.toISODate();
  if (day === null) return undefined;
  const hadOne = lastDay !== null && lastDay !== undefined;
  if (hadOne ? lastDay >= day : local.diff(end).toMillis() >= FIRST_WITHIN_MS) return undefined;
  return { day, from: end.minus({ days: 1 }).toMillis(), to: end.toMillis() };
}
