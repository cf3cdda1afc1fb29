import type { Priority } from './rate-limit.ts';

/** Who may send when, at a given rate: GCRA with pauses, one canary after a pause, and live before bulk. */
export interface Permits {
  /** 0: send now. Otherwise: ms to wait. `rate` is in requests a second. */
  ask(priority: Priority, rate: number): number;
  /** So many permits were taken and will not be used. */
  giveBack(permits: number, rate: number): void;
  /** Nobody sends before; afterwards as before. */
  waitUntil(at: number): void;
  /** Nobody sends before; afterwards one request alone, until it is answered. */
  pauseUntil(at: number): void;
  /** Notes an answer; true when it was the canary's. A refused canary needs a new pause. */
  canaryAnswered(succeeded: boolean): boolean;
}

/** Plain data, so that processes can share it. */
export interface SavedPermits {
  /** When the next permit is due at an even rate (GCRA's theoretical arrival time). */
  tat: number;
  pausedUntil: number;
  canary: 'none' | 'due' | { outAt: number };
  bulkAskedAt: number;
  liveInRow: number;
}

/** Requests that may leave together after a rest, in ms of the rate: bursts are what trips fixed windows. */
const BURST_MS = 50;
/** A canary whose answer is lost must not stop everybody for ever. */
const CANARY_PATIENCE_MS = 15_000;
const POLL_MS = 25;
/** Live goes first, but while bulk waits it gets one permit in twenty, so that it never starves. */
export const MOST_LIVE_IN_ROW = 19;

export const freshPermits: Readonly<SavedPermits> = {
  tat: 0,
  pausedUntil: 0,
  canary: 'none',
  bulkAskedAt: -1e6,
  liveInRow: 0,
};

/** Changes `saved` in place. */
export function createPermits(now: () => number, saved: SavedPermits): Permits {
  function ask(priority: Priority, rate: number): number {
    const at = now();
    const { canary } = saved;
    if (priority === 'bulk') saved.bulkAskedAt = at;
    if (at < saved.pausedUntil) return saved.pausedUntil - at;
    if (typeof canary === 'object' && at < canary.outAt + CANARY_PATIENCE_MS) return POLL_MS;
    const wait = waitFor(priority, at, 1000 / rate);
    if (wait > 0) return wait;
    saved.tat = Math.max(saved.tat, at) + 1000 / rate;
    if (canary !== 'none') saved.canary = { outAt: at };
    saved.liveInRow = priority === 'live' ? saved.liveInRow + 1 : 0;
    return 0;
  }

  function waitFor(priority: Priority, at: number, interval: number): number {
    const isBulkDue = priority === 'live' && saved.liveInRow >= MOST_LIVE_IN_ROW && at - saved.bulkAskedAt < 1000;
    // A live request may take the next permit ahead of time; bulk then waits one interval longer.
    const ahead = priority === 'live' && !isBulkDue ? interval : 0;
    return Math.max(isBulkDue ? POLL_MS : 0, saved.tat - BURST_MS - ahead - at);
  }

  return {
    ask,
    giveBack: (permits, rate) => {
      saved.tat -= (permits * 1000) / rate;
      // The canary's permit may be among them.
      if (typeof saved.canary === 'object') saved.canary = 'due';
    },
    waitUntil: (at) => {
      saved.pausedUntil = Math.max(saved.pausedUntil, at);
    },
    pauseUntil: (at) => {
      saved.pausedUntil = Math.max(saved.pausedUntil, at);
      saved.canary = 'due';
    },
    canaryAnswered: (succeeded) => {
      if (typeof saved.canary !== 'object') return false;
      saved.canary = succeeded ? 'none' : 'due';
      return true;
    },
  };
}
