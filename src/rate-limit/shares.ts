import type { RateLimiter } from './rate-limiter.ts';

/** A process that shares a rate limit, as of its last request for permits. */
export interface Sharer {
  at: number;
  /** Its calls in flight. */
  inFlight: number;
  /** Its calls in flight plus its waiting calls. */
  needs?: number;
  /** Most calls it may have in flight, if their number is limited. */
  most?: number | undefined;
  /** Its waiting bulk calls. */
  bulk?: number;
  /** Permits it got in the last seconds; older ones count in part. */
  had?: number;
}

export type Sharers = Record<string, Sharer>;

/**
 * A process leases the permits of this many ms, at least one, so that a saturated tenant costs under two writes a
 * second.
 */
export const SHARE_MS = 600;

/** Permits count for this long. A process that had more than the others leases less far ahead by the factor `reach`. */
const EVEN = { memoryMs: 10_000, most: 1.05, reach: 0.7 };
/** A process that has not asked for this long no longer shares. Longer than any lease. */
const SHARER_MS = 4_000;
/** A time further ahead than this was saved before the clock was set back. */
const AHEAD_MS = 1_000;

/** The processes that share the rate limit now: all of them, the asking process, and the others. */
export function sharersNow(
  known: Sharers,
  { sharer, inFlight, needs, live }: { sharer: string; inFlight: number; needs: number; live: number },
  now: number,
): { sharers: Sharers; own: Sharer & { had: number }; others: Sharer[] } {
  const isPresent = (at: number): boolean => at > now - SHARER_MS && at <= now + AHEAD_MS;
  const others = Object.entries(known).filter(([id, one]) => id !== sharer && isPresent(one.at));
  const own = { at: now, inFlight, needs, bulk: needs - inFlight - live, had: hadLately(known[sharer], now) };
  return { sharers: { ...Object.fromEntries(others), [sharer]: own }, own, others: others.map(([, one]) => one) };
}

/** Permits that a process got in the last seconds. */
function hadLately(known: Sharer | undefined, now: number): number {
  const { at = now, had = 0 } = known ?? {};
  return had * Math.exp(Math.min(0, at - now) / EVEN.memoryMs);
}

/**
 * How far ahead, in ms, a process leases for bulk. A process that had more permits than others with waiting bulk calls
 * leases less far and leaves them the rest; otherwise whichever process asks at the better moment wins every time.
 */
export function reachOf(own: { at: number; had: number }, others: readonly Sharer[], leaseMs: number): number {
  const wanting = others.filter(({ at, bulk = 0 }) => bulk > 0 && at > own.at - 2 * leaseMs);
  const theirs = wanting.reduce((sum, other) => sum + hadLately(other, own.at), 0) / wanting.length;
  return own.had > EVEN.most * theirs ? EVEN.reach * leaseMs : leaseMs;
}

/** Whether the process must report again, to keep its share of calls in flight or to get another share. */
export function mustBeSeen(known: Sharer | undefined, now: Sharer): boolean {
  if (known === undefined || now.at - known.at > SHARER_MS / 4) return true;
  const wants = (one: Sharer): number => Math.min(one.needs ?? 0, (now.most ?? 0) + 1);
  return known.most !== now.most || wants(known) !== wants(now);
}

/**
 * How long each process keeps what cannot be divided: a call if there are fewer calls than processes, or a remainder.
 */
const TURN_MS = { fewer: 2_000, rest: 10_000 };

/**
 * Divides `most` calls in flight. Each process may have what it needs, or an even share of what is left if all need
 * more. No process gets a call that another may still use, so the shares last told to all never exceed `most` in total.
 */
export function shareInFlight(most: number | undefined, sharers: Sharers, own: string, now: number): InFlightShare {
  const others = Object.entries(sharers).flatMap(([id, sharer]) => (id === own ? [] : [sharer]));
  const seen = others.reduce((sum, other) => sum + underWay(other), 0);
  if (most === undefined) return { mostInFlight: undefined, othersInFlight: seen };
  const held = others.reduce((sum, other) => sum + heldBy(other, most / (others.length + 1)), 0);
  const mostInFlight = Math.max(0, Math.min(fairShare(most, sharers, own, now), most - held));
  // If demand takes up everything, numbers seen some 100 ms ago say less than the shares that were given out.
  const isContested = Object.values(sharers).reduce((sum, { needs = most }) => sum + needs, 0) >= most;
  return { mostInFlight, othersInFlight: isContested ? Math.max(seen, most - mostInFlight) : seen };
}

/** A process that needs its whole share counts as using all of it. */
function underWay({ inFlight, needs = 0, most = 0 }: Sharer): number {
  return Math.max(inFlight, Math.min(needs, most));
}

/** An earlier version does not report its share, so assume an even one. */
function heldBy({ most, inFlight }: Sharer, even: number): number {
  return Math.max(inFlight, most ?? Math.ceil(even));
}

