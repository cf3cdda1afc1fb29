import { freshClimb, type SavedClimb } from './climb.ts';
import {
  freshCapacity,
  freshConcurrency,
  freshWatch,
  type NoiseTest,
  type NoiseWatch,
  type SavedCapacity,
  type SavedConcurrency,
  type SavedWindow,
} from './measures.ts';
import type { Priority } from './rate-limit.ts';

/** Meetings with a limit that followed one another. */
export interface SavedRow {
  /** That came much too early. */
  early: number;
  /** That came at once: the window is still full. */
  full: number;
  /** That were waited for until a window ended. */
  long: number;
  /** Meetings until the first estimate counts as settled. */
  settling: number;
  /** The highest rate that was fine for long. */
  sound: number;
  /** In a row that came only far above the limit. */
  far?: number;
  /** When the last of them began, and the successes until then. */
  refused?: { at: number; ok: number };
  /** The average of the best long cycle, lately. */
  known?: number;
  /** When one 429 before any limit was known was not believed, in answers. */
  doubtedAt?: number;
  /** The limit remembers for so long at least: the longest pause, lately. */
  memoryMs?: number;
}

export const freshRow: Readonly<SavedRow> = { early: 0, full: 0, long: 0, settling: 0, sound: 0 };

/** What makes noise likely: the limit is met early again and again, although the rate has fallen. */
export interface SavedSuspicion {
  /** The highest limit, lately. */
  peak: number;
  /** Meetings with a limit, and answers meanwhile, fading. */
  met: number;
  answers: number;
  /** Of these meetings, those with one 429 alone. */
  lone?: number;
  calmUntil: number;
  underWay?: UnderWayWhenMet;
}

/** Of the requests under way when the limit was met, the last times in a row that it was early. */
interface UnderWayWhenMet {
  refused: number;
  passed: number;
}

export const freshUnderWay: Readonly<UnderWayWhenMet> = { refused: 0, passed: 0 };

export const freshSuspicion: Readonly<SavedSuspicion> = { peak: 0, met: 0, answers: 0, calmUntil: 0 };

export interface LearnedRate {
  /** Requests a second. */
  rate: number;
  /** The rate at which the limit is believed to be met. */
  limit: number;
  /** Share of 429s that come at any rate. */
  noise: number;
  /** Whether a limit was ever met; until then the rate grows fast. */
  limitSeen: boolean;
}

/** What was learned, for the store: a restart must not learn it again. */
export interface SavedRateLimit extends LearnedRate {
  /** The state of the moment. Absent, or saved by a clock that went back since: begun anew with what was learned. */
  underWay?: UnderWay;
  endpoints?: SavedEndpoints;
}

export interface SavedEndpoints {
  /** Answers lately, of all endpoints. */
  answers: number;
  each: Record<string, SavedEndpoint>;
  /** Answers of one endpoint since another had a success. */
  row?: { endpoint: string; answers: number };
}

export interface SavedEndpoint {
  /** Answers lately. */
  answers: number;
  /** Logarithm of the likelihood of a limit of its own over that of one for all. */
  evidence: number;
  own?: SavedRateLimit;
}

/** From the first refusal of a limit until a request succeeds again. */
export interface Meeting {
  at: number;
  /** The rate that was refused. */
  rate: number;
  refused: number;
  /** Of those under way at the first refusal. */
  passed?: number;
  /** Successes until the first refusal. */
  ok?: number;
  /** Refused of those that tried after a pause. */
  tries: number;
  /** When the last of them was refused. */
  refusedAt?: number;
  /** When the first refusal said that the limit would be free. */
  freeAt: number;
  isBan: boolean;
  /** How often Retry-After became longer, and the longest. */
  longer?: number;
  longestMs?: number;
  /** What those who were under way together were told, where it differs. */
  waits?: number[];
  /** Retry-After of the first refusal. */
  toldMs: number | undefined;
  /** Not the rate is responsible: a limit of concurrency, or an advertised window. */
  isSpared: boolean;
  /** Met after a rest, by somebody who had sent little: nothing is learned from it. */
  isChance?: boolean;
}

