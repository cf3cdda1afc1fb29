// Prints by how many megabytes the heap grows until it is collected: at rest, beside a long pass, at rest again.
import { PerformanceObserver } from 'node:perf_hooks';
import { setImmediate as nextTask, setTimeout as pause } from 'node:timers/promises';
import { boundHeapGrowth, createHeapRoom } from '../../activities/heap-growth.ts';

/** V8's name for a collection of the whole heap. */
const MAJOR = 4;
const LIVE_MEGABYTES = 80;
const TIMES = 12;
const NUMBERS = Array.from<number>({ length: 1_024 }).fill(0.5);
let collections = 0;
new PerformanceObserver((list) => {
  const entries = list.getEntries() as { detail?: unknown }[];
  collections += entries.filter(({ detail }) => (detail as { kind: number }).kind === MAJOR).length;
}).observe({ entryTypes: ['gc'] });

boundHeapGrowth();
const live = Array.from({ length: LIVE_MEGABYTES }, megabyte);
const atRest = await usualGrowth();
const [room, other] = [createHeapRoom(), createHeapRoom()];
for (const one of [room, room, other]) one.take();
other.giveBack();
const longPass = await usualGrowth();
room.giveBack();
process.stdout.write(JSON.stringify({ live: live.length, atRest, longPass, again: await usualGrowth() }));

/** The mean of some: each collection begins up to a quarter early or late, as the engine sees fit. */
async function usualGrowth(): Promise<number> {
  let sum = 0;
  for (let n = 0; n < TIMES; n += 1) sum += await growth();
  return sum / TIMES;
}

async function growth(): Promise<number> {
  globalThis.gc?.();
  // The observer is told of it some tasks later.
  await pause(50);
  const before = collections;
  const grown: number[][][] = [];
  while (collections === before) {
    grown.push(megabyte());
    await nextTask();
  }
  return grown.length;
}

/** In pieces that are small enough to begin among the new objects. */
function megabyte(): number[][] {
  return Array.from({ length: 128 }, () => [...NUMBERS]);
}
