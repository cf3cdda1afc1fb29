/**
 * Task queue for activities that read a lot (reconciles, streams), separate from the hires' queue: each has its own
 * slots, so that neither waits behind the other.
 */
export function bulkQueueOf(liveQueue: string): string {
  return `${liveQueue}/bulk`;
}
