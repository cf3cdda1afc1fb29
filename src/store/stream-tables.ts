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
  /** Left out for a reason that passes by itself: a record that settles, or that one look did not find. */
  skipped: Generated<number>;
  /** Waiting for a person's answer. */
  held: Generated<number>;
  /** Where a stream of pairs goes on; null at its beginning. */
  cursor: Generated<string | null>;
  refused_code: string | null;
  refused_message: string | null;
  started_at: number;
  updated_at: number;
  ended_at: number | null;
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
