/** What one reconcile saw and did. */
export interface ReconcileCounts {
  jobs: number;
  jobsListed: number;
  people: number;
  started: number;
  /** Hires that were signalled to read again. */
  hinted: number;
  /** Records that do not fit the contract: seen, counted and skipped. */
  unreadable: number;
}

/** The result of a reconcile that Temporal stores. */
export interface Reconciled extends ReconcileCounts {
  /** When it ended, ms by the store's clock; absent in results of earlier versions. */
  reconciledAt?: number;
}

export interface ReconcileActivities {
  reconcile(input: { tenantId: string }): Promise<Reconciled>;
}
