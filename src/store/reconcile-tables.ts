/** baseline: people hired before go-live. full: everything, once a day. changed: changes since the last time. */
export type ReconcileKind = 'baseline' | 'full' | 'restored' | 'changed';

/** The current or interrupted reconcile of a tenant; deleted once it is over. */
export interface ReconcileTable {
  tenant_id: string;
  kind: ReconcileKind;
  /** JSON: what to read. */
  plan: string;
  /** JSON: the next page or record to read. */
  position: string;
  /** JSON: what was seen and done so far. */
  counts: string;
  /** Random id of the attempt that works on it; an attempt that was replaced can save nothing more. */
  holder: string;
  started_at: number;
  updated_at: number;
}

/**
 * hired, rejected: in a hiring stage. unreadable: in a hiring stage, but the record cannot be read. traced: not seen in
 * one, but an enrolment carries our reference to the person.
 */
export type Seen = 'hired' | 'rejected' | 'unreadable' | 'traced';

/** People seen by the current reconcile; emptied once it is over. */
export interface SeenPersonTable {
  tenant_id: string;
  job_candidate_id: string;
  candidate_id: string | null;
  job_id: string | null;
  seen: Seen;
  /** JSON of the latest enrolment with our reference. */
  trace: string | null;
}
