/** When each tenant's last reconcile ended, known outside the store: ms by the store's clock; 0 if unknown. */
export interface LastReconcile {
  read(tenantId: string): Promise<number>;
  note(tenantId: string, reconciledAt: number): void;
}

/** Remembers this process's own reconciles; for a tenant it has not reconciled yet, calls `ask`. */
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
