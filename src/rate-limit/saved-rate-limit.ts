import { freshClimb } from './climb.ts';
import { freshConcurrency, freshWatch, type NoiseTest, type SavedCapacity, type SavedWindow } from './measures.ts';
import type { Priority } from './rate-limit.ts';

/** Counts about meetings with a limit that followed each other. */
export const freshRow = {
  /** Meetings that came much too early. */
  early: 0,
  /** Meetings that came at once, because the window is still full. */
  full: 0,
  /** Meetings whose pause lasted until a window ended. */
  long: 0,
  /** Meetings left until the first estimate counts as settled. */
  settling: 0,
  /** The highest rate that worked for long. */
  sound: 0,
  /** Meetings in a row that came only far above the limit. */
  far: 0,
  /** When the last meeting began, and the successes until then. */
  refused: undefined as { at: number; ok: number } | undefined,
  /** The recent average of the best long cycle. */
  known: 0,
  /** Answer count when a single 429, before any limit was known, was not believed. */
  doubtedAt: -1e6,
  /** The limit remembers at least this long: the longest recent pause. */
  memoryMs: 0,
};
export type SavedRow = typeof freshRow;

/** Signs of noise: the limit is met early again and again although the rate has fallen. */
export const freshSuspicion = {
  /** The highest recent limit. */
  peak: 0,
  /** Meetings with a limit and answers in between; older ones fade. */
  met: 0,
  answers: 0,
  /** Meetings that had a single 429. */
  lone: 0,
  calmUntil: 0,
  /** Requests in flight when the limit was met early, over the latest early meetings in a row. */
  underWay: { refused: 0, passed: 0 },
};
export type SavedSuspicion = typeof freshSuspicion;

export interface LearnedRate {
  /** Requests per second. */
  rate: number;
  /** The rate at which the limit is believed to be met. */
  limit: number;
  /** Share of 429s that come at any rate. */
  noise: number;
  /** Whether a limit was ever met; until then the rate grows fast. */
  limitSeen: boolean;
}

/** What was learned, for the store, so that a restart need not learn it again. */
export interface SavedRateLimit extends LearnedRate {
  /**
   * The momentary state. If absent, or saved by a clock that was since set back, it starts anew from what was learned.
   */
  underWay?: UnderWay;
  endpoints?: SavedEndpoints;
}

/** What a limiter has learned, with its momentary state. */
export type Learned = SavedRateLimit & { underWay: UnderWay };

export interface SavedEndpoints {
  /** Recent answers of all endpoints. */
  answers: number;
  each: Record<string, SavedEndpoint>;
  /** Answers of one endpoint in a row, until another endpoint has a success. */
  row?: { endpoint: string; answers: number };
}

export interface SavedEndpoint {
  /** Recent answers. */
  answers: number;
  /** Logarithm of the likelihood that the endpoint has its own limit over that of one limit for all. */
  evidence: number;
  own?: SavedRateLimit;
}

/** Lasts from the first refusal by a limit until a request succeeds again. */
export const freshMeeting = {
  at: 0,
  /** The rate that was refused. */
  rate: 0,
  refused: 1,
  /** Successes until the first refusal. */
  ok: undefined as number | undefined,
  /** How many of the requests in flight at the first refusal passed. */
  passed: 0,
  /** Refusals of retries after a pause. */
  tries: 0,
  /** When the last retry was refused. */
  refusedAt: undefined as number | undefined,
  isBan: false,
  /** How often Retry-After grew, and its longest value. */
  longer: 0,
  longestMs: 0,
  /** Differing waits stated to requests that were in flight together. */
  waits: [] as number[],
  /** Retry-After of the first refusal. */
  toldMs: undefined as number | undefined,
  /** A concurrency limit or an advertised window is responsible, not the rate. */
  isSpared: false,
  /** Met after a rest by a sender that had sent little, so nothing is learned from it. */
  isChance: false,
};
export type Meeting = typeof freshMeeting;

/** Whether Retry-After is in whole seconds, as HTTP has it, and so rounded up. */
export function isWhole(toldMs: number | undefined): boolean {
  return toldMs !== undefined && toldMs % 1_000 === 0;
}

/** Clocks may differ by this much. */
const CLOCK_MS = 1_000;

/** A fresh momentary state, for when only the learned values are known. Times are by the limiter's clock. */
export function beginUnderWay(now: number) {
  return {
    savedAt: now,
    permits: { ...freshPermits },
    concurrency: structuredClone(freshConcurrency),
    capacity: freshCapacity(now),
    climb: structuredClone(freshClimb),
    row: { ...freshRow },
    suspicion: structuredClone(freshSuspicion),
    window: null as SavedWindow | null,
    meeting: null as Meeting | null,
    test: null as NoiseTest | null,
    /** When the last test ended, in answers, and the rate then. */
    tested: { answers: -1e6, rate: 0 },
    watch: { ...freshWatch },
    /** Highest share of noise, as the last test found it. */
    mostNoise: 0.3,
    answers: 0,
    decidedAt: -1,
    /** The first wait if the server does not state one. */
    ownWaitMs: 500,
    backoff: 500,
    /** Meetings in a row that took several tries. */
    longInRow: 0,
    /** Successes when sending last began again after a rest, until the next meeting. */
    restedOk: undefined as number | undefined,
  };
}
export type UnderWay = ReturnType<typeof beginUnderWay>;

function freshCapacity(now: number): SavedCapacity {
  return { ok: 0, anchor: { at: now, ok: 0 }, marks: [{ at: now, ok: 0, recovery: true }] };
}

/**
 * Restores what another version saved, as far as it can be read. What that version did not know starts anew, and so
 * does anything saved by a clock that was since set back.
 */
