/** Counts successes between moments, to tell what a limit allows: averages over whole cycles, pauses included. */
export interface SavedCapacity {
  /** Successes ever. */
  ok: number;
  /** The latest recoveries from a pause, and moments in a climb since the last of them. */
  marks: (Moment & { recovery: boolean })[];
  /** The last recovery before meetings that came too early, or the moment when a climb passed the limit. */
  anchor: Moment;
}

interface Moment {
  at: number;
  /** Successes until then. */
  ok: number;
}

const MOST_MARKS = 8;
/** An average over fewer successes, or over less time, says little. */
const LEAST_OK = 10;
const LEAST_MS = 500;
const long = { ok: 60, ms: 20_000 };

export function freshCapacity(now: number): SavedCapacity {
  return { ok: 0, anchor: { at: now, ok: 0 }, marks: [{ at: now, ok: 0, recovery: true }] };
}

export function mark(saved: SavedCapacity, now: number, recovery: boolean): void {
  const [recoveries, others] = [saved.marks.filter((one) => one.recovery), saved.marks.filter((one) => !one.recovery)];
  // A recovery ends the climb.
  saved.marks = [...recoveries.slice(-MOST_MARKS), ...(recovery ? [] : others.slice(-3 * MOST_MARKS))];
  saved.marks.push({ at: now, ok: saved.ok, recovery });
}

/** What was counted before says nothing of the limit. Returns the successes until now. */
export function beginCycle(saved: SavedCapacity, now: number): number {
  saved.marks = [];
  mark(saved, now, true);
  anchorAt(saved, now);
  return saved.ok;
}

export function anchorAt(saved: SavedCapacity, at: number): void {
  saved.anchor = { at, ok: saved.ok };
}

/** A time that does not count: a ban, or a wait that was rounded up, says nothing of what the limit allows. */
export function leaveOut(saved: SavedCapacity, ms: number): void {
  for (const one of [...saved.marks, saved.anchor]) one.at += ms;
}

/**
 * Successes a second from the last recovery until now, one as well: such a span starts and ends with a limit used up,
 * so that it holds what the limit allows, whatever its kind. Short cycles are taken together.
 */
export function sinceRecovery(saved: SavedCapacity, now: number): number {
  const recoveries = saved.marks.filter((one) => one.recovery);
  const from = recoveries.findLast((one) => saved.ok - one.ok >= LEAST_OK && now - one.at >= LEAST_MS) ?? recoveries[0];
  return from === undefined ? 0 : averageSince(saved, from, now);
}

/** The highest of these averages, of all recoveries known: the last may have been in the middle of a window. */
export function bestSinceRecovery(saved: SavedCapacity, now: number): number {
  const averages = saved.marks.filter((one) => one.recovery).map((one) => averageSince(saved, one, now));
  return Math.max(0, ...averages);
}

/** The same over a cycle, or several, that cannot have been of one burst. */
export function sinceLongAgo(saved: SavedCapacity, now: number, leastMs: number): number | undefined {
  const recoveries = saved.marks.filter((one) => one.recovery);
  const from = recoveries.findLast((one) => saved.ok - one.ok >= long.ok && now - one.at >= Math.max(long.ms, leastMs));
  return from === undefined ? undefined : averageSince(saved, from, now);
}

/** The highest average of the latest cycles, each from one recovery to the next; 0 where all of them were too short. */
export function bestCycle(saved: SavedCapacity, now: number, cycles: number): number {
  const ends = [...saved.marks.filter((one) => one.recovery).slice(-cycles), { at: now, ok: saved.ok }];
  const cycle = (n: number): number => {
    const [from, to] = [ends[n], ends[n + 1]];
    return from === undefined || to === undefined || to.ok - from.ok < LEAST_OK / 2 ? 0 : averageSince(to, from, to.at);
  };
  return Math.max(0, ...ends.map((_, n) => cycle(n)));
}

/** The average over so long, and the pace at its beginning; undefined where too little is known of it. */
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

/** From the last recovery until `at`, the pause that began then apart. */
export function whileSending({ ok, marks }: SavedCapacity, at: number): number {
  const from = marks.findLast((one) => one.recovery) ?? { at, ok };
  return ((ok - from.ok) * 1000) / Math.max(at - from.at, LEAST_MS);
}

