import type { Generated } from 'kysely';

export interface JobTable {
  tenant_id: string;
  job_id: string;
  /** The jobs list item as it came. */
  record: string;
  /** JSON of its stage totals when its people were last listed; null: never. */
  listed_totals: string | null;
  seen_at: number;
}

/**
 * running: under way, or its workflow died. partial: ended, and skipped what stands in quarantine. refused: ended
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
  /** The next page to be read, as the partner counts. */
  page: number;
  /** Records read so far. */
  seen: number;
  /** Of all records, where the partner says. */
  total: number | null;
  unchanged: number;
  created: number;
  updated: number;
  quarantined: number;
  /** Left alone: it settles, one look did not find it, or it is gone and the policy ignores that. */
  skipped: Generated<number>;
  /** Waiting for a person: an answer, or a change limit that is to be lifted. */
  held: Generated<number>;
  /** Where a stream of pairs goes on; null at its beginning. */
  cursor: Generated<string | null>;
  refused_code: string | null;
  refused_message: string | null;
  started_at: number;
  updated_at: number;
  ended_at: number | null;
  /** What the run reads; null where an earlier version began it, which read everything. */
  mode: StreamMode | null;
  /** Which part of the list it is at, where the list comes in parts. */
  segment: Generated<number>;
  /** Records read before that part. */
  seen_before: Generated<number>;
  /** JSON of Tally: how many rows had each field filled before and have it now. */
  tally: string | null;
}

/** full: the whole list. incremental: what hints name, and the whole list where that is due. one: a single record. */
export type StreamMode = 'full' | 'incremental' | 'one';

/** What a stream is beyond its latest run. */
export interface StreamStateTable {
  tenant_id: string;
  stream: string;
  paused_by: string | null;
  paused_at: number | null;
  /** The change limit that stopped it; nothing runs until a person resumes it. */
  held_code: string | null;
  held_message: string | null;
  held_at: number | null;
  /** The change limit that a person lifted for the next whole pass. */
  allowed_code: string | null;
  allowed_by: string | null;
  /** When the latest complete pass over the whole list began. */
  whole_at: number | null;
  /** Records that it found. */
  listed: number | null;
  /** Rows that the HRIS held after it. */
  landed: number | null;
  /** Of the mapping that it used. */
  mapping_hash: string | null;
}

/** A complete pass over the whole list of a stream; the latest few are kept. */
export interface StreamPassTable {
  tenant_id: string;
  stream: string;
  began_at: number;
  ended_at: number;
  /** Records that it found. */
  listed: number;
  /** Rows that the HRIS held after it. */
  landed: number;
  created: number;
  updated: number;
  quarantined: number;
}

/** The ids of one page as it was read last, to tell at the end of a pass who was on none. */
export interface StreamPageTable {
  tenant_id: string;
  stream: string;
  page: number;
  /** JSON list. */
  ids: string;
  /** How its records land, by what they came as: see KnownRecords. Null where nobody kept it. */
  known: string | null;
}

/** A landed record that the partner did not show. */
export interface StreamMissingTable {
  tenant_id: string;
  stream: string;
  record_id: string;
  /** The run that missed it first. */
  run_id: string;
  since: number;
  /** When it was missed a second time, or by an event and a read. */
  believed_at: number | null;
}

export interface QuarantineTable {
  tenant_id: string;
  stream: string;
  /** The record's id, or its place (`page 3, record 17`) where no id can be read. */
  record_key: string;
  /** Where it was seen last. */
  page: number;
  /** Field names and codes, never a value. */
  reason: string;
  since: number;
}

/** A record of the partner that mappings look values up in. */
export interface LookupRowTable {
  tenant_id: string;
  /** Which table: the name of the stream that keeps it. */
  stream: string;
  record_id: string;
  row_hash: string;
  /** JSON: column -> value. */
  fields: string;
}
