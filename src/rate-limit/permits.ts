import type { Priority } from './rate-limit.ts';

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
export interface SavedPermits {
  /** When the next permit is due at an even rate (GCRA's theoretical arrival time). */
  tat: number;
  pausedUntil: number;
  canary: 'none' | 'due' | { outAt: number };
  bulkAskedAt: number;
  /** A live request was told to come again; until then the next permit is its own. */
  liveUntil: number;
  liveInRow: number;
  /** Share of permits taken as soon as they were due, lately. */
  busy: number;
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
const REST_MS = 2_000;
const BUSY = { memory: 0.1, least: 0.7 };

export const freshPermits: Readonly<SavedPermits> = {
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
  const isBusy = at <= saved.tat + 1;
  if (saved.tat > 0 && at > Math.max(saved.tat, saved.pausedUntil) + REST_MS) saved.restedAt = at;
  saved.busy += BUSY.memory * ((isBusy ? 1 : 0) - saved.busy);
  saved.tat = Math.max(saved.tat, at) + interval;
  if (priority === 'bulk') saved.bulkTat = Math.max(saved.bulkTat, at) + interval / saved.bulkShare;
  if (saved.canary !== 'none') saved.canary = { outAt: at };
  saved.liveInRow = priority === 'live' ? saved.liveInRow + 1 : 0;
}
