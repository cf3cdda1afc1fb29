import { createEndpointLimits } from './endpoint-limits.ts';
import { LearnedRateLimit, type LimiterClock } from './learned-rate-limit.ts';
import type { Priority, RateLimitAnswer } from './rate-limit.ts';
import type { SavedRateLimit } from './saved-rate-limit.ts';

export interface RateLimiter {
  /**
   * 0: one request may leave now, and is counted. Otherwise: ask again after so many ms. `endpoint`: where it goes, by
   * any name; requests to others need not wait for it.
   */
  ask(priority: Priority, endpoint?: string): number;
  /** Learns from an answer. `sentAt` is of the same clock as `now`. */
  answered(answer: RateLimitAnswer): void;
  /** Requests that may be under way at once; undefined: as many as the rate allows. */
  mostInFlight(): number | undefined;
  /** So many requests were given a permit and will not leave. */
  giveBack(permits: number): void;
  save(): SavedRateLimit;
}

const FIRST_RATE = 10;

/** Learns the rate of an unknown limit from 429s. Pure: no timers, no I/O. README.md says how to drive it. */
export function createRateLimiter(clock: LimiterClock, saved?: SavedRateLimit): RateLimiter {
  // What cannot be read is learned again.
  const isRead = saved !== undefined && saved.rate > 0 && Number.isFinite(saved.rate);
  const { endpoints, ...learned } = isRead ? saved : { rate: FIRST_RATE, limit: 0, noise: 0, limitSeen: false };
  const company = new LearnedRateLimit(clock, learned);
  const limits = createEndpointLimits((own) => createRateLimiter(clock, own), endpoints);
  return {
    ask: (priority, endpoint) => {
      const own = limits.ask(priority, endpoint);
      if (own > 0) return own;
      const wait = company.ask(priority);
      if (wait > 0) limits.giveBack(endpoint);
      return wait;
    },
    answered: (answer) => {
      const judged = limits.judge(answer, () => company.save().rate);
      if (judged === 'company') return company.answered(answer);
      if (judged === 'found') company.forget();
      company.isNotOurs(answer);
    },
    mostInFlight: () => company.mostInFlight(),
    giveBack: (permits) => company.giveBack(permits),
    save: () => {
      const own = limits.save();
      return own === undefined ? company.save() : { ...company.save(), endpoints: own };
    },
  };
}
