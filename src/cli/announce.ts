import { flushCompileCache } from 'node:module';
import { z } from 'zod';

/** What a supervised part tells its parent once it listens: name of an address -> URL. */
export const Announcement = z.object({ kind: z.literal('listening'), urls: z.record(z.string(), z.string()) });
export type Announcement = z.infer<typeof Announcement>;

/** Tells the supervising parent, where there is one. */
export function announce(urls: Record<string, string>): void {
  // Written at exit otherwise, and whoever runs for months or is killed never exits.
  flushCompileCache();
  process.send?.({ kind: 'listening', urls } satisfies Announcement);
}