/** The highest average since a mark that lies so long back: a cycle that began far below the limit tells too little. */
export function highestSince(saved: SavedCapacity, now: number, leastMs: number): { from: Moment; perSecond: number } {
  const spans = saved.marks.filter((one) => now - one.at >= leastMs && saved.ok - one.ok >= 2 * LEAST_OK);
  return spans
    .map(({ at, ok }) => ({ from: { at, ok }, perSecond: averageSince(saved, { at, ok }, now) }))
    .reduce((best, one) => (one.perSecond > best.perSecond ? one : best), { from: saved.anchor, perSecond: 0 });
}

function averageSince({ ok }: Pick<SavedCapacity, 'ok'>, from: Moment, now: number): number {
  return ((ok - from.ok) * 1000) / Math.max(now - from.at, LEAST_MS);
}

/**
 * Tells 429s that come at any rate from those of a limit: at three quarters of the rate a limit falls silent and noise
 * does not. Sequential tests, which end as soon as the answers are decisive.
 */
export interface NoiseTest {
  /** The rate before the first of the 429s under suspicion. */
  before: number;
  /** The test runs at three quarters of this. */
  rate: number;
  /** Tests before this one that ended with noise, each at three quarters of the rate before. */
  stage: number;
  /** The share of 429s that the test before found. */
  shareBefore: number;
  /** The share of 429s if they are noise. */
  suspected: number;
  answers: number;
  limited: number;
  limitedInRow: number;
  /** Runs of 429s. */
  runs: number;
  /** Logarithm of the likelihood of noise over that of a limit. */
  evidence: number;
}

/** Watches for a limit under known noise. */
export interface NoiseWatch {
  /** Evidence that all are refused. */
  run: number;
  /** Evidence that more are refused than by noise, and what was counted meanwhile. */
  excess: number;
  answers: number;
  limited: number;
}

export const freshWatch: Readonly<NoiseWatch> = { run: 0, excess: 0, answers: 0, limited: 0 };

/** A higher share of 429s is not noise. */
export const MOST_NOISE = 0.3;
const TEST_RATE = 0.75;
/** Below this share a limit was overrun by little: it falls silent at a tenth less. Such a test takes long. */
const few = { share: 0.04, testRate: 0.9 };
const LEAST_OF_BEFORE = 0.45;
const LEAST_NOISE = 0.002;
const decisive = { noise: 4, limit: -4.5 };
/** So many 429s in a row are no noise that is worth the name. */
const RUN = 6;

/** Cuts were made meanwhile that were too deep if it is noise: the test begins not far below the first refusal. */
export function beginTest(before: number, rate: number, share: number): NoiseTest {
  const suspected = Math.min(Math.max(0.6 * share, 0.008), MOST_NOISE);
  const from = Math.max(rate, LEAST_OF_BEFORE * before);
  return {
    before,
    rate: from * testRateOf(suspected),
    stage: 1,
    shareBefore: 0,
    suspected,
    answers: 0,
    limited: 0,
    runs: 0,
    limitedInRow: 0,
    evidence: 0,
  };
}

function testRateOf(suspected: number): number {
  return suspected < few.share ? few.testRate : TEST_RATE;
}

/** The same once more at a lower rate. */
export function repeatTest(test: NoiseTest): NoiseTest {
  const again = beginTest(test.before, test.rate, shareOf(test));
  return { ...again, rate: test.rate * testRateOf(again.suspected), stage: test.stage + 1, shareBefore: shareOf(test) };
}

/** Counts one answer; the verdict once it is clear. */
export function countInTest(test: NoiseTest, limited: boolean): 'noise' | 'fading' | 'limit' | undefined {
  const silent = test.suspected / 8;
  test.answers += 1;
  test.limitedInRow = limited ? test.limitedInRow + 1 : 0;
  if (limited) test.limited += 1;
  // A limit refuses in runs: one of them is one event.
  if (test.limitedInRow > 1) return test.limitedInRow >= RUN ? 'limit' : undefined;
  if (limited) test.runs += 1;
  test.evidence += limited ? Math.log(test.suspected / silent) : Math.log((1 - test.suspected) / (1 - silent));
  if (test.evidence <= decisive.limit) return 'limit';
  if (test.evidence < decisive.noise || test.runs < 3 || test.answers < 30) return undefined;
  if (shareOf(test) > MOST_NOISE) return 'limit';
  // The share of noise is the same at any rate.
  return shareOf(test) < 0.6 * test.shareBefore && test.stage < 4 ? 'fading' : 'noise';
}

