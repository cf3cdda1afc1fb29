import { DateTime } from 'luxon';
import { invalidRequest } from '../../errors.ts';

/** When to call, as the create body says it; the UTC forms win over the local ones (M4, assumed). */
export interface CallTimes {
  callTime?: string | undefined;
  followUpRetries?: readonly { time: string; delayDays: number }[] | undefined;
  callStartTimeUtc?: string | undefined;
  retryScheduleUtc?: readonly string[] | undefined;
}

export interface CallSchedule {
  callTimeDisplay: string;
  callSchedule: { timeBasis: 'LOCAL' | 'UTC'; startTimeLocal: string; startTimeUtc: string };
  /** `delayDays` counts from the day of the first call (M5, assumed). */
  followUpRetries: { time: string; delayDays: number }[];
}

/** Section 4.10: minutes after the previous slot, when retries are left out. */
const RETRY_MINUTES = [60, 90, 90, 90];
const OPENS = { hour: 9, minute: 0, second: 0, millisecond: 0 };
const CLOSES = { ...OPENS, hour: 21 };

/** The first call and its retries, each between 09:00 and 21:00 of the campaign's time zone. `now` is epoch ms. */
export function planCalls(timezone: string, times: CallTimes, now: number): CallSchedule {
  const first = intoHours(firstCall(timezone, times, now));
  const later = retries(timezone, times, first);
  refuseTimes(times, first, later, now);
  return {
    callTimeDisplay: first.setLocale('en-US').toFormat('h:mm a'),
    callSchedule: {
      timeBasis: times.callStartTimeUtc === undefined ? 'LOCAL' : 'UTC',
      startTimeLocal: first.toFormat('HH:mm'),
      startTimeUtc: first.toUTC().toISO() ?? '',
    },
    followUpRetries: later.map((slot) => ({
      time: slot.toFormat('HH:mm'),
      delayDays: Math.round(slot.startOf('day').diff(first.startOf('day'), 'days').days),
    })),
  };
}

/** A start so long ago has the wrong year; one of today that has just passed is called at once (M4, assumed). */
const LONG_AGO_MS = 365 * 86_400_000;

function refuseTimes(times: CallTimes, first: DateTime, later: readonly DateTime[], now: number): void {
  const start = times.callStartTimeUtc === undefined ? 'callTime' : 'callStartTimeUtc';
  if (!first.isValid) throw invalidRequest('A call is beyond the calendar', { [start]: 'is beyond the calendar' });
  if (first.toMillis() < now - LONG_AGO_MS)
    throw invalidRequest('The first call is long past', { [start]: 'is more than a year ago' });
  for (const [index, slot] of later.entries()) {
    const field = times.retryScheduleUtc === undefined ? 'followUpRetries' : 'retryScheduleUtc';
    const wrong = !slot.isValid ? 'is beyond the calendar' : isBeforeStart(times, slot) ? 'is before the start' : '';
    const path = `${field}[${String(index)}]`;
    if (wrong !== '') throw invalidRequest(`${path} ${wrong}`, { [path]: wrong });
  }
}

/** Judged only where both are given in UTC: the local forms say themselves how long after the start they are. */
function isBeforeStart({ callStartTimeUtc, retryScheduleUtc }: CallTimes, slot: DateTime): boolean {
  if (callStartTimeUtc === undefined || retryScheduleUtc === undefined) return false;
  return slot.toMillis() < Date.parse(callStartTimeUtc);
}

/** The next time the clock there shows `callTime`, 09:00 unless given (M11, assumed). */
function firstCall(timezone: string, { callTime = '09:00', callStartTimeUtc }: CallTimes, now: number): DateTime {
  if (callStartTimeUtc !== undefined) return DateTime.fromISO(callStartTimeUtc, { zone: timezone });
  const today = atTime(DateTime.fromMillis(now, { zone: timezone }), callTime);
  return today.toMillis() > now ? today : atTime(today.plus({ days: 1 }), callTime);
}

function retries(timezone: string, { followUpRetries, retryScheduleUtc }: CallTimes, first: DateTime): DateTime[] {
  if (retryScheduleUtc !== undefined)
    return retryScheduleUtc.map((instant) => intoHours(DateTime.fromISO(instant, { zone: timezone })));
  if (followUpRetries !== undefined)
    return followUpRetries.map(({ time, delayDays }) => intoHours(atTime(first.plus({ days: delayDays }), time)));
  let previous = first;
  return RETRY_MINUTES.map((minutes) => (previous = intoHours(previous.plus({ minutes }))));
}

/**
 * A slot after 21:00 moves to 09:00 of the next day, one before 09:00 to 09:00; 21:00 itself is in time (M4, M5,
 * assumed).
 */
function intoHours(slot: DateTime): DateTime {
  if (slot > slot.set(CLOSES)) return slot.plus({ days: 1 }).set(OPENS);
  return slot < slot.set(OPENS) ? slot.set(OPENS) : slot;
}

function atTime(day: DateTime, time: string): DateTime {
  const [hour = 0, minute = 0] = time.split(':').map(Number);
  return day.set({ hour, minute, second: 0, millisecond: 0 });
}
