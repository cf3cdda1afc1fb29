/** The latest requests that left, and how many were under way then. */
export interface SentRequests {
  note(inFlight: number): void;
  /**
   * Under way when a request left; undefined where that is forgotten. At its answer the number says how fast answers
   * come, not what was refused.
   */
  inFlightAt(sentAt: number): number | undefined;
}

const MOST_KEPT = 256;
/** No call is under way for longer. */
const LONGEST_CALL_MS = 300_000;

export function createSentRequests(): SentRequests {
  const sent: { at: number; inFlight: number }[] = [];
  return {
    note: (inFlight) => {
      sent.push({ at: performance.now(), inFlight });
      if (sent.length > MOST_KEPT) sent.shift();
    },
    inFlightAt: (sentAt) => sent.findLast(({ at }) => at <= sentAt + 1)?.inFlight,
  };
}

/** Wall clocks are set back and forth: only how long ago it was is taken from them. */
export function onOwnClock(sentAt: number): number {
  return performance.now() - Math.min(Math.max(Date.now() - sentAt, 0), LONGEST_CALL_MS);
}