function fairShare(most: number, sharers: Sharers, own: string, now: number): number {
  const ids = Object.keys(sharers).toSorted();
  // If there are enough calls, an idle process keeps one for a live request that may come.
  const least = most >= 2 * ids.length ? 1 : 0;
  const needs = new Map(ids.map((id) => [id, Math.max(sharers[id]?.needs ?? most, least)]));
  const ownNeeds = needs.get(own) ?? 0;
  const spare = most - [...needs.values()].reduce((sum, calls) => sum + calls, 0);
  if (spare >= 0) return ownNeeds + Math.floor(spare / ids.length);
  let left = most;
  for (const [id, calls] of [...needs].toSorted(([, a], [, b]) => a - b)) {
    if (calls * needs.size > left) break;
    if (id === own) return calls;
    left -= calls;
    needs.delete(id);
  }
  return evenShare(left, [...needs.keys()], own, now);
}

function evenShare(calls: number, ids: readonly string[], own: string, now: number): number {
  const turn = Math.floor(now / (calls < ids.length ? TURN_MS.fewer : TURN_MS.rest));
  const place = (ids.indexOf(own) + turn) % ids.length;
  return Math.floor(calls / ids.length) + (place < calls % ids.length ? 1 : 0);
}

/**
 * Live requests go before bulk, no matter in which process they wait. A process with live requests takes the next
 * places among all leased permits (a lead); everybody else's permits then move back by as much at their next look. This
 * neither makes nor loses permits. Plain data; times are by the clock that all sharers use.
 */
export interface SavedLeads {
  /** Total ms by which permits were moved back so far. A lease moves by what was added since it was made. */
  movedMs: number;
  /** When all leads so far would end if they ran one after the other. */
  until: number;
}

/** Live requests seldom come alone: a hire makes about this many in a row, and each would otherwise ask the store. */
const LIVE_RUN = 10;
/** A lead leaves one place in twenty to bulk. */
const STRETCH = 20 / 19;
/** A lead takes the permits of at most this many ms, unless more requests wait. */
const LEAD_MS = 2 * SHARE_MS;
/** Longest wait for a place, no matter how slow other leads were. */
export const LEAD_REACH_MS = 5_000;

/** Returns `at`, or `now` if `at` is so far ahead that it must have been saved before the clock was set back. */
function unlessSetBack(at: number, now: number, everyMs = 0): number {
  return at > now + 2 * LEAD_REACH_MS + everyMs ? now : at;
}

/**
 * Whether live requests must wait although other processes may send: their permits, or the next ones, are far ahead.
 */
export function isLate(live: number, permits: readonly number[], { now, tat, everyMs }: Schedule): boolean {
  return live > 0 && (permits[live - 1] ?? tat) > now + live * everyMs;
}

export interface Schedule {
  now: number;
  /** When the next permit to lease is due. */
  tat: number;
  /** Ms between two permits. */
  everyMs: number;
}

/** How many permits go first: none if no live request is late, else those of about the next second. */
export function leadLength(live: number, permits: readonly number[], schedule: Schedule): number {
  if (!isLate(live, permits, schedule)) return 0;
  return Math.max(live, Math.min(LIVE_RUN, Math.floor(LEAD_MS / schedule.everyMs)));
}

/** Moves this many permits to the front and returns their new places; returns none if they would not come sooner. */
export function takeLead(
  known: SavedLeads | undefined,
  { length, permits }: { length: number; permits: readonly number[] },
  { now, tat, everyMs }: Schedule,
): { leads: SavedLeads; places: number[] } {
  const movedMs = known?.movedMs ?? 0;
  const until = unlessSetBack(known?.until ?? 0, now);
  const spaceMs = everyMs * STRETCH;
  // At most two leads of two processes run at once; more would be a burst.
  const earliest = Math.max(now, until - LEAD_MS);
  // Start at a place of the schedule, so that no request falls between two others.
  const first = earliest + (Math.max(0, tat - earliest) % everyMs);
  const count = Math.min(length, permits.length);
  if (count === 0 || first + everyMs > Math.min(...permits)) return { leads: { movedMs, until }, places: [] };
  return {
    leads: {
      movedMs: movedMs + count * everyMs,
      until: Math.min(Math.max(first, until) + count * spaceMs, now + LEAD_REACH_MS),
    },
    places: Array.from({ length: count }, (_, n) => first + n * spaceMs),
  };
}

/** A run has ended after this long without a request. */
const ENDS_MS = 1_500;
const MEMORY = 0.3;

/** Estimates how many live requests come in a row: a hire makes several, a single read comes alone. */
export function createLiveRuns() {
  let usual = LIVE_RUN;
  let current = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    /** Counts a live request that came. */
    note(): void {
      const now = performance.now();
      if (now - lastAt > ENDS_MS && current > 0) {
        usual += MEMORY * (Math.min(current, LIVE_RUN) - usual);
        current = 0;
      }
      current += 1;
      lastAt = now;
    },
    /**
     * How many requests of the current run are still to come, including the one that waits. A run longer than usual may
     * be of any length.
     */
    expected: (): number => (current > Math.ceil(usual) ? LIVE_RUN : Math.max(1, Math.ceil(usual) - current + 1)),
  };
}

