import { unlessSetBack } from './live-lead.ts';
import type { RateLimiter } from './rate-limiter.ts';

/**
 * A tenant's ceiling: at most a share of the company's rate, because others call the same company. The company's rate
 * is what the limiter learned with the ceiling lifted: from then on, fewer of our calls mean that others make theirs,
 * and half of what they leave would be too little.
 */
export interface SavedCeiling {
  /** Calls a second; null until it was measured. */
  companyRate: number | null;
  /** The ceiling is lifted, and the company's rate measured, until the limit was met some times. */
  measuringSince: number | null;
  measuredAt: number;
  meetings: number;
  inMeeting: boolean;
  /** When the next permit is due at an even rate. */
  tat: number;
}

export const freshCeiling: Readonly<SavedCeiling> = {
  companyRate: null,
  measuringSince: 0,
  measuredAt: 0,
  meetings: 0,
  inMeeting: false,
  tat: 0,
};

/** The company's rate may have changed by then. */
const MEASURE_EVERY_MS = 3_600_000;
/** What one meeting says may be some percent below the limit. */
const MEETINGS = 3;
/** A known limit that is not met in so long is as it was. */
const MEASURE_MS = 120_000;
const BURST_MS = 20;

/** Takes note of what the limiter has learned by now; changes `saved` in place. */
export function measureCompany(saved: SavedCeiling, limiter: RateLimiter, now: number): void {
  const { limit, limitSeen, underWay } = limiter.save();
  // By a clock that was set back since it would never be due.
  saved.measuredAt = Math.min(saved.measuredAt, now);
  if (saved.measuringSince !== null) saved.measuringSince = Math.min(saved.measuringSince, now);
  if (saved.measuringSince === null) {
    if (now - saved.measuredAt > MEASURE_EVERY_MS) Object.assign(saved, { measuringSince: now, meetings: 0 });
    return;
  }
  const inMeeting = (underWay?.meeting ?? null) !== null;
  if (saved.inMeeting && !inMeeting) saved.meetings += 1;
  saved.inMeeting = inMeeting;
  const isLate = saved.companyRate !== null && now - saved.measuringSince > MEASURE_MS;
  if (!limitSeen || inMeeting || (saved.meetings < MEETINGS && !isLate)) return;
  Object.assign(saved, { companyRate: limit, measuringSince: null, measuredAt: now });
}

/** Between two permits, ms; 0 while the ceiling is lifted. */
export function ceilingInterval({ measuringSince, companyRate }: SavedCeiling, share: number): number {
  return measuringSince === null && companyRate !== null ? 1000 / (companyRate * share) : 0;
}

/** The limiter, which gives permits no faster than the share allows. */
export function underCeiling(
  limiter: RateLimiter,
  { share, saved, now }: { share: number; saved: SavedCeiling; now: () => number },
): RateLimiter {
  const interval = (): number => ceilingInterval(saved, share);
  saved.tat = unlessSetBack(saved.tat, now(), interval());
  return {
    ...limiter,
    ask(priority) {
      const waitMs = saved.tat - BURST_MS - now();
      if (interval() > 0 && waitMs > 0) return waitMs;
      const limiterWaitMs = limiter.ask(priority);
      if (limiterWaitMs === 0) saved.tat = Math.max(saved.tat, now()) + interval();
      return limiterWaitMs;
    },
    giveBack(permits) {
      saved.tat -= permits * interval();
      limiter.giveBack(permits);
    },
    mostInFlight() {
      const most = limiter.mostInFlight();
      return most === undefined ? undefined : Math.max(1, Math.floor(most * share));
    },
  };
}
