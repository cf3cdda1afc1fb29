import type { RateLimitAnswer } from './rate-limit.ts';

/** The latest requests that left, and how many were under way then. */
export interface SentRequests {
  note(inFlight: number): void;
  /**
   * The answer to one, on this process's clock, with those under way when it left; `inFlight` are so now, and are taken
   * where that is forgotten. At its answer their number says how fast answers come, not what was refused.
   */
  received(answer: RateLimitAnswer, inFlight: number): RateLimitAnswer;
}

const MOST_KEPT = 256;
/** No call is under way for longer. */
const LONGEST_CALL_MS = 300_000;

export function createSentRequests(): SentRequests {
  const sent: { at: number; inFlight: number }[] = [];
  const inFlightAt = (sentAt: number) => sent.findLast(({ at }) => at <= sentAt + 1)?.inFlight;
  return {
    note: (inFlight) => {
      sent.push({ at: performance.now(), inFlight });
      if (sent.length > MOST_KEPT) sent.shift();
    },
    received(answer, inFlight) {
      const sentAt = onOwnClock(answer.sentAt);
      return {
        ...answer,
        sentAt,
        inFlight: inFlightAt(sentAt) ?? inFlight,
        roundTripMs: performance.now() - sentAt,
      };
    },
  };
}

/** Wall clocks are set back and forth: only how long ago it was is taken from them. */
function onOwnClock(sentAt: number): number {
  return performance.now() - Math.min(Math.max(Date.now() - sentAt, 0), LONGEST_CALL_MS);
}