export function shareOf({ answers, limited, suspected }: NoiseTest): number {
  return (limited + 20 * suspected) / (answers + 20);
}

/** Counts one answer under known noise: `run`, the limit refuses everybody; `excess`, it refuses some. */
export function watch(saved: NoiseWatch, noise: number, limited: boolean): 'run' | 'excess' | undefined {
  saved.run = Math.max(0, saved.run + logRatio(limited, 0.7, noise));
  saved.excess = Math.max(0, saved.excess + logRatio(limited, noise + Math.max(0.04, noise / 2), noise));
  if (saved.excess === 0) Object.assign(saved, { answers: 0, limited: 0 });
  saved.answers += 1;
  if (limited) saved.limited += 1;
  if (saved.run > 9) return 'run';
  return saved.excess > 6 ? 'excess' : undefined;
}

function logRatio(limited: boolean, one: number, other: number): number {
  return limited ? Math.log(one / other) : Math.log((1 - one) / (1 - other));
}

/** Follows the share of 429s where the rate is well below the limit; 0 when it is as good as gone. */
export function follow(noise: number, limited: boolean): number {
  const next = Math.min(MOST_NOISE, noise + 0.003 * ((limited ? 1 : 0) - noise));
  return next < LEAST_NOISE ? 0 : next;
}

/** What an answer's headers say about the budget. A hint, never a promise: the rate is learned from 429s. */
interface AdvertisedBudget {
  remaining: number;
  /** Until the budget is full again. */
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

/** Seconds from now; larger numbers are an instant, in seconds or in ms. */
function resetMs(reset: number, now: number): number {
  if (reset < 1e8) return reset * 1000;
  return (reset < 1e11 ? reset * 1000 : reset) - now;
}

/** An instant is of the server's clock, which may differ from ours by minutes. */
function serverNow(date: unknown, now: number): number {
  const at = typeof date === 'string' ? Date.parse(date) : Number.NaN;
  return Number.isNaN(at) ? now : at;
}

/** A window that the server tells of: so much remains until it ends. Believed once its end has stood still. */
export interface SavedWindow {
  endsAt: number;
  remaining: number;
  /** When it was first told of, and how often since. */
  since: number;
  seen: number;
  /** From then to its end. */
  lengthMs?: number;
}

/** Resets are whole seconds. */
const ROUNDING_MS = 1_500;
const believed = { answers: 4, ms: 2_500 };
/** Whole seconds say too little of a shorter one. */
export const LEAST_WINDOW_MS = 3_000;
/** Of what remains, for live requests alone. */
const RESERVE = 0.01;
const MARGIN_MS = 60;

export function noteWindow(saved: SavedWindow | null, budget: AdvertisedBudget, now: number): SavedWindow {
  const endsAt = now + budget.resetMs;
  const fresh = { endsAt, remaining: budget.remaining, since: now, seen: 1, lengthMs: budget.resetMs };
  if (saved === null) return fresh;
  const isNext = now >= saved.endsAt - ROUNDING_MS && endsAt > saved.endsAt + ROUNDING_MS;
  // A window that follows a believed one is believed.
  if (isNext) return isBelieved(saved, now) ? { ...fresh, since: now - believed.ms, seen: believed.answers } : fresh;
  // An end that moves is of a sliding window, whose numbers say less.
  if (endsAt > saved.endsAt + ROUNDING_MS) return fresh;
  return {
    ...saved,
    endsAt: Math.min(saved.endsAt, endsAt),
    remaining: Math.min(saved.remaining, budget.remaining),
    seen: saved.seen + 1,
  };
}

/** What remains, spread over the rest of the window, calls a second; and for how long nothing remains. */
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
