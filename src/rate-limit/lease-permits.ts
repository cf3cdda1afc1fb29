import type { Priority, RateLimitAnswer } from './rate-limit.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';
import {
  type Learned,
  type LearnedRate,
  MOST_LIVE_IN_ROW,
  type SavedRateLimit,
  type UnderWay,
} from './saved-rate-limit.ts';
import {
  type Ceiling,
  ceilingInterval,
  LEAD_REACH_MS,
  leadLength,
  measureCompany,
  mustBeSeen,
  reachOf,
  type SavedCeiling,
  type SavedLeads,
  type Schedule,
  SHARE_MS,
  type Sharer,
  type Sharers,
  shareInFlight,
  sharersNow,
  type Told,
  takeLead,
  underCeiling,
} from './shares.ts';

/** Raised when the saved data changes its shape; what another version learned is then learned again. */
const RATE_LIMIT_VERSION = 2;
/** Clocks agree up to this many ms: a request sent at the very end of a pause must not seem sent during it. */
const CLOCK_MS = 5;

/** What one process wants from the shared rate limit, and what it reports. */
export interface Asked {
  /** Requests per priority that wait or are expected within a share. */
  live: number;
  bulk: number;
  /** Permits leased before and not used yet, by the process's clock. */
  own: readonly number[];
  /** Permits that will never be used. */
  unused: number;
  /** Answers to report; their `sentAt` is by the process's clock. */
  answers: readonly RateLimitAnswer[];
  localNow: number;
  /** Names this process among those that share the rate limit. */
  sharer: string;
  /** Its requests in flight. */
  inFlight: number;
  /** Its requests in flight plus its waiting requests. */
  needs: number;
  /** Share of the company's rate; all of it if absent. */
  share?: number | undefined;
  /** How long, in ms, calls waited for the permits used since the last exchange. */
  waits: Readonly<Record<Priority, readonly number[]>>;
}

export interface Granted extends Told {
  /** When each permit may be used, by the process's clock. */
  permits: number[];
  /** How long no more permits are available; undefined if everything that was asked for was granted. */
  askInMs: number | undefined;
  /** Earlier places for the first of the process's permits (a lead), by the process's clock. */
  places: number[];
  /** As in `SavedLeads`. */
  movedMs: number;
  /** Whether this exchange wrote to the store. */
  isWritten: boolean;
}

/** A rate limit and the processes that share it. */
export interface SharedRateLimitState extends SavedRateLimit {
  sharers?: Sharers;
  ceiling?: SavedCeiling;
  leads?: SavedLeads;
  traffic?: Traffic;
  /** Version of the shape of all this. */
  version: number;
}

/** A process on its own leases this many permits, within these limits in ms. */
const ALONE = { permits: 12, least: SHARE_MS, most: 2_000 };

/**
 * One exchange with the shared rate limit, pure: reports answers, gives back unused permits, and leases the permits of
 * the next 600 ms, live before bulk. Permits lie further ahead only if live requests went before them, so that a cut or
 * a pause takes effect by then. A process on its own obeys its own cuts at once and leases further ahead.
 */
