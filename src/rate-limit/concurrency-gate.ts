/**
 * Finds out whether 429s come from too many requests under way at once. Rate and concurrency look alike, so it tries: with one request less under
 * way than when a 429 came, and the rate as it was, a limit of concurrency stays silent and a limit of rate does not.
 */
export interface SavedGate {
  /** Requests that may be under way; null: as many as the rate lets go. */
  most: number | null;
  /** It was silent for long enough. */
  isSure: boolean;
  clean: number;
  /** How often it was narrowed without a silence between. */
  narrowed: number;
  /** So many clean answers until one more is tried. */
  widenAfter: number;
  since: number;
  /** No new trial before. */
  restsUntil: number;
}

/** Fewer under way than this is what an even rate limit does anyway. */
const leastToTry = 3;
const mostNarrowings = 3;
const silence = { answers: 200, ms: 15_000 };
const widenAfter = { first: 2_000, most: 20_000 };
/** The next trial after one that found no such limit. */
const restMs = 600_000;

export const freshGate: Readonly<SavedGate> = {
  most: null,
  isSure: false,
  clean: 0,
  narrowed: 0,
  widenAfter: widenAfter.first,
  since: 0,
  restsUntil: 0,
};

/** A 429 came with so many under way. True: the gate takes it upon itself, and the rate is not to be cut. */
export function narrowGate(gate: SavedGate, inFlight: number, now: number): boolean {
  if (gate.most === null) {
    if (inFlight < leastToTry || now < gate.restsUntil) return false;
    Object.assign(gate, { ...freshGate, most: inFlight - 1, since: now, narrowed: 1 });
    return true;
  }
  if (gate.narrowed >= mostNarrowings || gate.most <= 1) {
    Object.assign(gate, { ...freshGate, restsUntil: now + restMs });
    return false;
  }
  const wait = Math.min(gate.widenAfter * 2, widenAfter.most);
  Object.assign(gate, { most: gate.most - 1, narrowed: gate.narrowed + 1, clean: 0, since: now });
  if (gate.isSure) gate.widenAfter = wait;
  return true;
}

/** A request succeeded; now and then one more may be under way. */
export function noteClean(gate: SavedGate, inFlight: number, now: number): void {
  if (gate.most === null) return;
  gate.clean += 1;
  if (gate.clean >= silence.answers && now - gate.since >= silence.ms)
    Object.assign(gate, { isSure: true, narrowed: 0 });
  // Only a gate that is full says anything about its width.
  if (!gate.isSure || gate.clean < gate.widenAfter || inFlight < gate.most) return;
  Object.assign(gate, { most: gate.most + 1, clean: 0, since: now });
}
