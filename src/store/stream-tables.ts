import type { Generated, Selectable } from 'kysely';
import type { Side } from '../hire/hire.ts';

/** Columns that name a stream. */
interface OfStream {
  tenant_id: string;
  stream: string;
}

/** The tables of what is read again and again, and of what it was written to. */
export interface StreamTables {
  jobs: {
    tenant_id: string;
    job_id: string;
    /** The jobs list item as received. */
    record: string;
    /** JSON of its stage totals when its people were last listed; null: never. */
    listed_totals: string | null;
    seen_at: number;
  };
  /** The latest run of one stream, with its cursor and counts. */
  streams: OfStream & {
    run_id: string;
    state: StreamState;
    /** 1: writes every row again, whatever its hash says. */
    is_full: number;
    /** The next page to read, by the partner's count. */
    page: number;
    /** Records read so far. */
    seen: number;
    /** The number of all records, if the partner gives it. */
    total: number | null;
    unchanged: number;
    created: number;
    updated: number;
    quarantined: number;
    /** Left alone: it has to settle, it was missed once, or it is gone and the policy ignores that. */
    skipped: Generated<number>;
    /** Waits for a person: for an answer, or for a change limit to be lifted. */
    held: Generated<number>;
    /** Where a stream of pairs continues; null at its beginning. */
    cursor: Generated<string | null>;
    refused_code: string | null;
    refused_message: string | null;
    started_at: number;
    updated_at: number;
    ended_at: number | null;
    /** What the run reads; null if an earlier version began it, which read everything. */
    mode: StreamMode | null;
    /** The current part of the list, if the list has parts. */
    segment: Generated<number>;
    /** Records read before that part. */
    seen_before: Generated<number>;
    /** JSON of Tally: for each field, how many rows had a value before and have one now. */
    tally: string | null;
  };
  quarantine: OfStream & {
    /** The record's id, or its place (`page 3, record 17`) if no id can be read. */
    record_key: string;
    /** The page on which it was last seen. */
    page: number;
    /** Field names and codes, never a value. */
    reason: string;
    since: number;
  };
  /** A complete pass over the whole list of a stream; the latest few are kept. */
  stream_passes: OfStream & {
    began_at: number;
    ended_at: number;
    /** Number of records that it found. */
    listed: number;
    /** Number of rows that the HRIS held after it. */
    landed: number;
    created: number;
    updated: number;
    quarantined: number;
  };
  /** The state of a stream beyond its latest run. */
  stream_states: OfStream & {
    paused_by: string | null;
    paused_at: number | null;
    /** The change limit that stopped it; it does not run until a person resumes it. */
    held_code: string | null;
    held_message: string | null;
    held_at: number | null;
    /** The change limit that a person lifted for the next full pass. */
    allowed_code: string | null;
    allowed_by: string | null;
    /** When the latest complete pass over the whole list began. */
    whole_at: number | null;
    /** Number of records that it found. */
    listed: number | null;
    /** Number of rows that the HRIS held after it. */
    landed: number | null;
    /** Hash of the mapping that it used. */
    mapping_hash: string | null;
    /**
     * How many more records the partner's total counts than its pages show, as far as that is known to mean nothing.
     */
    unshown: number | null;
  };
  /** The ids of one page as last read, to find out at the end of a pass which records were on no page. */
  stream_pages: OfStream & {
    page: number;
    /** JSON list. */
    ids: string;
    /** By a record's content, how it lands: see KnownRecords. Null if it was not stored. */
    known: string | null;
  };
  /** A landed record that the partner did not show. */
  stream_missing: OfStream & {
    record_id: string;
    /** The first run that missed it. */
    run_id: string;
    since: number;
    /** When it was missed a second time, or by both an event and a read. */
    believed_at: number | null;
  };
  /** A record of the partner that mappings use in lookups. */
  lookup_rows: {
    tenant_id: string;
    /** The lookup table: the name of the stream that maintains it. */
    stream: string;
    record_id: string;
    row_hash: string;
    /** JSON: column -> value. */
    fields: string;
  };
  /** One record written at the partner or in the HRIS. Rows of one statement or request share a batch. */
  foreign_writes: {
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
    kind: 'create' | 'update' | 'end';
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
  };
  /**
   * A batch of several writes that was sent and whose outcome is unknown, whatever `outcome` its rows have: updating
   * every row would write each a second time.
   */
  open_batches: {
    batch_id: string;
    tenant_id: string;
  };
  /** Landed records of one run whose values were purged, combined because a row for each would stay for good. */
  purged_writes: Pick<StreamTables['foreign_writes'], 'tenant_id' | 'run_id' | 'target' | 'mapping_hash'> & {
    page_id: string;
    by: string;
    /** When the first of them was sent. */
    sent_at: number;
    purged_at: number;
    /** JSON: records by kind, fields and outcome. */
    records: string;
  };
  /** The texts of a mapping that was used. */
  mapping_versions: {
    tenant_id: string;
    /** `employee`, or a stream. */
    subject: string;
    mapping_hash: string;
    /** The tenant's own file among `files`; null if only the defaults were used. */
    file: string | null;
    /** JSON: path -> text of the tenant's own files. */
    files: string;
    first_used_at: number;
  };
  /** A plan that a person may apply. */
  saved_plans: {
    plan_hash: string;
    tenant_id: string;
    /** A stream, or `hire 5012/1`. */
    subject: string;
    /** What the plan was made from: both sides as read, or earlier writes that it undoes. */
    source: 'records' | 'writes';
    mapping_hash: string | null;
    planned_at: number;
    planned_by: string;
  };
  saved_plan_records: {
    plan_hash: string;
    record_id: string;
    /** JSON of the change; holds personal data. */
    change: string;
    /** changed: one of its sides differs from what the plan was made from, so nothing was written. */
    state: 'planned' | 'applied' | 'changed' | 'refused';
  };
  /** A field as one side last defined it. */
  fields: {
    tenant_id: string;
    side: FieldSide;
    /** candidate or job at the partner; employee or a stream in the HRIS. */
    entity: string;
    field_id: string;
    /** JSON of a FieldDefinition. */
    definition: string;
    first_seen_at: number;
    /** When it was first seen missing. */
    gone_at: number | null;
  };
  /** A change of a field; null where the field did not exist before, or does not exist now. */
  field_changes: {
    tenant_id: string;
    side: FieldSide;
    entity: string;
    field_id: string;
    at: number;
    before: string | null;
    after: string | null;
  };
  /** The definition that a path in the mappings stood for when it was first met. */
  field_matches: {
    tenant_id: string;
    path: string;
    definition: string;
    matched_at: number;
  };
  /** A linked pair of a partner's and an HRIS record, and the values that both sides last agreed on. */
  exchange_pairs: OfStream & {
    /** The HRIS's id of the record. */
    pair_id: string;
    /** JSON: by field, the form of the value that both sides last agreed on. */
    bases: string;
    /** JSON: by field, the fields of both sides that its base belongs to. */
    identities: Generated<string>;
    /** JSON: by field, the side and form of a value sent there, until it is known whether it arrived. */
    sent: string;
    /** JSON: by field, the value written, until its side is seen to hold exactly that. */
    echoes: Generated<string>;
    /** Counts changes: a change is saved only over the version it was made from. */
    version: number;
    /** A read that began before this moment may miss one of our writes, so it does not count. */
    settles_at: number;
    /** The side that lacked its record, and the run that first noticed; a later run must find the same. */
    missing_side: Side | null;
    missing_run: string | null;
    gone_at: number | null;
    updated_at: number;
  };
  /** Writes that an exchange was about to make; kept for as long as its change limits look back. */
  exchange_tallies: OfStream & {
    written_at: number;
    /** JSON of WrittenPairs. */
    tally: string;
  };
  /** One field of a pair whose sides differed. Open as long as they differ. */
  field_conflicts: {
    conflict_id: string;
    tenant_id: string;
    stream: string;
    pair_id: string;
    field: string;
    kind: ConflictKind;
    /** Reason of a quarantine. */
    code: string | null;
    partner_form: string | null;
    hris_form: string | null;
    /** JSON; null after a purge. */
    partner_value: string | null;
    hris_value: string | null;
    /** 1: show it masked. */
    is_sensitive: number;
    /** The side whose value stays, by the rule or by a person's answer to a held conflict. */
    kept: Side | null;
    /** Always 1; an earlier version counted put-backs here. */
    times: number;
    since: number;
    closed_at: number | null;
  };
}

/**
 * running: in progress, or its workflow died. partial: finished, but skipped quarantined records. refused: stopped
 * before its end.
 */
export type StreamState = 'running' | 'done' | 'partial' | 'refused';

/** full: the whole list. incremental: hinted records, and the whole list if that is due. one: a single record. */
export type StreamMode = 'full' | 'incremental' | 'one';

/**
 * put-back, conflict: one side's value was replaced. held: a person decides. diverged: reported, not changed.
 * quarantined: one side's value cannot be expressed on the other.
 */
export type ConflictKind = 'put-back' | 'conflict' | 'held' | 'diverged' | 'quarantined';

type FieldSide = 'partner' | 'hris';

/** A stream's name, a part of a hire, or the value of a candidate's custom field, hired or not. */
type WriteTarget = 'employee' | 'enrolment' | 'external-status' | 'custom-fields' | 'candidate-value' | (string & {});

/** open: sent, outcome unknown. absent: it did not arrive. */
export type WriteOutcome = 'open' | 'done' | 'absent' | 'refused';

export type FieldConflictRow = Selectable<StreamTables['field_conflicts']>;
