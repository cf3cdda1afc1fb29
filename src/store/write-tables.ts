/** One record written at the partner or in the HRIS. Rows of one statement or request share a batch. */
export interface ForeignWriteTable {
  batch_id: string;
  tenant_id: string;
  /** The run of a stream, the hash of a plan that was applied, or `hire`. */
  run_id: string;
  target: WriteTarget;
  /** The partner's id of a landed record, or of a hire's job candidate. */
  record_id: string;
  /** The hire's period; null for a landed record. */
  period: number | null;
  /** The id of the record written: employee, enrolment, candidate. */
  foreign_id: string | null;
  /** The intent that records the outcome; null if the batch and `outcome` do. */
  verb: string | null;
  attempt: number | null;
  kind: WriteKind;
  /** JSON list of the fields written; stays when their values are purged. */
  fields: string;
  /** JSON list of the fields to show masked. */
  sensitive: string;
  /** JSON: field -> { old?, new }; `old` is absent if it was not known. */
  changes: string;
  /** Hash of the landed row. */
  row_hash: string | null;
  mapping_hash: string | null;
  /** `hirebridge`, or the person who applied a plan. */
  by: string;
  sent_at: number;
  outcome: WriteOutcome;
  /** When it was verified by reading it back. */
  verified_at: number | null;
  purged_at: number | null;
}

/**
 * A batch of several writes that was sent and whose outcome is unknown, whatever `outcome` its rows have: updating
 * every row would write each a second time.
 */
export interface OpenBatchTable {
  batch_id: string;
  tenant_id: string;
}

/** Landed records of one run whose values were purged, combined because a row for each would stay for good. */
export interface PurgedWriteTable extends Pick<ForeignWriteTable, 'tenant_id' | 'run_id' | 'target' | 'mapping_hash'> {
  page_id: string;
  by: string;
  /** When the first of them was sent. */
  sent_at: number;
  purged_at: number;
  /** JSON: records by kind, fields and outcome. */
  records: string;
}

/** A stream's name, a part of a hire, or the value of a candidate's custom field, hired or not. */
export type WriteTarget =
  | 'employee'
  | 'enrolment'
  | 'external-status'
  | 'custom-fields'
  | 'candidate-value'
  | (string & {});
export type WriteKind = 'create' | 'update' | 'end';
/** open: sent, outcome unknown. absent: it did not arrive. */
export type WriteOutcome = 'open' | 'done' | 'absent' | 'refused';

/** The texts of a mapping that was used. */
export interface MappingVersionTable {
  tenant_id: string;
  /** `employee`, or a stream. */
  subject: string;
  mapping_hash: string;
  /** The tenant's own file among `files`; null if only the defaults were used. */
  file: string | null;
  /** JSON: path -> text of the tenant's own files. */
  files: string;
  first_used_at: number;
}

/** A plan that a person may apply. */
export interface SavedPlanTable {
  plan_hash: string;
  tenant_id: string;
  /** A stream, or `hire 5012/1`. */
  subject: string;
  /** What the plan was made from: both sides as read, or earlier writes that it undoes. */
  source: 'records' | 'writes';
  mapping_hash: string | null;
  planned_at: number;
  planned_by: string;
}

export interface SavedPlanRecordTable {
  plan_hash: string;
  record_id: string;
  /** JSON of the change; holds personal data. */
  change: string;
  /** changed: one of its sides differs from what the plan was made from, so nothing was written. */
  state: 'planned' | 'applied' | 'changed' | 'refused';
}
