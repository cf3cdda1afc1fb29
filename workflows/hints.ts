import { condition, setHandler } from '@temporalio/workflow';
import type { HintAbout } from '../src/hire/hire-run.ts';
import { hintSignal } from './messages.ts';

/** Hints that a hire heard and has not acted upon. */
export interface Hints {
  /** Waits for the next hint, at most so long; then gives and clears every hint that came. */
  wait(timeoutMs?: number): Promise<Set<HintAbout>>;
  has(about: HintAbout): boolean;
  all(): HintAbout[];
  add(heard: readonly HintAbout[]): void;
  /**
   * Hints about the person heard before this call are answered by it where it says that it read the person afterwards.
   */
  answeredBy<T extends object>(call: Promise<T>): Promise<T>;
  /** All of them where none is named. */
  clear(about?: HintAbout): void;
}

/** Set before the first await, so that no signal of the start is lost. */
export function listenForHints(): Hints {
  const waiting = new Set<HintAbout>();
  setHandler(hintSignal, (about) => {
    waiting.add(about);
  });
  return {
    async wait(timeoutMs) {
      if (timeoutMs === undefined) await condition(() => waiting.size > 0);
      else await condition(() => waiting.size > 0, timeoutMs);
      const about = new Set(waiting);
      waiting.clear();
      return about;
    },
    has: (about) => waiting.has(about),
    all: () => [...waiting],
    add(heard) {
      for (const about of heard) waiting.add(about);
    },
    async answeredBy(call) {
      const heard = waiting.delete('person');
      const answer = await call;
      if (heard && !('present' in answer && answer.present === true)) waiting.add('person');
      return answer;
    },
    clear(about) {
      if (about === undefined) waiting.clear();
      else waiting.delete(about);
    },
  };
}