/** `retryAfterMs` as the first refusal told it. */
export function beginMeeting(
  first: Pick<Meeting, 'at' | 'ok' | 'rate' | 'isBan' | 'isSpared' | 'isChance'>,
  retryAfterMs: number | undefined,
): Meeting {
  const freeAt = retryAfterMs === undefined ? Number.MAX_VALUE : first.at + retryAfterMs;
  return { ...first, refused: 1, tries: 0, freeAt, toldMs: retryAfterMs };
}

/** Retry-After as HTTP has it, rounded up. */
export function isWhole(toldMs: number | undefined): boolean {
  return toldMs !== undefined && toldMs % 1_000 === 0;
}

/** Plain data; times are of the limiter's clock. */
export interface UnderWay {
  savedAt: number;
  permits: SavedPermits;
  concurrency: SavedConcurrency;
  capacity: SavedCapacity;
  climb: SavedClimb;
  row: SavedRow;
  suspicion: SavedSuspicion;
  window: SavedWindow | null;
  meeting: Meeting | null;
  test: NoiseTest | null;
  /** The last test's end, in answers, the rate then, and how many in a row found a limit. */
  tested: { answers: number; rate: number; silent?: number };
  watch: NoiseWatch;
  /** As the last test found it. */
  mostNoise: number;
  answers: number;
  decidedAt: number;
  /** The first wait where the server does not say how long. */
  ownWaitMs: number;
  backoff: number;
  /** Meetings in a row that lasted for several tries. */
  longInRow: number;
  /** Successes when it last began to send again after a rest, until the next meeting. */
  restedOk?: number;
}

/** Clocks differ by so much. */
const CLOCK_MS = 1_000;

/** The state of the moment when only what was learned is known. */
export function beginUnderWay(now: number): UnderWay {
  return {
    savedAt: now,
    permits: { ...freshPermits },
    concurrency: structuredClone(freshConcurrency),
    capacity: freshCapacity(now),
    climb: { ...freshClimb },
    row: { ...freshRow },
    suspicion: { ...freshSuspicion },
    window: null,
    meeting: null,
    test: null,
    tested: { answers: -1e6, rate: 0 },
    watch: { ...freshWatch },
    mostNoise: 0.3,
    answers: 0,
    decidedAt: -1,
    ownWaitMs: 500,
    backoff: 500,
    longInRow: 0,
  };
}

/**
 * What another version of this saved, as far as it can be read: what it did not know begins anew, and so does what a
 * clock saved that went back since.
 */
export function restoreUnderWay(saved: UnderWay | undefined, now: number): UnderWay {
  const fresh = beginUnderWay(now);
  if (saved === undefined || !(saved.savedAt <= now + CLOCK_MS)) return fresh;
  const parts = Object.entries(structuredClone(saved)).map(([name, part]) => {
    const begun = fresh[name as keyof UnderWay];
    return [name, isRecord(part) && isRecord(begun) ? { ...begun, ...part } : (part ?? begun ?? null)];
  });
  return { ...fresh, ...Object.fromEntries(parts) };
}

function isRecord(part: unknown): part is object {
  return typeof part === 'object' && part !== null;
}

/** Who may send when, at a given rate: GCRA with pauses, one canary after a pause, and live before bulk. */
export interface Permits {
  /** 0: send now. Otherwise: ms to wait. `rate` is in requests a second. */
  ask(priority: Priority, rate: number): number;
  /** So many permits were taken and will not be used. */
  giveBack(permits: number, rate: number): void;
  /** Nobody sends before. */
  waitUntil(at: number): void;
  /** After the pause one request goes alone, until it is answered. */
  sendCanary(): void;
  /** Notes an answer; true when it was the canary's. A refused canary needs a new pause. */
  canaryAnswered(succeeded: boolean): boolean;
  /** Whether permits are taken about as fast as they come. */
  isBusy(): boolean;
}

/** Plain data, so that processes can share it. */
interface SavedPermits {
  /** When the next permit is due at an even rate (GCRA's theoretical arrival time). */
  tat: number;
  pausedUntil: number;
  canary: 'none' | 'due' | { outAt: number };
  bulkAskedAt: number;
  /** A live request was told to come again; until then the next permit is its own. */
  liveUntil: number;
  liveInRow: number;
  /** Share of permits that somebody wanted by the time they were due, lately. */
  busy: number;
  /** When somebody was last told to wait for the next permit. */
  wantedAt?: number;
  /** Bulk may have so much of the rate; the rest is for live requests. */
  bulkShare: number;
  /** When bulk's next permit is due, of its share. */
  bulkTat: number;
  /** When the first permit was taken after nobody had wanted one for a while. */
  restedAt?: number;
}

