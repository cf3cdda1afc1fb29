import type { Lane } from './pace.ts';

/** Who may go when, at a given rate: GCRA with pauses, one canary after a pause, and live before bulk. */
export interface Turns {
  /** 0 to go, else ms to wait. `rate` is in requests a second. */
  ask(lane: Lane, rate: number): number;
  /** Nobody goes before; afterwards as before. */
  waitUntil(at: number): void;
  /** Nobody goes before; afterwards one request alone, until its answer. */
  pauseUntil(at: number): void;
  /** Tells an answer; true when it was the canary's. A refused canary needs a new pause. */
  canaryAnswered(succeeded: boolean): boolean;
}

/** Requests that may leave together after a rest, in ms of the rate: bursts are what trips fixed windows. */
const burstMs = 50;
/** A canary whose answer is lost must not stop the lane for ever. */
const canaryPatienceMs = 15_000;
const pollMs = 25;
/** Live goes first, but one in twenty turns is bulk's where it waits: it must not starve. */
const liveTurnsInRow = 19;

export function createTurns(now: () => number): Turns {
  let tat = 0;
  let pausedUntil = 0;
  let canary: 'none' | 'due' | { outAt: number } = 'none';
  let bulkAskedAt = Number.NEGATIVE_INFINITY;
  let liveInRow = 0;

  function ask(lane: Lane, rate: number): number {
    const at = now();
    if (lane === 'bulk') bulkAskedAt = at;
    if (at < pausedUntil) return pausedUntil - at;
    if (typeof canary === 'object' && at < canary.outAt + canaryPatienceMs) return pollMs;
    const wait = waitFor(lane, at, 1000 / rate);
    if (wait > 0) return wait;
    tat = Math.max(tat, at) + 1000 / rate;
    if (canary !== 'none') canary = { outAt: at };
    liveInRow = lane === 'live' ? liveInRow + 1 : 0;
    return 0;
  }

  function waitFor(lane: Lane, at: number, interval: number): number {
    const bulksTurn = lane === 'live' && liveInRow >= liveTurnsInRow && at - bulkAskedAt < 1000;
    // A live request may take the next turn ahead of time; bulk then waits one longer.
    const ahead = lane === 'live' && !bulksTurn ? interval : 0;
    return Math.max(bulksTurn ? pollMs : 0, tat - burstMs - ahead - at);
  }

  return {
    ask,
    waitUntil: (at) => {
      pausedUntil = Math.max(pausedUntil, at);
    },
    pauseUntil: (at) => {
      pausedUntil = Math.max(pausedUntil, at);
      canary = 'due';
    },
    canaryAnswered: (succeeded) => {
      if (typeof canary !== 'object') return false;
      canary = succeeded ? 'none' : 'due';
      return true;
    },
  };
}
