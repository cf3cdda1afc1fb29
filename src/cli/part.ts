import { flushCompileCache } from 'node:module';
import { z } from 'zod';

/** `supervise` sets it for its children: when their channel closes, the parent is gone. */
export const SUPERVISED = 'HIREBRIDGE_SUPERVISED';

/** Aborts when the process should end: Ctrl-C, SIGTERM, or the parent's death. A second signal ends it at once. */
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
 * exceeds the grace period is cut short.
 */
function watchParent(stop: () => void): void {
  process.once('disconnect', () => {
    stop();
    setTimeout(() => process.exit(1), 5_000).unref();
  });
}

export function whenStopped(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    // Signal handlers do not keep the event loop alive, so a command that only waits would end.
    const alive = setInterval(() => undefined, 2 ** 30);
    signal.addEventListener('abort', () => {
      clearInterval(alive);
      resolve();
    });
  });
}

/** A supervised part's message to its parent once it listens: addresses and ids by name. */
export const Announcement = z.object({ kind: z.literal('listening'), facts: z.record(z.string(), z.string()) });
export type Announcement = z.infer<typeof Announcement>;

/** Sends the facts to the supervising parent, if there is one. */
export function announce(facts: Record<string, string>): void {
  // Flush now: normally that happens at exit, but a process that runs for months or is killed never exits.
  flushCompileCache();
  process.send?.({ kind: 'listening', facts } satisfies Announcement);
}