export function leasePermits(
  asked: Asked & { random: () => number },
  shared: Partial<SharedRateLimitState>,
  now: number,
): { rateLimit?: SharedRateLimitState; result: Granted } {
  const clock: LeaseClock = { at: now, growth: () => 1 };
  const known = shared.version === RATE_LIMIT_VERSION ? (shared as SharedRateLimitState) : undefined;
  const { sharers, own, others } = sharersNow(known?.sharers ?? {}, asked, now);
  const offset = now - asked.localNow;
  const taught = teach(asked, known, offset, clock);
  const ceiling = asked.share === undefined ? undefined : measureCompany(known?.ceiling, taught, asked.share, now);
  const limiter = ceiling === undefined ? taught : underCeiling(taught, ceiling, () => clock.at);
  const learned = limiter.save();
  const validFrom = validFromOf(learned.underWay, now, offset);
  const valid = shifted(asked.own, offset).filter((permit) => permit >= validFrom + offset);
  const back = asked.unused + asked.own.length - valid.length;
  if (back > 0) limiter.giveBack(back);
  const isAlone = others.length === 0;
  clock.growth = growthAhead(learned, isAlone, now);
  const leaseMs = leaseOf(learned, isAlone);
  const schedule = scheduleOf(learned, ceiling, now);
  const length = !isAlone && !isHeld(learned.underWay, now) ? leadLength(asked.live, valid, schedule) : 0;
  const isStarved = asked.live + valid.length === 0 && learned.underWay.permits.liveInRow >= MOST_LIVE_IN_ROW;
  const wanted = { ...asked, leaseMs, reachMs: reachOf(own, others, leaseMs), length, isStarved };
  const { permits, askInMs, grownBy } = grantPermits(limiter, clock, wanted, valid.length);
  const { leads, places } = takeLead(known?.leads, { length, permits: [...valid, ...permits] }, schedule);
  const share = shareInFlight(limiter.mostInFlight(), sharers, asked.sharer, now);
  const sharer: Sharer = { ...own, most: share.mostInFlight, had: own.had + permits.length - back };
  const after = limiter.save();
  const isDue = share.mostInFlight !== undefined && mustBeSeen(known?.sharers?.[asked.sharer], sharer);
  const isWritten = permits.length + places.length + asked.answers.length + back > 0 || isDue;
  const result = {
    permits: shifted(permits, -offset),
    places: shifted(places, -offset),
    movedMs: leads.movedMs,
    sharers: others.length + 1,
    validFrom,
    askInMs,
    perSecond: (1000 * grownBy) / schedule.everyMs,
    ...share,
    isHeld: isHeld(after.underWay, now),
    isGrowing: grownBy > 1,
    ownEndpoints: ownEndpointsOf(after),
    leaseMs,
    isWritten,
  };
  if (!isWritten) return { result };
  const traffic = noteTraffic(known?.traffic, asked, now);
  sharers[asked.sharer] = sharer;
  const saved = ceiling === undefined ? {} : { ceiling: ceiling.saved };
  return { rateLimit: { ...after, ...saved, leads, sharers, traffic, version: RATE_LIMIT_VERSION }, result };
}

/** How far ahead, in ms, permits are leased. Until a limit is met the rate doubles too fast for long leases. */
function leaseOf({ rate, limitSeen }: LearnedRate, isAlone: boolean): number {
  if (!isAlone || !limitSeen) return SHARE_MS;
  return Math.min(Math.max((ALONE.permits * 1000) / rate, ALONE.least), ALONE.most);
}

/** Restores the limiter as saved and feeds it the answers. */
function teach(
  { answers, random }: Pick<Asked, 'answers'> & { random: () => number },
  known: SharedRateLimitState | undefined,
  offset: number,
  clock: LeaseClock,
): RateLimiter {
  const ahead = () => clock.growth(clock.at);
  const limiter = createRateLimiter({ now: () => clock.at, random, leaseMs: SHARE_MS, ahead }, learnedOf(known));
  for (const answer of answers) limiter.answered({ ...answer, sentAt: answer.sentAt + offset + CLOCK_MS });
  return limiter;
}

function ownEndpointsOf({ endpoints }: SavedRateLimit): string[] {
  return Object.entries(endpoints?.each ?? {}).flatMap(([name, { own }]) => (own === undefined ? [] : [name]));
}

/** While a single trial request is in flight, no live request may take a lead. */
function isHeld({ permits }: UnderWay, now: number): boolean {
  return permits.pausedUntil > now || permits.canary !== 'none';
}

function learnedOf(state: SharedRateLimitState | undefined): SavedRateLimit | undefined {
  if (state === undefined) return undefined;
  const { sharers: _sharers, ceiling: _ceiling, leads: _leads, traffic: _traffic, version: _version, ...saved } = state;
  return saved;
}

/** End of the current pause by the process's clock; one ms early, so that rounding never voids the canary's permit. */
export function validFromOf(underWay: SavedRateLimit['underWay'], now: number, offset: number): number {
  const pausedUntil = underWay?.permits.pausedUntil ?? 0;
  return pausedUntil > now ? pausedUntil - offset - 1 : 0;
}

/** Schedule of the permits as they are given, with the ceiling if there is one. */
function scheduleOf({ underWay, rate }: Learned, ceiling: Ceiling | undefined, now: number): Schedule {
  const [{ tat }, everyMs] = [underWay.permits, 1000 / rate];
  const ceilingMs = ceiling === undefined ? 0 : ceilingInterval(ceiling);
  if (ceiling === undefined || ceilingMs <= everyMs) return { now, tat, everyMs };
  return { now, tat: Math.max(tat, ceiling.saved.tat), everyMs: ceilingMs };
}

