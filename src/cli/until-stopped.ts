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
