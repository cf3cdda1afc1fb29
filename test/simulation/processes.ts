import { AsyncLocalStorage } from 'node:async_hooks';
import type { Random } from '../../src/sandbox/random.ts';
import type { Timeline } from './timeline.ts';

/**
 * One process of the product. What it waits for comes back through `later`, so that a dead process never goes on and a
 * stopped one (SIGSTOP) goes on where it stood, when it hints.
 */
export interface Process {
  readonly name: string;
  /** No other has it, of whatever seed: what a process remembers in its modules is kept by it. */
  readonly pid: number;
  alive: boolean;
  /** Stopped until this moment. */
  stoppedUntil: number;
  later(ms: number, run: () => void): () => void;
  /** Told when it dies or is stopped. */
  onLost: Array<(how: 'killed' | 'stopped') => void>;
}

/** The process in whose course something happens; undefined for the world around. */
export const currentProcess = new AsyncLocalStorage<Process>();

let pids = 0;

export function createProcess(name: string, timeline: Timeline, random: Random): Process {
  const process: Process = {
    name,
    pid: (pids += 1),
    alive: true,
    stoppedUntil: 0,
    onLost: [],
    later(ms, run) {
      let cancel: () => void = () => undefined;
      const fire = (): void => {
        if (!process.alive) return;
        const hintsIn = process.stoppedUntil - timeline.now();
        if (hintsIn > 0) cancel = timeline.at(process.stoppedUntil + random() * 5, fire);
        else currentProcess.run(process, run);
      };
      cancel = timeline.at(timeline.now() + ms, fire);
      return () => cancel();
    },
  };
  return process;
}

export function kill(process: Process): void {
  if (!process.alive) return;
  process.alive = false;
  for (const lost of process.onLost) lost('killed');
}

export function stop(process: Process, until: number): void {
  process.stoppedUntil = Math.max(process.stoppedUntil, until);
  for (const lost of process.onLost) lost('stopped');
}
