/** Work under way, counted by tenant. */
export interface UnderWay {
  of(tenantId: string): number;
  all(): number;
  /** `work` must not fail. */
  begin(tenantId: string, work: () => Promise<void>): void;
  /**
   * Resolves when the last work of a tenant ended or `wake` was called since the last call, after `ms`, or when it is
   * time to stop.
   */
  change(ms: number, stop: AbortSignal): Promise<void>;
  wake(): void;
  /** Resolves when nothing is under way. */
  ended(): Promise<void>;
}

export function createUnderWay(): UnderWay {
  const counts = new Map<string, number>();
  const running = new Set<Promise<void>>();
  let changed = false;
  let wake = (): void => undefined;

  function end(tenantId: string, done: Promise<void>): void {
    const left = (counts.get(tenantId) ?? 1) - 1;
    running.delete(done);
    if (left > 0) return void counts.set(tenantId, left);
    counts.delete(tenantId);
    noteChange();
  }

  function noteChange(): void {
    changed = true;
    wake();
  }

  return {
    of: (tenantId) => counts.get(tenantId) ?? 0,
    all: () => running.size,
    begin(tenantId, work) {
      counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
      const done: Promise<void> = work().finally(() => end(tenantId, done));
      running.add(done);
    },
    async change(ms, stop) {
      const isDue = changed || stop.aborted;
      changed = false;
      if (isDue) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        stop.addEventListener('abort', wake, { once: true });
      });
      stop.removeEventListener('abort', wake);
      wake = () => undefined;
      changed = false;
    },
    wake: noteChange,
    ended: async () => void (await Promise.all(running)),
  };
}
