import type { RateLimiter } from './rate-limiter.ts';
import type { LearnedRate } from './saved-rate-limit.ts';

/** A process that shares a rate limit, as it was when it last asked. */
export interface Sharer {
  at: number;
  /** Its calls under way. */
  inFlight: number;
  /** Those, and the ones that wait. */
  needs?: number;
  /** So many it may have under way, where their number is limited. */
  most?: number | undefined;
  /** Its bulk calls that wait. */
  bulk?: number;
  /** Permits that it had in the last seconds, the older ones in part. */
  had?: number;
}

export type Sharers = Record<string, Sharer>;

/** A process leases the permits of so many ms, or one: a saturated tenant costs less than two writes a second. */
export const SHARE_MS = 600;
/** A process that is alone leases so many permits, or those of so many ms. */
const ALONE = { permits: 12, least: SHARE_MS, most: 2_000 };
/** What a process had counts for so long; a process that had more than the others leases less far ahead by as much. */
const EVEN = { memoryMs: 10_000, most: 1.05, reach: 0.7 };
/** A process that did not ask for so long no longer shares; longer than any lease. */
const SHARER_MS = 4_000;
/** Further ahead it asked before the clock was set back. */
const AHEAD_MS = 1_000;

/** Those who share the rate limit now: all, the one that asks, and the others. */
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

/** Permits that a process had in the last seconds. */
function hadLately(known: Sharer | undefined, now: number): number {
  const { at = now, had = 0 } = known ?? {};
  return had * Math.exp(Math.min(0, at - now) / EVEN.memoryMs);
}

/**
 * How far ahead a process leases for bulk, ms: less far where it had more than those whose bulk waits. What it leaves
 * is theirs; otherwise the process that asks at the better moment wins again and again.
 */
export function reachOf(own: { at: number; had: number }, others: readonly Sharer[], leaseMs: number): number {
  const wanting = others.filter(({ at, bulk = 0 }) => bulk > 0 && at > own.at - 2 * leaseMs);
  const theirs = wanting.reduce((sum, other) => sum + hadLately(other, own.at), 0) / wanting.length;
  return own.had > EVEN.most * theirs ? EVEN.reach * leaseMs : leaseMs;
}

/** Whether a process must be seen again, to keep its share of the calls under way or to be given another. */
export function mustBeSeen(known: Sharer | undefined, now: Sharer): boolean {
  if (known === undefined || now.at - known.at > SHARER_MS / 4) return true;
  const wants = (one: Sharer): number => Math.min(one.needs ?? 0, (now.most ?? 0) + 1);
  return known.most !== now.most || wants(known) !== wants(now);
}

/** How far ahead permits are leased, ms. Until a limit is met the rate doubles too fast to lease far. */
export function leaseOf({ rate, limitSeen }: LearnedRate, isAlone: boolean): number {
  if (!isAlone || !limitSeen) return SHARE_MS;
  return Math.min(Math.max((ALONE.permits * 1000) / rate, ALONE.least), ALONE.most);
}

/** What one process is told of the calls under way. */
interface InFlightShare {
  /** So many it may have; undefined: as many as it has permits. */
  mostInFlight: number | undefined;
  /** The others have so many, as far as is known. */
  othersInFlight: number;
}

/** How long each process has what cannot be divided: calls fewer than processes, or the rest of a division. */
const TURN_MS = { fewer: 2_000, rest: 10_000 };

/**
 * Divides `most` calls under way: a process may have as many as it needs, or an even share of what is left where all
 * need more. Nobody is given what another may still use: of what processes told of late, there are never more than
 * `most` in all.
 */
export function shareInFlight(most: number | undefined, sharers: Sharers, own: string, now: number): InFlightShare {
  const others = Object.entries(sharers).flatMap(([id, sharer]) => (id === own ? [] : [sharer]));
  const seen = others.reduce((sum, other) => sum + underWay(other), 0);
  if (most === undefined) return { mostInFlight: undefined, othersInFlight: seen };
  const held = others.reduce((sum, other) => sum + heldBy(other, most / (others.length + 1)), 0);
  const mostInFlight = Math.max(0, Math.min(fairShare(most, sharers, own, now), most - held));
  // Where all that there is has its taker, what was seen some hundred ms ago says less than what was given.
  const isContested = Object.values(sharers).reduce((sum, { needs = most }) => sum + needs, 0) >= most;
  return { mostInFlight, othersInFlight: isContested ? Math.max(seen, most - mostInFlight) : seen };
}

