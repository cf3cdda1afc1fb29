import { dayOf } from '../day-of.ts';

/** An employment lasts through its last day, `YYYY-MM-DD`; without a valid one it goes on. */
export function hasEnded(lastDay: string | null): boolean {
  return lastDay !== null && isDay(lastDay) && lastDay < dayOf(Date.now());
}

/** `YYYY-MM-DD`, optionally followed by a time. */
export function isDay(text: string): boolean {
  return /^[1-9]\d{3}-\d{2}-\d{2}(?!\d)/.test(text);
}
