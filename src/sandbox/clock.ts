/** The sandbox's own time. Deadlines, retries and time-limited URLs follow it, never the process's clock directly. */
export interface Clock {
  readonly kind: 'real' | 'stepped';
  /** Epoch milliseconds. */
  now(): number;
  /** Runs once at `time` (epoch ms) or as soon as possible after it; the answer cancels it. */
  at(time: number, run: () => void): () => void;
}

/** A clock that only moves when told to: what was due on the way runs in order, each at its own time. */
export interface SteppedClock extends Clock {
  readonly kind: 'stepped';
  advance(ms: number): void;
}

/** The machine's clock. */
export function createRealClock(): Clock {
  return {
    kind: 'real',
    now: Date.now,
    at(time, run) {
      const timer = setTimeout(run, Math.min(Math.max(0, time - Date.now()), 2 ** 31 - 1));
      // The servers keep the process up, not what is still to happen.
      timer.unref();
      return () => {
        clearTimeout(timer);
      };
    },
  };
}

/** A stepped clock that stands at `start` (epoch ms). */
export function createSteppedClock(start: number): SteppedClock {
  let time = start;
  let order = 0;
  let waiting: { time: number; order: number; run: () => void }[] = [];
  return {
    kind: 'stepped',
    now: () => time,
    at(due, run) {
      const entry = { time: Math.max(due, time), order: order++, run };
      waiting.push(entry);
      return () => {
        waiting = waiting.filter((other) => other !== entry);
      };
    },
    advance(ms) {
      const end = time + ms;
      for (;;) {
        const next = waiting
          .filter((entry) => entry.time <= end)
          .sort((a, b) => a.time - b.time || a.order - b.order)[0];
        if (next === undefined) break;
        waiting = waiting.filter((entry) => entry !== next);
        time = Math.max(time, next.time);
        next.run();
      }
      time = end;
    },
  };
}

/** True for a clock the control plane may advance. */
export function isStepped(clock: Clock): clock is SteppedClock {
  return clock.kind === 'stepped';
}
