/** Limits repeated requests to one per key and time span. */
export interface Coalesced {
  ask(key: string): Promise<void>;
  /** Makes the requests that came too early, once they are allowed; with `all`, at once. */
  payOwed(all?: boolean): Promise<void>;
  isOwing(): boolean;
}

export function createCoalesced(request: (key: string) => Promise<void>, gapMs: number): Coalesced {
  const askedAt = new Map<string, number>();
  // Keys asked for again within the gap: the request before may have looked too early for them.
  const owed = new Set<string>();
  const isDue = (key: string): boolean => (askedAt.get(key) ?? Number.NEGATIVE_INFINITY) + gapMs <= performance.now();
  const trigger = async (key: string): Promise<void> => {
    askedAt.set(key, performance.now());
    // Clear it before the request, so that a call during the request is owed another one.
    const wasOwed = owed.delete(key);
    try {
      await request(key);
    } catch (error) {
      if (wasOwed) owed.add(key);
      throw error;
    }
  };
  return {
    async ask(key) {
      if (isDue(key)) await trigger(key);
      else owed.add(key);
    },
    async payOwed(all = false) {
      await Promise.all([...owed].filter((key) => all || isDue(key)).map(trigger));
    },
    isOwing: () => owed.size > 0,
  };
}
