import { flushCompileCache } from 'node:module';
import type { Announcement } from './announcement.ts';

/** Tells the supervising parent, where there is one. */
export function announce(facts: Record<string, string>): void {
  // Written at exit otherwise, and whoever runs for months or is killed never exits.
  flushCompileCache();
  process.send?.({ kind: 'listening', facts } satisfies Announcement);
}
