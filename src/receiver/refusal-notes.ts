/** Remembers refused deliveries of known tenants, so that `status` and `check` can tell of them. */
export interface RefusalNotes {
  note(tenantId: string, reason: string): void;
  /** Until then they are counted. */
  writeTo(write: (refusals: readonly NotedRefusal[]) => Promise<void>): void;
  /** Writes what is still to be written. */
  close(): Promise<void>;
}

export interface NotedRefusal {
  tenantId: string;
  reason: string;
  count: number;
}

/**
 * Counts in memory and writes at most once in `everyMs`: whoever sends rubbish costs the store one statement a second,
 * not one a delivery. What cannot be written is lost: it is worth no retry.
 */
export function createRefusalNotes(everyMs = 1_000): RefusalNotes {
  let write: ((refusals: readonly NotedRefusal[]) => Promise<void>) | undefined;
  const counts = new Map<string, NotedRefusal>();
  let timer: NodeJS.Timeout | undefined;
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    if (write === undefined) return;
    const noted = [...counts.values()];
    counts.clear();
    if (noted.length > 0) await write(noted).catch(() => undefined);
  }
  return {
    note(tenantId, reason) {
      const key = `${tenantId} ${reason}`;
      counts.set(key, { tenantId, reason, count: (counts.get(key)?.count ?? 0) + 1 });
      timer ??= setTimeout(() => void flush(), everyMs);
    },
    writeTo(where) {
      write = where;
      void flush();
    },
    close: flush,
  };
}
