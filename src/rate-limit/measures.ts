/** Counts successes between moments to learn what a limit allows. It averages over whole cycles, pauses included. */
export interface SavedCapacity {
  /** Successes since the start. */
  ok: number;
  /** The latest recoveries from a pause, and the moments of a climb since the last recovery. */
  marks: (Moment & { recovery: boolean })[];
  /** The last recovery before the limit was met too early, or the moment when a climb passed the limit. */
  anchor: Moment;
}

interface Moment {
  at: number;
  /** Successes up to that moment. */
  ok: number;
}

const MOST_MARKS = 8;
/** An average over fewer successes or less time is not reliable. */
const LEAST_OK = 10;
const LEAST_MS = 500;
const long = { ok: 60, ms: 20_000 };

function recoveriesOf({ marks }: SavedCapacity): SavedCapacity['marks'] {
  return marks.filter((one) => one.recovery);
}

export function mark(saved: SavedCapacity, now: number, recovery: boolean): void {
  const others = saved.marks.filter((one) => !one.recovery);
  // A recovery ends the climb, so its moments are dropped.
  saved.marks = [...recoveriesOf(saved).slice(-MOST_MARKS), ...(recovery ? [] : others.slice(-3 * MOST_MARKS))];
  saved.marks.push({ at: now, ok: saved.ok, recovery });
}

/** Starts counting anew, because earlier counts say nothing about the limit. Returns the successes so far. */
export function beginCycle(saved: SavedCapacity, now: number): number {
  saved.marks = [];
  mark(saved, now, true);
  anchorAt(saved, now);
  return saved.ok;
}

export function anchorAt(saved: SavedCapacity, at: number): void {
  saved.anchor = { at, ok: saved.ok };
}

/**
 * Average successes per second from the last recovery until now, which must be a recovery too. Such a span starts and
 * ends with the limit used up, so its average is what the limit allows, whatever the kind of limit. Short cycles are
 * merged.
 */
export function sinceRecovery(saved: SavedCapacity, now: number): number {
  const recoveries = recoveriesOf(saved);
  const from = recoveries.findLast((one) => saved.ok - one.ok >= LEAST_OK && now - one.at >= LEAST_MS) ?? recoveries[0];
  return from === undefined ? 0 : averageSince(saved, from, now);
}

/** The highest average since any known recovery: the last recovery may have come in the middle of a window. */
export function bestSinceRecovery(saved: SavedCapacity, now: number): number {
  return Math.max(0, ...recoveriesOf(saved).map((one) => averageSince(saved, one, now)));
}

/** The average over one or more cycles that are too long to be a single burst. */
export function sinceLongAgo(saved: SavedCapacity, now: number, leastMs: number): number | undefined {
  const least = Math.max(long.ms, leastMs);
  const from = recoveriesOf(saved).findLast((one) => saved.ok - one.ok >= long.ok && now - one.at >= least);
  return from === undefined ? undefined : averageSince(saved, from, now);
}

/** The highest average of the latest cycles, each from one recovery to the next; 0 if all were too short. */
export function bestCycle(saved: SavedCapacity, now: number, cycles: number): number {
  const ends = [...recoveriesOf(saved).slice(-cycles), { at: now, ok: saved.ok }];
  const cycle = (n: number): number => {
    const [from, to] = [ends[n], ends[n + 1]];
    return from === undefined || to === undefined || to.ok - from.ok < LEAST_OK / 2 ? 0 : averageSince(to, from, to.at);
  };
  return Math.max(0, ...ends.map((_, n) => cycle(n)));
}

/**
 * The average over the last `ms`, and the pace at the start of that time; undefined if too few successes were counted.
 */
export function overLast(
  saved: SavedCapacity,
  now: number,
  ms: number,
): { average: number; begun: number } | undefined {
  const place = saved.marks.findLastIndex((one) => one.at <= now - ms);
  const [from, next] = [saved.marks[place], saved.marks[place + 1]];
  if (from === undefined || next === undefined || saved.ok - from.ok < long.ok) return undefined;
  const begun = averageSince(next, from, next.at);
  const at = now - ms;
  return { average: averageSince(saved, { at, ok: from.ok + (begun * (at - from.at)) / 1000 }, now), begun };
}

export function sinceAnchor(saved: SavedCapacity, now: number): number {
  return averageSince(saved, saved.anchor, now);
}

/** The average from the last recovery until `at`, without the pause that began there. */
export function whileSending({ ok, marks }: SavedCapacity, at: number): number {
  const from = marks.findLast((one) => one.recovery) ?? { at, ok };
  return ((ok - from.ok) * 1000) / Math.max(at - from.at, LEAST_MS);
}

/** The highest average since a mark at least `leastMs` ago: a cycle that began far below the limit tells too little. */
export function highestSince(saved: SavedCapacity, now: number, leastMs: number): { from: Moment; perSecond: number } {
  return saved.marks
    .filter((one) => now - one.at >= leastMs && saved.ok - one.ok >= 2 * LEAST_OK)
    .map(({ at, ok }) => ({ from: { at, ok }, perSecond: averageSince(saved, { at, ok }, now) }))
    .reduce((best, one) => (one.perSecond > best.perSecond ? one : best), { from: saved.anchor, perSecond: 0 });
}

