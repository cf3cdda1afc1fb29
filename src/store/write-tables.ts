/** One record written at the partner or in the HRIS. Rows of one statement or request share a batch. */
export interface ForeignWriteTable {
  batch_id: string;
  tenant_id: string;
  /** The run of a stream, the hash of a plan that was applied, or `hire`. */
  run_id: string;
  target: WriteTarget;
  /** The partner's id: of a landed record, or of the job candidate of a hire. */
  record_id: string;
  /** Of the hire; null for a landed record. */
  period: number | null;
  /** Where it was written: employee, enrolment, candidate. */
  foreign_id: string | null;
  /** The intent that says what became of it; null where its batch and `outcome` do. */
  verb: string | null;
  attempt: number | null;
  kind: WriteKind;
  /** JSON list of the fields written; stays when their values are purged. */
  fields: string;
  /** JSON list of those that are shown masked. */
  sensitive: string;
  /** JSON: field -> { old?, new }; `old` is absent where it was not known. */
  changes: string;
  /** Of the landed row. */
  row_hash: string | null;
  mapping_hash: string | null;
  /** `hirebridge`, or the person who applied a plan. */
  by: string;
  sent_at: number;
  outcome: WriteOutcome;
  /** When it was read back. */
  verified_at: number | null;
  purged_at: number | null;
}

/**
 * A batch of several writes that was sent, and not known yet what became of it, whatever `outcome` its rows have: to
 * change each of them would write it a second time.
 */
export interface OpenBatchTable {
  batch_id: string;
  tenant_id: string;
}

/** Landed records of one run whose values were purged: a row each would stay for good. */
export interface PurgedWriteTable extends Pick<ForeignWriteTable, 'tenant_id' | 'run_id' | 'target' | 'mapping_hash'> {
  page_id: string;
  by: string;
  /** Of the first of them. */
  sent_at: number;
  purged_at: number;
  /** JSON: which records, by what was done to which fields and what became of it. */
  records: string;
}

/** A stream by its name, a part of a hire, or what a candidate holds in a custom field, hired or not. */
export type WriteTarget =
  | 'employee'
  | 'enrolment'
  | 'external-status'
  | 'custom-fields'
  | 'candidate-value'
  | (string & {});
export type WriteKind = 'create' | 'update' | 'end';
/** open: sent, and not known yet what became of it. absent: it did not arrive. */
export type WriteOutcome = 'open' | 'done' | 'absent' | 'refused';

/** The texts of a mapping that was used. */
export interface MappingVersionTable {
  tenant_id: string;
  /** `employee`, or a stream. */
  subject: string;
  mapping_hash: string;
  /** The tenant's own file among `files`; null where the defaults were used alone. */
  file: string | null;
  /** JSON: path -> text, of the tenant's own files. */
  files: string;
  first_used_at: number;
}

/** A plan that a person may apply. */
export interface SavedPlanTable {
  plan_hash: string;
  tenant_id: string;
  /** A stream, or `hire 5012/1`. */
  subject: string;
  /** What the plan was made from: both sides as they were read, or earlier writes that it undoes. */
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
  /** changed: one of its sides is no longer as it was planned from, so nothing was written. */
  state: 'planned' | 'applied' | 'changed' | 'refused';
}
