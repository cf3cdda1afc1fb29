/** Remembers refused deliveries of known tenants, so that `status` and `check` can tell of them. */
export interface RefusalNotes {
  note(tenantId: string, reason: string): void;
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
export function createRefusalNotes(
  write: (refusals: readonly NotedRefusal[]) => Promise<void>,
  everyMs = 1_000,
): RefusalNotes {
  const counts = new Map<string, NotedRefusal>();
  let timer: NodeJS.Timeout | undefined;
  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
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
    close: flush,
  };
}
