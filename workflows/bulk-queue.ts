/**
 * The queue of activities that read much (reconciles, streams), beside that of a hire's: slots of their own, so that
 * neither waits behind the other.
 */
export function bulkQueueOf(liveQueue: string): string {
  return `${liveQueue}/bulk`;
}
