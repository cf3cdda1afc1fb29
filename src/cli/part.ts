import { flushCompileCache } from 'node:module';
import { z } from 'zod';

/** Set by `supervise` for its children: the end of their channel means that the parent is gone. */
export const SUPERVISED = 'HIREBRIDGE_SUPERVISED';

/** Ends when the process should: Ctrl-C, SIGTERM, or a supervising parent that died. A second signal ends at once. */
export function stopSignal(): AbortSignal {
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => {
    if (stop.signal.aborted) process.exit(130);
    void import('../log.ts').then(({ log }) => log.debug({ signal }, 'stopping'));
    stop.abort();
  };
  process.on('SIGINT', onSignal);
  process.on('SIGTERM', onSignal);
  if (process.env[SUPERVISED] !== undefined) watchParent(() => stop.abort());
  return stop.signal;
}

/**
 * A parent killed with SIGKILL cannot tell its children, but the kernel closes its end of the channel. A drain that
 * takes longer than the grace period is cut short.
 */
function watchParent(stop: () => void): void {
  process.once('disconnect', () => {
    stop();
    setTimeout(() => process.exit(1), 5_000).unref();
  });
}

/** Resolves when the signal fires. */
export function whenStopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    // Signal handlers keep no loop alive, and a command that only waits must not end by itself.
    const alive = setInterval(() => undefined, 2 ** 30);
    signal.addEventListener('abort', () => {
      clearInterval(alive);
      resolve();
    });
  });
}

/** What a supervised part tells its parent once it listens: names of addresses and ids -> values. */
export const Announcement = z.object({ kind: z.literal('listening'), facts: z.record(z.string(), z.string()) });
export type Announcement = z.infer<typeof Announcement>;

/** Tells the supervising parent, where there is one. */
export function announce(facts: Record<string, string>): void {
  // Written at exit otherwise, and whoever runs for months or is killed never exits.
  flushCompileCache();
  process.send?.({ kind: 'listening', facts } satisfies Announcement);
}
