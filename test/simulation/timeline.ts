import type { Clock } from '../../src/sandbox/quirks.ts';
import type { Random } from '../../src/sandbox/random.ts';

/** One thing that happens at its moment. */
interface Entry {
  time: number;
  /** Drawn, so that what falls on one moment happens in the seed's order. */
  tie: number;
  run: (() => void) | undefined;
}

/** Everything that happens in one seed, one after the other on a clock that moves from event to event. */
export interface Timeline extends Clock {
  /** Runs events in order up to this moment, letting all promises settle between two of them. */
  runUntil(time: number): Promise<void>;
  /** Moves the clock without running what fell into the gap: a machine that slept. */
  sleepUntil(time: number): void;
  /** Events that ran so far. */
  count(): number;
  /** Events that are still to come. */
  waiting(): number;
}

const settled = setImmediate;

/** An empty timeline that begins at `start` (epoch ms). */
export function createTimeline(start: number, random: Random): Timeline {
  const heap: Entry[] = [];
  let now = start;
  let ran = 0;
  return {
    kind: 'stepped',
    now: () => now,
    at(time, run) {
      const entry: Entry = { time: Math.max(Math.round(time), now), tie: random(), run };
      push(heap, entry);
      return () => {
        entry.run = undefined;
      };
    },
    async runUntil(end) {
      while (heap[0] !== undefined && heap[0].time <= end) {
        const { run, time } = pop(heap);
        if (run === undefined) continue;
        now = Math.max(now, time);
        ran += 1;
        run();
        await new Promise((resolve) => settled(resolve));
      }
      now = Math.max(now, Math.round(end));
    },
    sleepUntil(time) {
      now = Math.max(now, time);
    },
    count: () => ran,
    waiting: () => heap.filter(({ run }) => run !== undefined).length,
  };
}

function before(a: Entry, b: Entry): boolean {
  return a.time < b.time || (a.time === b.time && a.tie < b.tie);
}

function push(heap: Entry[], entry: Entry): void {
  let index = heap.push(entry) - 1;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!before(entry, heap[parent]!)) break;
    heap[index] = heap[parent]!;
    index = parent;
  }
  heap[index] = entry;
}

function pop(heap: Entry[]): Entry {
  const first = heap[0]!;
  const last = heap.pop()!;
  if (heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let child = index * 2 + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child += 1;
    if (!before(heap[child]!, last)) break;
    heap[index] = heap[child]!;
    index = child;
  }
  heap[index] = last;
  return first;
}