export function restoreUnderWay(saved: UnderWay | undefined, now: number): UnderWay {
  const fresh = beginUnderWay(now);
  if (saved === undefined || !(saved.savedAt <= now + CLOCK_MS)) return fresh;
  const parts = Object.entries(structuredClone(saved)).map(([name, part]) => {
    const begun = fresh[name as keyof UnderWay];
    return [name, isRecord(part) && isRecord(begun) ? { ...begun, ...part } : (part ?? begun ?? null)];
  });
  const meeting = saved.meeting ? structuredClone({ ...freshMeeting, ...saved.meeting }) : null;
  return { ...fresh, ...Object.fromEntries(parts), meeting };
}

function isRecord(part: unknown): part is object {
  return typeof part === 'object' && part !== null;
}

/** Requests that may go out together after a rest, in ms of the rate: bursts trip fixed windows. */
const BURST_MS = 20;
/** A canary whose answer is lost must not block everybody forever. */
const CANARY_PATIENCE_MS = 15_000;
const POLL_MS = 25;
/** Live goes first, but while bulk waits it gets one permit in twenty, so that it never starves. */
export const MOST_LIVE_IN_ROW = 19;
/** If no request wants a permit for this long, there is less to send than allowed. */
export const REST_MS = 2_000;
const BUSY = { memory: 0.1, least: 0.7 };

/** Who may send when. Plain data, so that processes can share it. */
const freshPermits = {
  /** When the next permit is due at an even rate (GCRA's theoretical arrival time). */
  tat: 0,
  pausedUntil: 0,
  canary: 'none' as 'none' | 'due' | { outAt: number },
  bulkAskedAt: -1e6,
  /** A live request was told to come again; until then the next permit is reserved for it. */
  liveUntil: -1e6,
  liveInRow: 0,
  /** Recent share of permits that a request wanted by the time they were due. */
  busy: 0.5,
  /** When a request was last told to wait for the next permit. */
  wantedAt: -1e6,
  /** Bulk's share of the rate; the rest is for live requests. */
  bulkShare: 1,
  /** When the next permit of bulk's share is due. */
  bulkTat: 0,
  /** When the first permit was taken after a time in which no request wanted one. */
  restedAt: undefined as number | undefined,
};
type SavedPermits = typeof freshPermits;

/**
 * Decides who may send when, at a given rate: GCRA with pauses, one canary after a pause, and live before bulk. Changes
 * `saved` in place.
 */
export function createPermits(now: () => number, saved: SavedPermits) {
  function waitFor(priority: Priority, at: number): number {
    const { canary } = saved;
    if (at < saved.pausedUntil) return saved.pausedUntil - at;
    if (typeof canary === 'object' && at < canary.outAt + CANARY_PATIENCE_MS) return POLL_MS;
    const wait = Math.max(saved.tat, priority === 'bulk' ? saved.bulkTat : 0) - BURST_MS - at;
    if (wait > 0) saved.wantedAt = at;
    const isBulkDue = saved.liveInRow >= MOST_LIVE_IN_ROW && at - saved.bulkAskedAt < 1000;
    // The next permit is for the other priority. It is never taken ahead of time, which would trip a limit that allows
    // no burst.
    const yields = priority === 'live' ? isBulkDue : !isBulkDue && at < saved.liveUntil;
    return Math.max(yields ? POLL_MS : 0, wait);
  }

  return {
    /** 0: send now. Otherwise: ms to wait. `rate` is in requests per second. */
    ask(priority: Priority, rate: number): number {
      const at = now();
      if (priority === 'bulk') saved.bulkAskedAt = at;
      const wait = waitFor(priority, at);
      if (priority === 'live') saved.liveUntil = wait > 0 ? at + wait + POLL_MS : -1e6;
      if (wait > 0) return wait;
      take(saved, priority, at, 1000 / rate);
      return 0;
    },
    /** Returns permits that were taken and will not be used. */
    giveBack(permits: number, rate: number): void {
      saved.tat -= (permits * 1000) / rate;
      saved.bulkTat = Math.min(saved.bulkTat, saved.tat);
      // The canary's permit may be among them.
      if (typeof saved.canary === 'object') saved.canary = 'due';
    },
    /** Lets nobody send before this time. */
    waitUntil(at: number): void {
      saved.pausedUntil = Math.max(saved.pausedUntil, at);
    },
    /** After the pause, one request goes alone until it is answered. */
    sendCanary(): void {
      saved.canary = 'due';
    },
    /** Notes an answer, which may be the canary's. A refused canary needs a new pause. */
    canaryAnswered(succeeded: boolean): void {
      if (typeof saved.canary === 'object') saved.canary = succeeded ? 'none' : 'due';
    },
    /** Whether permits are taken about as fast as they come. */
    isBusy: (): boolean => saved.busy >= BUSY.least,
  };
}

function take(saved: SavedPermits, priority: Priority, at: number, interval: number): void {
  // A request that waited for this permit may have given up and come back a little late.
  const isBusy = at <= saved.tat + 1 || saved.wantedAt > saved.tat - interval;
  if (saved.tat > 0 && at > Math.max(saved.tat, saved.pausedUntil) + REST_MS) saved.restedAt = at;
  saved.busy += BUSY.memory * ((isBusy ? 1 : 0) - saved.busy);
  saved.tat = Math.max(saved.tat, at) + interval;
  if (priority === 'bulk') saved.bulkTat = Math.max(saved.bulkTat, at) + interval / saved.bulkShare;
  if (saved.canary !== 'none') saved.canary = { outAt: at };
  saved.liveInRow = priority === 'live' ? saved.liveInRow + 1 : 0;
}