/** Requests that may leave together after a rest, in ms of the rate: bursts are what trips fixed windows. */
const BURST_MS = 20;
/** A canary whose answer is lost must not stop everybody for ever. */
const CANARY_PATIENCE_MS = 15_000;
const POLL_MS = 25;
/** Live goes first, but while bulk waits it gets one permit in twenty, so that it never starves. */
export const MOST_LIVE_IN_ROW = 19;
/** Nobody wants a permit for so long: there is less to send than allowed. */
export const REST_MS = 2_000;
const BUSY = { memory: 0.1, least: 0.7 };

const freshPermits: Readonly<SavedPermits> = {
  tat: 0,
  pausedUntil: 0,
  canary: 'none',
  bulkAskedAt: -1e6,
  liveUntil: -1e6,
  liveInRow: 0,
  busy: 0.5,
  bulkShare: 1,
  bulkTat: 0,
};

/** Changes `saved` in place. */
export function createPermits(now: () => number, saved: SavedPermits): Permits {
  function ask(priority: Priority, rate: number): number {
    const at = now();
    if (priority === 'bulk') saved.bulkAskedAt = at;
    const wait = waitFor(priority, at);
    if (priority === 'live') saved.liveUntil = wait > 0 ? at + wait + POLL_MS : -1e6;
    if (wait > 0) return wait;
    take(saved, priority, at, 1000 / rate);
    return 0;
  }

  function waitFor(priority: Priority, at: number): number {
    const { canary } = saved;
    if (at < saved.pausedUntil) return saved.pausedUntil - at;
    if (typeof canary === 'object' && at < canary.outAt + CANARY_PATIENCE_MS) return POLL_MS;
    const wait = Math.max(saved.tat, priority === 'bulk' ? saved.bulkTat : 0) - BURST_MS - at;
    if (wait > 0) saved.wantedAt = at;
    const isBulkDue = saved.liveInRow >= MOST_LIVE_IN_ROW && at - saved.bulkAskedAt < 1000;
    // The next permit is for the other one; it is never taken ahead of time, which would trip a limit without a burst.
    const yields = priority === 'live' ? isBulkDue : !isBulkDue && at < saved.liveUntil;
    return Math.max(yields ? POLL_MS : 0, wait);
  }

  return {
    ask,
    giveBack: (permits, rate) => {
      saved.tat -= (permits * 1000) / rate;
      saved.bulkTat = Math.min(saved.bulkTat, saved.tat);
      // The canary's permit may be among them.
      if (typeof saved.canary === 'object') saved.canary = 'due';
    },
    waitUntil: (at) => {
      saved.pausedUntil = Math.max(saved.pausedUntil, at);
    },
    sendCanary: () => {
      saved.canary = 'due';
    },
    canaryAnswered: (succeeded) => {
      if (typeof saved.canary !== 'object') return false;
      saved.canary = succeeded ? 'none' : 'due';
      return true;
    },
    isBusy: () => saved.busy >= BUSY.least,
  };
}

function take(saved: SavedPermits, priority: Priority, at: number, interval: number): void {
  // Who waited for it may have given up, and come back a little late.
  const isBusy = at <= saved.tat + 1 || (saved.wantedAt ?? -1e6) > saved.tat - interval;
  if (saved.tat > 0 && at > Math.max(saved.tat, saved.pausedUntil) + REST_MS) saved.restedAt = at;
  saved.busy += BUSY.memory * ((isBusy ? 1 : 0) - saved.busy);
  saved.tat = Math.max(saved.tat, at) + interval;
  if (priority === 'bulk') saved.bulkTat = Math.max(saved.bulkTat, at) + interval / saved.bulkShare;
  if (saved.canary !== 'none') saved.canary = { outAt: at };
  saved.liveInRow = priority === 'live' ? saved.liveInRow + 1 : 0;
}
