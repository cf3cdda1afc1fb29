/** Asks for something again and again, at most once for each key in a while. */
export interface Coalesced {
  ask(key: string): Promise<void>;
  /** Makes up for what came too close after another request, as soon as it may; with `all`, now. */
  payOwed(all?: boolean): Promise<void>;
  isOwing(): boolean;
}

export function createCoalesced(request: (key: string) => Promise<void>, gapMs: number): Coalesced {
  const askedAt = new Map<string, number>();
  // Their last request came within the gap: what the one before it led to may have looked too early.
  const owed = new Set<string>();
  const isDue = (key: string): boolean => (askedAt.get(key) ?? Number.NEGATIVE_INFINITY) + gapMs <= performance.now();
  const trigger = async (key: string): Promise<void> => {
    askedAt.set(key, performance.now());
    // Before the request: whoever asks while it is under way is owed another one.
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