function averageSince({ ok }: Pick<SavedCapacity, 'ok'>, from: Moment, now: number): number {
  return ((ok - from.ok) * 1000) / Math.max(now - from.at, LEAST_MS);
}

/** Looks for a limit while 429s also come as known noise. */
export const freshWatch = {
  /** Evidence that the limit refuses every request. */
  run: 0,
  /** Evidence that more requests are refused than noise explains, with the counts so far. */
  excess: 0,
  answers: 0,
  limited: 0,
};
export type NoiseWatch = typeof freshWatch;

/** A share of 429s above this is not noise. */
export const MOST_NOISE = 0.3;
const TEST_RATE = 0.75;
/**
 * If fewer answers than this share are 429s, the limit was barely exceeded: a tenth less stops them. Such a test takes
 * long.
 */
const few = { share: 0.04, testRate: 0.9 };
const LEAST_OF_BEFORE = 0.45;

/**
 * Tells 429s that come at any rate from 429s of a limit: at three quarters of the rate, a limit stops answering 429 and
 * noise does not. The tests are sequential and end as soon as the answers are decisive. Starts close below the rate of
 * the first 429: if the 429s are noise, the cuts made since were too deep.
 */
export function beginTest(before: number, rate: number, share: number) {
  const suspected = Math.min(Math.max(0.6 * share, 0.008), MOST_NOISE);
  return {
    /** The rate before the first suspicious 429. */
    before,
    /** The test runs at three quarters of the rate. */
    rate: Math.max(rate, LEAST_OF_BEFORE * before) * testRateOf(suspected),
    /** How many earlier tests found noise, plus one; each ran at three quarters of the rate before. */
    stage: 1,
    /** Share of 429s to expect if they are noise. */
    suspected,
    answers: 0,
    limited: 0,
    /** Number of runs of consecutive 429s. */
    runs: 0,
    limitedInRow: 0,
    /** Logarithm of the likelihood of noise over the likelihood of a limit. */
    evidence: 0,
  };
}
export type NoiseTest = ReturnType<typeof beginTest>;

function testRateOf(suspected: number): number {
  return suspected < few.share ? few.testRate : TEST_RATE;
}

/** Repeats the test at a lower rate. */
export function repeatTest(test: NoiseTest): NoiseTest {
  const again = beginTest(test.before, test.rate, shareOf(test));
  return { ...again, rate: test.rate * testRateOf(again.suspected), stage: test.stage + 1 };
}

export function shareOf({ answers, limited, suspected }: NoiseTest): number {
  return (limited + 20 * suspected) / (answers + 20);
}

/** The budget that an answer's headers state. Only a hint: the rate is learned from 429s. */
interface AdvertisedBudget {
  remaining: number;
  /** Time until the budget is full again. */
  resetMs: number;
}

/**
 * Reads `RateLimit: "p";r=50;t=30` (draft-ietf-httpapi-ratelimit-headers), its older form `RateLimit-Remaining` and
 * `-Reset`, and the widespread `X-RateLimit-*`, whose reset is either seconds from now or an epoch. Undefined unless
 * both numbers are there.
 */
export function readAdvertisedBudget(headers: Record<string, unknown>, now: number): AdvertisedBudget | undefined {
  const header = headers['ratelimit'];
  const fields = typeof header === 'string' ? header : '';
  const remaining = numberOf(/\br=(\d+)/.exec(fields)?.[1] ?? either(headers, 'remaining'));
  const reset = numberOf(/\bt=(\d+)/.exec(fields)?.[1] ?? either(headers, 'reset'));
  if (remaining === undefined || reset === undefined) return undefined;
  return { remaining, resetMs: Math.max(0, resetMs(reset, serverNow(headers['date'], now))) };
}

