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

export interface ReconcileActivities {
  reconcile(input: { tenantId: string }): Promise<ReconcileCounts>;
}
