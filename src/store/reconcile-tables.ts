/** baseline: who was hired before go-live. full: everything, once a day. changed: what moved since the last time. */
export type ReconcileKind = 'baseline' | 'full' | 'restored' | 'changed';

/** The reconcile of a tenant that is under way or was interrupted; none once it is over. */
export interface ReconcileTable {
  tenant_id: string;
  kind: ReconcileKind;
  /** JSON: what is to be read. */
  plan: string;
  /** JSON: the next page or record to be read. */
  position: string;
  /** JSON: what was seen and done so far. */
  counts: string;
  /** Random, of the attempt that works on it: one that was taken over saves nothing more. */
  holder: string;
  started_at: number;
  updated_at: number;
}

/**
 * hired, rejected: in a hiring stage. unreadable: there too, by a record that cannot be read. traced: not seen there,
 * and an enrolment carries our reference to them.
 */
export type Seen = 'hired' | 'rejected' | 'unreadable' | 'traced';

/** Whom the reconcile under way has seen; nobody once it is over. */
export interface SeenPersonTable {
  tenant_id: string;
  job_candidate_id: string;
  candidate_id: string | null;
  job_id: string | null;
  seen: Seen;
  /** JSON of the latest enrolment with our reference. */
  trace: string | null;
}
