/**
 * Finds out whether 429s come from too many requests under way at once. Rate and concurrency look alike from outside,
 * so it experiments: with one request fewer under way than when a 429 came, and the rate unchanged, a limit of
 * concurrency stays silent and a limit of rate does not.
 */
export interface SavedConcurrency {
  /** Requests that may be under way; null: as many as the rate allows. */
  most: number | null;
  /** No 429 came for long enough: there is such a limit, and this is it. */
  isSure: boolean;
  /** Answers without a 429 since the last change. */
  clean: number;
  /** How often it was lowered without becoming sure in between. */
  lowered: number;
  /** Clean answers until one request more is tried. */
  raiseAfter: number;
  since: number;
  /** No new experiment before. */
  restsUntil: number;
}

/** With fewer under way than this the rate is what limits. */
const LEAST_TO_TRY = 3;
const MOST_LOWERINGS = 3;
const silence = { answers: 200, ms: 15_000 };
const raiseAfter = { first: 2_000, most: 20_000 };
/** Until the next experiment, after one that found no such limit. */
const REST_MS = 600_000;

export const freshConcurrency: Readonly<SavedConcurrency> = {
  most: null,
  isSure: false,
  clean: 0,
  lowered: 0,
  raiseAfter: raiseAfter.first,
  since: 0,
  restsUntil: 0,
};

/** A 429 came with so many under way. True: concurrency is held responsible, and the rate must not be cut. */
export function lowerConcurrency(saved: SavedConcurrency, inFlight: number, now: number): boolean {
  if (saved.most === null) {
    if (inFlight < LEAST_TO_TRY || now < saved.restsUntil) return false;
    Object.assign(saved, { ...freshConcurrency, most: inFlight - 1, since: now, lowered: 1 });
    return true;
  }
  if (saved.lowered >= MOST_LOWERINGS || saved.most <= 1) {
    Object.assign(saved, { ...freshConcurrency, restsUntil: now + REST_MS });
    return false;
  }
  const wait = Math.min(saved.raiseAfter * 2, raiseAfter.most);
  Object.assign(saved, { most: saved.most - 1, lowered: saved.lowered + 1, clean: 0, since: now });
  if (saved.isSure) saved.raiseAfter = wait;
  return true;
}

/** A request succeeded; now and then one more may be under way. */
export function noteClean(saved: SavedConcurrency, inFlight: number, now: number): void {
  if (saved.most === null) return;
  saved.clean += 1;
  if (saved.clean >= silence.answers && now - saved.since >= silence.ms)
    Object.assign(saved, { isSure: true, lowered: 0 });
  // Only a limit that is used up says anything about its size.
  if (!saved.isSure || saved.clean < saved.raiseAfter || inFlight < saved.most) return;
  Object.assign(saved, { most: saved.most + 1, clean: 0, since: now });
}