/**
 * A tenant's ceiling: at most a share of the company's rate, because other clients call for the same company. The
 * company's rate is what the limiter learned while the ceiling was lifted. After that, a drop in our rate means that
 * others call, and taking only a share of what they leave would be too little.
 */
const freshCeiling = {
  /** Calls per second; null until measured. */
  companyRate: null as number | null,
  /**
   * Since when the ceiling is lifted to measure the company's rate, until the limit was met a few times; null if not
   * lifted.
   */
  measuringSince: 0 as number | null,
  measuredAt: 0,
  meetings: 0,
  inMeeting: false,
  /** When the next permit is due at an even rate. */
  tat: 0,
};
export type SavedCeiling = typeof freshCeiling;

/** Measure again after this time, because the company's rate may have changed. */
const MEASURE_EVERY_MS = 3_600_000;
/** A single meeting may put the rate some percent below the limit, so wait for several. */
const MEETINGS = 3;
/** If a known limit is not met for this long, it has not fallen. */
const MEASURE_MS = 120_000;
const BURST_MS = 20;

/** A tenant's share of the company's rate, and what is saved of its ceiling. */
export interface Ceiling {
  share: number;
  saved: SavedCeiling;
}

/** Takes over what the limiter has learned so far. */
export function measureCompany(
  known: SavedCeiling | undefined,
  limiter: RateLimiter,
  share: number,
  now: number,
): Ceiling {
  const saved = { ...freshCeiling, ...known };
  const { limit, limitSeen, underWay } = limiter.save();
  // If the clock was set back, a later time would never come due.
  saved.measuredAt = Math.min(saved.measuredAt, now);
  if (saved.measuringSince === null) {
    if (now - saved.measuredAt > MEASURE_EVERY_MS) Object.assign(saved, { measuringSince: now, meetings: 0 });
    return { share, saved };
  }
  saved.measuringSince = Math.min(saved.measuringSince, now);
  const inMeeting = underWay.meeting !== null;
  if (saved.inMeeting && !inMeeting) saved.meetings += 1;
  saved.inMeeting = inMeeting;
  const isLate = saved.companyRate !== null && now - saved.measuringSince > MEASURE_MS;
  if (limitSeen && !inMeeting && (saved.meetings >= MEETINGS || isLate))
    Object.assign(saved, { companyRate: limit, measuringSince: null, measuredAt: now });
  return { share, saved };
}

/** Ms between two permits; 0 while the ceiling is lifted. */
export function ceilingInterval({ share, saved: { measuringSince, companyRate } }: Ceiling): number {
  return measuringSince === null && companyRate !== null ? 1000 / (companyRate * share) : 0;
}

/** Wraps the limiter so that it gives permits no faster than the share allows. */
export function underCeiling(limiter: RateLimiter, ceiling: Ceiling, now: () => number): RateLimiter {
  const { share, saved } = ceiling;
  const intervalMs = ceilingInterval(ceiling);
  saved.tat = unlessSetBack(saved.tat, now(), intervalMs);
  return {
    ...limiter,
    ask(priority) {
      const waitMs = saved.tat - BURST_MS - now();
      if (intervalMs > 0 && waitMs > 0) return waitMs;
      const limiterWaitMs = limiter.ask(priority);
      if (limiterWaitMs === 0) saved.tat = Math.max(saved.tat, now()) + intervalMs;
      return limiterWaitMs;
    },
    giveBack(permits) {
      saved.tat -= permits * intervalMs;
      limiter.giveBack(permits);
    },
    mostInFlight() {
      const most = limiter.mostInFlight();
      return most === undefined ? undefined : Math.max(1, Math.floor(most * share));
    },
  };
}

/** What a process learns of the rate limit at each exchange and uses until the next one; here, before the first. */
export const nothingTold = {
  /** Permits leased for a time before this, by the process's clock, are void because a pause began. */
  validFrom: 0,
  /** The rate of all processes together: the learned rate, or less under a ceiling. */
  perSecond: Number.POSITIVE_INFINITY,
  /** Most calls the process may have in flight; undefined means as many as it has permits. */
  mostInFlight: undefined as number | undefined,
  /** Calls the other processes have in flight, as far as known. */
  othersInFlight: 0,
  /** A single trial request is in flight; all others wait for its answer. */
  isHeld: false,
  /** Permits were leased as if no limit came (`growthAhead` in lease-permits.ts). */
  isGrowing: false,
  /** How far ahead, in ms, permits were leased. */
  leaseMs: SHARE_MS,
  /** Number of processes that share the rate limit. */
  sharers: 1,
  /** Endpoints that have their own limit. */
  ownEndpoints: [] as readonly string[],
};
export type Told = typeof nothingTold;
type InFlightShare = Pick<Told, 'mostInFlight' | 'othersInFlight'>;
