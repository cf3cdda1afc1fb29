/**
 * Tells limits of requests under way at once from limits of rate. In flight = rate x round trip, so one 429 says
 * nothing; but round trips vary, and a limit of concurrency refuses nearly everything above some number that was under
 * way at the send and nothing below, at whatever rate.
 */
export interface SavedConcurrency {
  /** Requests that may be under way; null: as many as the rate allows. */
  most: number | null;
  /** Successes, and meetings with a limit, by the requests that were under way at the send. */
  ok: number[];
  met: number[];
  /** Successes with as many under way as may be, since the last change. */
  full: number;
  /** Until one more is tried. */
  raiseAfter: number;
}

const MOST_COUNTED = 64;
const MEMORY = 4_000;
/** Meetings that must tell the same. */
const LEAST_MET = 4;
/** So many meetings with so many under way as few successes had. */
const seldom = { met: 6, share: 0.05 };
const raiseAfter = { first: 300, most: 20_000 };

export const freshConcurrency: Readonly<SavedConcurrency> = {
  most: null,
  ok: [],
  met: [],
  full: 0,
  raiseAfter: raiseAfter.first,
};

/** A request succeeded; now and then one more may be under way. */
export function noteClean(saved: SavedConcurrency, inFlight: number): void {
  const place = Math.min(inFlight, MOST_COUNTED);
  saved.ok[place] = (saved.ok[place] ?? 0) + 1;
  if (sum(saved.ok, 0) > MEMORY) halve(saved);
  if (saved.most === null || inFlight < saved.most) return;
  saved.full += 1;
  if (saved.full < saved.raiseAfter) return;
  Object.assign(saved, { most: saved.most + 1, full: 0 });
}

/** A limit was met with so many under way. True: concurrency is held responsible, and the rate must not be cut. */
export function blameConcurrency(saved: SavedConcurrency, inFlight: number): boolean {
  const place = Math.min(inFlight, MOST_COUNTED);
  saved.met[place] = (saved.met[place] ?? 0) + 1;
  if (saved.most === null) {
    saved.most = findMost(saved);
    return saved.most !== null;
  }
  if (inFlight > saved.most) return true;
  if (saved.most > 1 && refusedAbove(saved, inFlight - 1) > 0.2) {
    Object.assign(saved, {
      most: Math.max(1, inFlight - 1),
      full: 0,
      raiseAfter: Math.min(saved.raiseAfter * 4, raiseAfter.most),
    });
    return true;
  }
  // Refused with fewer under way than were let through often: it was not the number.
  if (sum(saved.met.slice(0, saved.most + 1), 0) >= LEAST_MET) Object.assign(saved, structuredClone(freshConcurrency));
  return false;
}

/** The number above which nearly every limit was met, and few went through. */
function findMost(saved: SavedConcurrency): number | null {
  const all = sum(saved.met, 0);
  if (all < LEAST_MET) return null;
  const places = Array.from({ length: MOST_COUNTED }, (_, n) => n + 1);
  const clear = places.filter((most) => sum(saved.met, most + 1) >= 0.9 * all && isTelling(saved, most, all));
  const best = clear.findLast((most) => sum(saved.ok.slice(0, most + 1), 0) >= 30);
  return best ?? null;
}

/**
 * A limit of rate is met with as many under way as usual. Not all are refused above a limit of concurrency either: one
 * of those under way may have ended before the next arrives.
 */
function isTelling(saved: SavedConcurrency, most: number, met: number): boolean {
  if (refusedAbove(saved, most) >= 0.5) return true;
  return met >= seldom.met && sum(saved.ok, most + 1) < seldom.share * sum(saved.ok, 0);
}

/** Share of the meetings among all that left with more than so many under way. */
function refusedAbove({ ok, met }: SavedConcurrency, most: number): number {
  const refused = sum(met, most + 1);
  return refused / Math.max(1, refused + sum(ok, most + 1));
}

function sum(counts: readonly (number | null | undefined)[], from: number): number {
  let total = 0;
  for (let place = from; place < counts.length; place += 1) total += counts[place] ?? 0;
  return total;
}

function halve(saved: SavedConcurrency): void {
  saved.ok = Array.from(saved.ok, (count) => (count ?? 0) / 2);
  saved.met = Array.from(saved.met, (count) => (count ?? 0) / 2);
}
