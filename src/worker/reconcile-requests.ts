/** Asks for reconciles, at most one per tenant in a while. */
export interface ReconcileRequests {
  ask(tenantId: string): Promise<void>;
  /** Makes up for what came too close after another request, as soon as it may; with `all`, now. */
  payOwed(all?: boolean): Promise<void>;
}

export function createReconcileRequests(
  triggerReconcile: (tenantId: string) => Promise<void>,
  gapMs: number,
): ReconcileRequests {
  const askedAt = new Map<string, number>();
  // Their last request came within the gap: the reconcile before it may have looked too early.
  const owed = new Set<string>();
  const isDue = (tenantId: string): boolean =>
    (askedAt.get(tenantId) ?? Number.NEGATIVE_INFINITY) + gapMs <= performance.now();
  const trigger = async (tenantId: string): Promise<void> => {
    askedAt.set(tenantId, performance.now());
    await triggerReconcile(tenantId);
    owed.delete(tenantId);
  };
  return {
    async ask(tenantId) {
      if (isDue(tenantId)) await trigger(tenantId);
      else owed.add(tenantId);
    },
    async payOwed(all = false) {
      await Promise.all([...owed].filter((tenantId) => all || isDue(tenantId)).map(trigger));
    },
  };
}