/** A process that needs its whole share always has it under way. */
function underWay({ inFlight, needs = 0, most = 0 }: Sharer): number {
  return Math.max(inFlight, Math.min(needs, most));
}

/** An earlier version does not say what it was given: an even share. */
function heldBy({ most, inFlight }: Sharer, even: number): number {
  return Math.max(inFlight, most ?? Math.ceil(even));
}

function fairShare(most: number, sharers: Sharers, own: string, now: number): number {
  const ids = Object.keys(sharers).toSorted();
  // Where there are enough, a process that is idle keeps one for the live request that may come.
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
 * Live requests go before bulk, in whichever process these wait: who asks for live requests takes the next places of
 * what all have leased (a lead), and everybody else's permits move back by as much, once they look. No permit is made
 * or lost by it. Plain data; times are of the clock that all sharers have.
 */
export interface SavedLeads {
  /** By how much permits were moved back so far, in all, ms: earlier leases move by what was added since. */
  movedMs: number;
  /** When all leads so far would end, one after the other. */
  until: number;
}

/** A live request is seldom alone: a hire makes about so many, one after the other, and each would ask the store. */
const LIVE_RUN = 10;
/** Between the places of a lead, one in twenty is left to bulk. */
const STRETCH = 20 / 19;
/** A lead is of the permits of so many ms at most, unless more requests wait. */
const LEAD_MS = 2 * SHARE_MS;
/** However slow it was when others took the lead, nobody waits longer for a place. */
export const LEAD_REACH_MS = 5_000;

/** A moment of before; one so far ahead was saved before the clock was set back, and is past. */
function unlessSetBack(at: number, now: number, everyMs = 0): number {
  return at > now + 2 * LEAD_REACH_MS + everyMs ? now : at;
}

/** Whether live requests wait although others may send: their permits, or the next one to be leased, are far ahead. */
export function isLate(live: number, permits: readonly number[], { now, tat, everyMs }: Schedule): boolean {
  return live > 0 && (permits[live - 1] ?? tat) > now + live * everyMs;
}

export interface Schedule {
  now: number;
  /** When the next permit to be leased is due. */
  tat: number;
  /** Between two permits. */
  everyMs: number;
}

/** How many permits go first: none where no live request is late; else those of the next second or so. */
export function leadLength(live: number, permits: readonly number[], schedule: Schedule): number {
  if (!isLate(live, permits, schedule)) return 0;
  return Math.max(live, Math.min(LIVE_RUN, Math.floor(LEAD_MS / schedule.everyMs)));
}

/** Moves so many of these permits to the front: the places that they have then. None where they come no sooner. */
export function takeLead(
  known: SavedLeads | undefined,
  { length, permits }: { length: number; permits: readonly number[] },
  { now, tat, everyMs }: Schedule,
): { leads: SavedLeads; places: number[] } {
  const movedMs = known?.movedMs ?? 0;
  const until = unlessSetBack(known?.until ?? 0, now);
  const spaceMs = everyMs * STRETCH;
  // Two leads may run at once, of two processes; more would be a burst.
  const earliest = Math.max(now, until - LEAD_MS);
  // A place of the schedule, so that nothing leaves between two others.
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

/** How many live requests of one process come one after the other: a hire makes several, a single read is alone. */
interface LiveRuns {
  /** One came. */
  note(): void;
  /** Of a run, so many are expected by now, the one that waits included. */
  expected(): number;
}

/** A run has ended when nothing came for so long. */
const ENDS_MS = 1_500;
const MEMORY = 0.3;

export function createLiveRuns(): LiveRuns {
  let usual = LIVE_RUN;
  let current = 0;
  let lastAt = Number.NEGATIVE_INFINITY;
  return {
    note() {
      const now = performance.now();
      if (now - lastAt > ENDS_MS && current > 0) {
        usual += MEMORY * (Math.min(current, LIVE_RUN) - usual);
        current = 0;
      }
      current += 1;
      lastAt = now;
    },
    // One that is longer than usual may be of any length.
    expected: () => (current > Math.ceil(usual) ? LIVE_RUN : Math.max(1, Math.ceil(usual) - current + 1)),
  };
}

/**
 * A tenant's ceiling: at most a share of the company's rate, because others call the same company. The company's rate
 * is what the limiter learned with the ceiling lifted: from then on, fewer of our calls mean that others make theirs,
 * and half of what they leave would be too little.
 */
export interface SavedCeiling {
  /** Calls a second; null until it was measured. */
  companyRate: number | null;
  /** The ceiling is lifted, and the company's rate measured, until the limit was met some times. */
  measuringSince: number | null;
  measuredAt: number;
  meetings: number;
  inMeeting: boolean;
  /** When the next permit is due at an even rate. */
  tat: number;
}

export const freshCeiling: Readonly<SavedCeiling> = {
  companyRate: null,
  measuringSince: 0,
  measuredAt: 0,
  meetings: 0,
  inMeeting: false,
  tat: 0,
};

/** The company's rate may have changed by then. */
const MEASURE_EVERY_MS = 3_600_000;
/** What one meeting says may be some percent below the limit. */
const MEETINGS = 3;
/** A known limit that is not met in so long is as it was. */
const MEASURE_MS = 120_000;
const BURST_MS = 20;

/** Takes note of what the limiter has learned by now; changes `saved` in place. */
export function measureCompany(saved: SavedCeiling, limiter: RateLimiter, now: number): void {
  const { limit, limitSeen, underWay } = limiter.save();
  // By a clock that was set back since it would never be due.
  saved.measuredAt = Math.min(saved.measuredAt, now);
  if (saved.measuringSince !== null) saved.measuringSince = Math.min(saved.measuringSince, now);
  if (saved.measuringSince === null) {
    if (now - saved.measuredAt > MEASURE_EVERY_MS) Object.assign(saved, { measuringSince: now, meetings: 0 });
    return;
  }
  const inMeeting = (underWay?.meeting ?? null) !== null;
  if (saved.inMeeting && !inMeeting) saved.meetings += 1;
  saved.inMeeting = inMeeting;
  const isLate = saved.companyRate !== null && now - saved.measuringSince > MEASURE_MS;
  if (!limitSeen || inMeeting || (saved.meetings < MEETINGS && !isLate)) return;
  Object.assign(saved, { companyRate: limit, measuringSince: null, measuredAt: now });
}

/** Between two permits, ms; 0 while the ceiling is lifted. */
export function ceilingInterval({ measuringSince, companyRate }: SavedCeiling, share: number): number {
  return measuringSince === null && companyRate !== null ? 1000 / (companyRate * share) : 0;
}

/** The limiter, which gives permits no faster than the share allows. */
export function underCeiling(
  limiter: RateLimiter,
  { share, saved, now }: { share: number; saved: SavedCeiling; now: () => number },
): RateLimiter {
  const interval = (): number => ceilingInterval(saved, share);
  saved.tat = unlessSetBack(saved.tat, now(), interval());
  return {
    ...limiter,
    ask(priority) {
      const waitMs = saved.tat - BURST_MS - now();
      if (interval() > 0 && waitMs > 0) return waitMs;
      const limiterWaitMs = limiter.ask(priority);
      if (limiterWaitMs === 0) saved.tat = Math.max(saved.tat, now()) + interval();
      return limiterWaitMs;
    },
    giveBack(permits) {
      saved.tat -= permits * interval();
      limiter.giveBack(permits);
    },
    mostInFlight() {
      const most = limiter.mostInFlight();
      return most === undefined ? undefined : Math.max(1, Math.floor(most * share));
    },
  };
}

/** What a process is told of the rate limit at each exchange, and goes by until the next. */
export interface Told extends InFlightShare {
  /** A pause began: permits leased for before this moment of the process's clock are void. */
  validFrom: number;
  /** The rate of all processes together: the learned one, or less under a ceiling. */
  perSecond: number;
  /** One request tries alone: its answer is awaited. */
  isHeld: boolean;
  /** Permits were leased as if no limit came (growth-ahead.ts). */
  isGrowing: boolean;
  /** How far ahead permits were leased, ms. */
  leaseMs: number;
  /** Processes that share the rate limit. */
  sharers: number;
  /** Endpoints that have a limit of their own. */
  ownEndpoints: readonly string[];
}

/** Before the first exchange. */
export const nothingTold: Told = {
  validFrom: 0,
  perSecond: Number.POSITIVE_INFINITY,
  mostInFlight: undefined,
  othersInFlight: 0,
  isHeld: false,
  isGrowing: false,
  leaseMs: SHARE_MS,
  sharers: 1,
  ownEndpoints: [],
};
