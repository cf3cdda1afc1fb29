import { AsyncLocalStorage } from 'node:async_hooks';

/** About every so many ms a process does not run for a while, as on a busy machine. */
export interface Stalls {
  everyMs: number;
  leastMs: number;
  mostMs: number;
}

/** Runs the timers of processes, and those of nobody, on one virtual clock. */
export interface StallingProcesses {
  /** `begin` and all that comes of it are one process's. */
  run<T>(process: number, begin: () => T): T;
  /** What happens elsewhere meanwhile. */
  elsewhere<T>(begin: () => T): T;
  end(): void;
}

/** Needs fake timers, and replaces their `setTimeout` until the end. */
export function stallProcesses(stalls: Stalls | undefined, random: () => number): StallingProcesses {
  const running = new AsyncLocalStorage<{ stalledFrom: number; stalledUntil: number } | undefined>();
  const fake = globalThis.setTimeout;
  const processes = new Map<number, { stalledFrom: number; stalledUntil: number }>();
  const plan = (after: number): { stalledFrom: number; stalledUntil: number } => {
    if (stalls === undefined) return { stalledFrom: Number.POSITIVE_INFINITY, stalledUntil: Number.POSITIVE_INFINITY };
    const stalledFrom = after - Math.log(1 - random()) * stalls.everyMs;
    return { stalledFrom, stalledUntil: stalledFrom + stalls.leastMs + random() * (stalls.mostMs - stalls.leastMs) };
  };
  const setTimeout = (then: () => void, ms?: number): unknown => {
    const process = running.getStore();
    if (process === undefined) return fake(then, ms);
    const fire = (): void => {
      const now = performance.now();
      while (now >= process.stalledUntil) Object.assign(process, plan(process.stalledUntil));
      if (now >= process.stalledFrom) fake(fire, process.stalledUntil - now);
      else running.run(process, then);
    };
    return fake(fire, ms);
  };
  globalThis.setTimeout = setTimeout as typeof globalThis.setTimeout;
  return {
    run: (process, begin) => {
      const known = processes.get(process) ?? plan(performance.now());
      processes.set(process, known);
      return running.run(known, begin);
    },
    elsewhere: (begin) => running.run(undefined, begin),
    end: () => {
      globalThis.setTimeout = fake;
    },
  };
}
