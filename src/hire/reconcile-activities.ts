/** What one reconcile saw and did. */
export interface ReconcileCounts {
  jobs: number;
  jobsListed: number;
  people: number;
  started: number;
  /** Hires that were told to read again. */
  hinted: number;
  /** Records that do not fit the contract: seen, counted, skipped. */
  unreadable: number;
}

/** What Temporal keeps of a reconcile. */
export interface Reconciled extends ReconcileCounts {
  /** By the store's clock, ms; absent from results of versions that did not say it. */
  reconciledAt?: number;
}

export interface ReconcileActivities {
  reconcile(input: { tenantId: string }): Promise<Reconciled>;
}