function shifted(permits: readonly number[], byMs: number): number[] {
  return permits.map((permit) => permit + byMs);
}

/** What a process wants from an exchange. */
interface Wanted {
  /** Requests in each priority. */
  live: number;
  bulk: number;
  /** How far ahead permits are leased. */
  leaseMs: number;
  /** How far ahead bulk permits are leased. */
  reachMs: number;
  /** Number of permits in a lead. */
  length: number;
  /** Bulk has no permit, and other processes' live requests have taken all permits of a share. */
  isStarved: boolean;
}

/**
 * Grants permits to waiting requests without one, within a share; live requests reach twice as far. A lead of `length`
 * permits, and the first permit of starved bulk, may lie at any distance. `askInMs`: how long no more permits are
 * available; undefined if everything that was asked for was granted. `grownBy`: rate at the last permit divided by the
 * current rate.
 */
function grantPermits(
  limiter: RateLimiter,
  clock: LeaseClock,
  { live, bulk, leaseMs, reachMs, length, isStarved }: Wanted,
  valid: number,
) {
  const now = clock.at;
  const permits: number[] = [];
  const missing = Math.max(0, live + bulk - valid);
  let askInMs: number | undefined;
  while (permits.length < missing && askInMs === undefined) {
    const n = permits.length;
    const priority = n < live ? 'live' : 'bulk';
    const isFar = n < length || (isStarved && n === 0);
    const until = now + (isFar ? LEAD_REACH_MS : priority === 'live' ? 2 * leaseMs : reachMs);
    let wait = limiter.ask(priority);
    while (wait > 0 && clock.at + wait <= until) {
      clock.at += wait;
      wait = limiter.ask(priority);
    }
    if (wait > 0) askInMs = Math.min(Math.max(clock.at + wait - now - leaseMs, 0), 60_000);
    else permits.push(clock.at);
  }
  const grownBy = clock.growth(clock.at);
  // Anything saved by a clock far ahead would look as if the clock had since been set back.
  clock.at = now;
  return { permits, askInMs, grownBy };
}

/** Upper bound of growth: within one lease nobody checks whether the answers are still fine. */
const MOST = 32;

/** The clock of one exchange; it runs ahead while permits are leased. */
interface LeaseClock {
  at: number;
  /** Growth of the rate at a given moment. */
  growth: (at: number) => number;
}

/**
 * By how much the rate will have grown at a later moment if no limit is met: permits leased ahead come ever faster,
 * because each lease would otherwise keep the rate from its start. Applies only before the first 429 and to a process
 * on its own, which drops all these permits at its first 429.
 */
function growthAhead({ limitSeen, underWay }: Learned, isAlone: boolean, now: number) {
  const { doublingMs, spent } = underWay.climb;
  if (!isAlone || limitSeen || doublingMs === undefined || spent.refused !== 0) return () => 1;
  return (at: number): number => Math.min(2 ** Math.max(0, (at - now) / doublingMs), MOST);
}

/** Number of waits by length: bucket n ends at 2^(n/2) ms. */
type Waits = Record<string, number>;

interface Period {
  from: number;
  answers: number;
  /** Number of 429s. */
  refused: number;
  waits: Record<Priority, Waits>;
}

/** Calls of all processes under one rate limit in the last five to ten minutes. Plain data. */
interface Traffic {
  current: Period;
  last?: Period;
}

/** The traffic as it is shown. Shares are from 0 to 1. */
export interface TrafficView {
  perSecond: number;
  share429: number;
  /** How long calls waited for their permit; absent if there were no calls. */
  waits: Partial<Record<Priority, { p50Ms: number; p99Ms: number; count: number }>>;
}

const PERIOD_MS = 300_000;

/** Adds what one process reports. */
export function noteTraffic(
  known: Traffic | undefined,
  { answers, waits }: { answers: readonly RateLimitAnswer[]; waits: Readonly<Record<Priority, readonly number[]>> },
  now: number,
): Traffic {
  const { current, ...last } = turned(known, now);
  return {
    ...last,
    current: {
      from: current.from,
      answers: current.answers + answers.length,
      refused: current.refused + answers.filter(({ status }) => status === 429).length,
      waits: { live: addWaits(current.waits.live, waits.live), bulk: addWaits(current.waits.bulk, waits.bulk) },
    },
  };
}

