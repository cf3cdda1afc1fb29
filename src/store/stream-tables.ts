import type { Generated } from 'kysely';

export interface JobTable {
  tenant_id: string;
  job_id: string;
  /** The jobs list item as received. */
  record: string;
  /** JSON of its stage totals when its people were last listed; null: never. */
  listed_totals: string | null;
  seen_at: number;
}

/**
 * running: in progress, or its workflow died. partial: finished, but skipped quarantined records. refused: stopped
 * before its end.
 */
export type StreamState = 'running' | 'done' | 'partial' | 'refused';

/** The latest run of one stream, with its cursor and counts. */
export interface StreamTable {
  tenant_id: string;
  stream: string;
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
}

/** full: the whole list. incremental: hinted records, and the whole list if that is due. one: a single record. */
export type StreamMode = 'full' | 'incremental' | 'one';

/** The state of a stream beyond its latest run. */
export interface StreamStateTable {
  tenant_id: string;
  stream: string;
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
  /** How many more records the partner's total counts than its pages show, as far as that is known to mean nothing. */
  unshown: number | null;
}

/** A complete pass over the whole list of a stream; the latest few are kept. */
export interface StreamPassTable {
  tenant_id: string;
  stream: string;
  began_at: number;
  ended_at: number;
  /** Number of records that it found. */
  listed: number;
  /** Number of rows that the HRIS held after it. */
  landed: number;
  created: number;
  updated: number;
  quarantined: number;
}

/** The ids of one page as last read, to find out at the end of a pass which records were on no page. */
export interface StreamPageTable {
  tenant_id: string;
  stream: string;
  page: number;
  /** JSON list. */
  ids: string;
  /** By a record's content, how it lands: see KnownRecords. Null if it was not stored. */
  known: string | null;
}

/** A landed record that the partner did not show. */
export interface StreamMissingTable {
  tenant_id: string;
  stream: string;
  record_id: string;
  /** The first run that missed it. */
  run_id: string;
  since: number;
  /** When it was missed a second time, or by both an event and a read. */
  believed_at: number | null;
}

export interface QuarantineTable {
  tenant_id: string;
  stream: string;
  /** The record's id, or its place (`page 3, record 17`) if no id can be read. */
  record_key: string;
  /** The page on which it was last seen. */
  page: number;
  /** Field names and codes, never a value. */
  reason: string;
  since: number;
}

/** A record of the partner that mappings use in lookups. */
export interface LookupRowTable {
  tenant_id: string;
  /** The lookup table: the name of the stream that maintains it. */
  stream: string;
  record_id: string;
  row_hash: string;
  /** JSON: column -> value. */
  fields: string;
}
