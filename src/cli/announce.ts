import { flushCompileCache } from 'node:module';
import { z } from 'zod';

/** What a supervised part tells its parent once it listens: names of addresses and ids -> values. */
export const Announcement = z.object({ kind: z.literal('listening'), facts: z.record(z.string(), z.string()) });
export type Announcement = z.infer<typeof Announcement>;

/** Tells the supervising parent, where there is one. */
export function announce(facts: Record<string, string>): void {
  // Written at exit otherwise, and whoever runs for months or is killed never exits.
  flushCompileCache();
  process.send?.({ kind: 'listening', facts } satisfies Announcement);
}