export function viewTraffic(known: Traffic | undefined, now: number): TrafficView {
  const { current, last } = turned(known, now);
  const periods = last === undefined ? [current] : [last, current];
  const answers = sum(periods.map((period) => period.answers));
  const since = periods[0]?.from ?? now;
  const waits = (['live', 'bulk'] as const).flatMap((priority) => {
    const shown = viewWaits(periods.map((period) => period.waits[priority]));
    return shown === undefined ? [] : [[priority, shown] as const];
  });
  return {
    perSecond: (answers * 1000) / Math.max(now - since, 1000),
    share429: answers === 0 ? 0 : sum(periods.map(({ refused }) => refused)) / answers,
    waits: Object.fromEntries(waits),
  };
}

/** Starts a new period if the current one is over. */
function turned(known: Traffic | undefined, now: number): Traffic {
  const fresh: Period = { from: now, answers: 0, refused: 0, waits: { live: {}, bulk: {} } };
  if (known === undefined || now - known.current.from > 2 * PERIOD_MS) return { current: fresh };
  return now - known.current.from > PERIOD_MS ? { current: fresh, last: known.current } : known;
}

function addWaits(known: Waits, waits: readonly number[]): Waits {
  const added = { ...known };
  for (const ms of waits) {
    const bucket = String(ms <= 1 ? 0 : Math.ceil(2 * Math.log2(ms)));
    added[bucket] = (added[bucket] ?? 0) + 1;
  }
  return added;
}

function viewWaits(periods: readonly Waits[]): { p50Ms: number; p99Ms: number; count: number } | undefined {
  const buckets = periods.flatMap((waits) => Object.entries(waits)).map(([n, count]) => [Number(n), count] as const);
  const sorted = buckets.toSorted(([a], [b]) => a - b);
  const count = sum(sorted.map(([, n]) => n));
  if (count === 0) return undefined;
  const at = (part: number): number => {
    let left = count * part;
    const found = sorted.find(([, n]) => (left -= n) <= 0) ?? sorted.at(-1);
    return Math.round(2 ** ((found?.[0] ?? 0) / 2));
  };
  return { p50Ms: at(0.5), p99Ms: at(0.99), count };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, one) => all + one, 0);
}

/** A process that got no permit asks again after a random time up to this. */
const POLL_MS = 80;
/** Least time between two exchanges. */
export const LEAST_MS = 20;

/** A process that ran out gets this multiple of the permits it used, because its real need is a guess. */
const STARVED = 2;

/** When to ask for permits again, in ms. `isLate`: live requests must wait although other processes may send. */
export function askAgainMs({ permits, askInMs, leaseMs }: Granted, isLate: boolean, random: number): number {
  if (askInMs === undefined) return isLate ? POLL_MS * random : 0;
  // Asking a little before the share ends, and out of step with other processes, avoids a gap.
  const waitMs = permits.length > 0 ? leaseMs * (0.85 + 0.15 * random) : askInMs + POLL_MS * random;
  return Math.max(askInMs, waitMs);
}

/** Counts the permits a process uses between two exchanges, to estimate how many it will need. */
export function createUsage() {
  let used = 0;
  let ranOutAt: number | undefined;
  return {
    any: (): boolean => used > 0,
    /** `isLast`: this was the last permit that the process had. */
    note(isLast: boolean): void {
      used += 1;
      if (isLast) ranOutAt = performance.now();
    },
    /**
     * Requests expected within the next share, judging by those sent since the last exchange: a sender that sends one
     * at a time has none waiting when permits are leased. `isStarved`: it would have sent more with more permits.
     */
    expected({ at, leaseMs, isStarved }: { at: number; leaseMs: number; isStarved: boolean }): number {
      const starvedAt = isStarved ? ranOutAt : undefined;
      const ms = (starvedAt ?? performance.now()) - at;
      const more = starvedAt === undefined ? 1 : STARVED;
      return ms > 2 * leaseMs ? 0 : Math.ceil((more * used * leaseMs) / Math.max(ms, LEAST_MS));
    },
    /** Called at an exchange. */
    forget(): void {
      used = 0;
      ranOutAt = undefined;
    },
  };
}
