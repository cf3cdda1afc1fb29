import { dayOf } from '../day-of.ts';

/** An employment lasts until its last day, `YYYY-MM-DD`, is over; without one of that form it goes on. */
export function hasEnded(lastDay: string | null): boolean {
  return lastDay !== null && isDay(lastDay) && lastDay < dayOf(Date.now());
}

/** `YYYY-MM-DD`, and a time behind it. */
export function isDay(text: string): boolean {
  return /^[1-9]\d{3}-\d{2}-\d{2}(?!\d)/.test(text);
}
