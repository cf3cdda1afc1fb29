/** When reconciles ended last, as others than the store know it: by the store's clock, ms; 0 where nobody knows. */
export interface LastReconcile {
  read(tenantId: string): Promise<number>;
  note(tenantId: string, reconciledAt: number): void;
}

/** What this process did itself; for a tenant that it has not reconciled yet, what `ask` says. */
export function rememberReconciles(ask: (tenantId: string) => Promise<number | undefined>): LastReconcile {
  const known = new Map<string, number>();
  return {
    async read(tenantId) {
      const at = known.get(tenantId) ?? (await ask(tenantId)) ?? 0;
      known.set(tenantId, at);
      return at;
    },
    note: (tenantId, reconciledAt) => void known.set(tenantId, reconciledAt),
  };
}
