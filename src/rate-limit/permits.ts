import type { Priority } from './rate-limit.ts';

/** Who may go when, at a given rate: GCRA with pauses, one canary after a pause, and live before bulk. */
export interface Turns {
  /** 0 to go, else ms to wait. `rate` is in requests a second. */
  ask(priority: Priority, rate: number): number;
  pausedMs(): number;
  /** So many turns were taken and not used. */
  giveBack(turns: number, rate: number): void;
  /** Nobody goes before; afterwards as before. */
  waitUntil(at: number): void;
  /** Nobody goes before; afterwards one request alone, until its answer. */
  pauseUntil(at: number): void;
  /** Tells an answer; true when it was the canary's. A refused canary needs a new pause. */
  canaryAnswered(succeeded: boolean): boolean;
}

/** Plain data, so that processes can share it. */
export interface SavedTurns {
  /** When the next turn is due at an even rate limit (GCRA's theoretical arrival time). */
  tat: number;
  pausedUntil: number;
  canary: 'none' | 'due' | { outAt: number };
  bulkAskedAt: number;
  liveInRow: number;
}

/** Requests that may leave together after a rest, in ms of the rate: bursts are what trips fixed windows. */
const burstMs = 50;
/** A canary whose answer is lost must not stop the priority for ever. */
const canaryPatienceMs = 15_000;
const pollMs = 25;
/** Live goes first, but one in twenty turns is bulk's where it waits: it must not starve. */
const liveTurnsInRow = 19;

export const freshTurns: Readonly<SavedTurns> = {
  tat: 0,
  pausedUntil: 0,
  canary: 'none',
  bulkAskedAt: -1e6,
  liveInRow: 0,
};

/** Changes `saved` in place. */
export function createTurns(now: () => number, saved: SavedTurns): Turns {
  function ask(priority: Priority, rate: number): number {
    const at = now();
    const { canary } = saved;
    if (priority === 'bulk') saved.bulkAskedAt = at;
    if (at < saved.pausedUntil) return saved.pausedUntil - at;
    if (typeof canary === 'object' && at < canary.outAt + canaryPatienceMs) return pollMs;
    const wait = waitFor(priority, at, 1000 / rate);
    if (wait > 0) return wait;
    saved.tat = Math.max(saved.tat, at) + 1000 / rate;
    if (canary !== 'none') saved.canary = { outAt: at };
    saved.liveInRow = priority === 'live' ? saved.liveInRow + 1 : 0;
    return 0;
  }

  function waitFor(priority: Priority, at: number, interval: number): number {
    const bulksTurn = priority === 'live' && saved.liveInRow >= liveTurnsInRow && at - saved.bulkAskedAt < 1000;
    // A live request may take the next turn ahead of time; bulk then waits one longer.
    const ahead = priority === 'live' && !bulksTurn ? interval : 0;
    return Math.max(bulksTurn ? pollMs : 0, saved.tat - burstMs - ahead - at);
  }

  return {
    ask,
    pausedMs: () => Math.max(0, saved.pausedUntil - now()),
    giveBack: (turns, rate) => {
      saved.tat -= (turns * 1000) / rate;
      // The one that was to try first may be among them.
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