function either(headers: Record<string, unknown>, name: string): unknown {
  return headers[`ratelimit-${name}`] ?? headers[`x-ratelimit-${name}`];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'string' && /^\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

/** A small number is seconds from now; a larger one is a point in time, in seconds or in ms. */
function resetMs(reset: number, now: number): number {
  if (reset < 1e8) return reset * 1000;
  return (reset < 1e11 ? reset * 1000 : reset) - now;
}

/** A point in time follows the server's clock, which may be minutes off ours. */
function serverNow(date: unknown, now: number): number {
  const at = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? now : at;
}

/**
 * A window that the server announces: this many calls remain until it ends. Believed once its announced end stays the
 * same.
 */
export interface SavedWindow {
  endsAt: number;
  remaining: number;
  /** When the window was first announced, and how often since. */
  since: number;
  seen: number;
  /** Time from the first announcement to the end. */
  lengthMs?: number;
}

/** Servers announce resets in whole seconds. */
const ROUNDING_MS = 1_500;
const believed = { answers: 4, ms: 2_500 };
/** Whole seconds are too coarse for a shorter window. */
export const LEAST_WINDOW_MS = 3_000;
/** Share of the remaining calls that is kept for live requests. */
const RESERVE = 0.01;
const MARGIN_MS = 60;

export function noteWindow(saved: SavedWindow | null, budget: AdvertisedBudget, now: number): SavedWindow {
  const endsAt = now + budget.resetMs;
  const fresh = { endsAt, remaining: budget.remaining, since: now, seen: 1, lengthMs: budget.resetMs };
  if (saved === null) return fresh;
  const isNext = now >= saved.endsAt - ROUNDING_MS && endsAt > saved.endsAt + ROUNDING_MS;
  // A window that follows a believed window is believed at once.
  if (isNext) return isBelieved(saved, now) ? { ...fresh, since: now - believed.ms, seen: believed.answers } : fresh;
  // An end that moves belongs to a sliding window, whose numbers say less.
  if (endsAt > saved.endsAt + ROUNDING_MS) return fresh;
  return {
    ...saved,
    endsAt: Math.min(saved.endsAt, endsAt),
    remaining: Math.min(saved.remaining, budget.remaining),
    seen: saved.seen + 1,
  };
}

/** Spreads the remaining calls over the rest of the window: calls per second, and how long nothing remains. */
export function paceOf(saved: SavedWindow | null, now: number): { rate: number; spentForMs: number } | undefined {
  if (saved === null || now >= saved.endsAt || !isBelieved(saved, now)) return undefined;
  const left = Math.max(saved.endsAt + MARGIN_MS - now, 1);
  const reserve = saved.remaining * RESERVE;
  return {
    rate: Math.max(((saved.remaining - reserve) * 1000) / left, 1000 / left),
    spentForMs: saved.remaining < 1 ? left : 0,
  };
}

function isBelieved(saved: SavedWindow, now: number): boolean {
  if ((saved.lengthMs ?? LEAST_WINDOW_MS) < LEAST_WINDOW_MS) return false;
  return saved.seen >= believed.answers && now - saved.since >= believed.ms;
}

const MOST_COUNTED = 64;
const MEMORY = 4_000;
/** This many refusals must agree before concurrency is blamed. */
const LEAST_MET = 4;
/** Enough refusals, at numbers in flight where only this share of the successes happened. */
const seldom = { met: 6, share: 0.05 };
const raiseAfter = { first: 300, most: 20_000 };

/**
 * Tells a limit of concurrent requests from a limit of rate. Requests in flight = rate x round trip, so a single 429
 * says nothing. But round trips vary: a concurrency limit refuses nearly every request sent with more than some number
 * in flight and none below, at any rate.
 */
export const freshConcurrency = {
  /** Most requests that may be in flight; null means as many as the rate allows. */
  most: null as number | null,
  /** Successes, and times a limit was met, by the number of requests in flight at the send. */
  ok: [] as number[],
  met: [] as number[],
  /** Successes since the last change while the allowed number was in flight. */
  full: 0,
  /** Successes needed before one more is tried. */
  raiseAfter: raiseAfter.first,
};
export type SavedConcurrency = typeof freshConcurrency;

/** Counts a success; now and then allows one more request in flight. */
export function noteClean(saved: SavedConcurrency, inFlight: number): void {
  const place = Math.min(inFlight, MOST_COUNTED);
  saved.ok[place] = (saved.ok[place] ?? 0) + 1;
  if (sum(saved.ok, 0) > MEMORY) halve(saved);
  if (saved.most === null || inFlight < saved.most) return;
  saved.full += 1;
  if (saved.full < saved.raiseAfter) return;
  Object.assign(saved, { most: saved.most + 1, full: 0 });
}

/**
 * Counts a refusal with this many requests in flight. Returns true if concurrency is to blame, so the rate must not be
 * cut.
 */
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
  // Refusals with fewer in flight than often succeeded: concurrency was not the cause.
  if (sum(saved.met.slice(0, saved.most + 1), 0) >= LEAST_MET) Object.assign(saved, structuredClone(freshConcurrency));
  return false;
}

/** Finds the number in flight above which nearly all refusals happened and few requests succeeded. */
function findMost(saved: SavedConcurrency): number | null {
  const all = sum(saved.met, 0);
  if (all < LEAST_MET) return null;
  const places = Array.from({ length: MOST_COUNTED }, (_, n) => n + 1);
  const clear = places.filter((most) => sum(saved.met, most + 1) >= 0.9 * all && isTelling(saved, most, all));
  const best = clear.findLast((most) => sum(saved.ok.slice(0, most + 1), 0) >= 30);
  return best ?? null;
}

/**
 * A rate limit is met at the usual number in flight, so refusals at rare numbers point to concurrency. Not every
 * request above a concurrency limit is refused: one in flight may end before the next arrives.
 */
function isTelling(saved: SavedConcurrency, most: number, met: number): boolean {
  if (refusedAbove(saved, most) >= 0.5) return true;
  return met >= seldom.met && sum(saved.ok, most + 1) < seldom.share * sum(saved.ok, 0);
}

/** Share of refusals among all requests sent with more than `most` in flight. */
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
