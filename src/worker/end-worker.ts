import { within } from '../within.ts';

/** Whatever ends, begun when its turn comes. */
type Ends = () => readonly Promise<unknown>[];

/** What a worker ends, in this order. */
export interface WorkerEnds {
  /** Relay, chores and activities. */
  work: Ends;
  /** What the work needed of others. */
  connections: Ends;
  /** What all of them needed. */
  stores: Ends;
}

/**
 * When activities under way are cancelled, which gives up their reads, and when nobody waits any longer for a write
 * that has left, ms. Its outcome is then looked for like that of a process that was killed.
 */
export const SHUTDOWN = { graceMs: 2_000, forceMs: 3_000 } as const;
const WORK_MS = SHUTDOWN.forceMs + 300;
const REST_MS = 500;

/** Ends a worker in less than five seconds, whatever hangs. What fails to end keeps nothing else from ending. */
export async function endWorker({ work, connections, stores }: WorkerEnds): Promise<void> {
  await within(WORK_MS, Promise.allSettled(work()));
  await within(REST_MS, Promise.allSettled(connections()));
  await within(REST_MS, Promise.allSettled(stores()));
}
