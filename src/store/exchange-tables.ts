import type { Generated, Selectable } from 'kysely';
import type { Side } from '../hire/side.ts';

/** A record of the partner and one of the HRIS that are the same, as they last agreed. */
export interface ExchangePairTable {
  tenant_id: string;
  stream: string;
  /** The HRIS's id of its record. */
  pair_id: string;
  /** JSON: field -> form of the value that both sides last agreed on. */
  bases: string;
  /** JSON: field -> which field of either side its base belongs to. */
  identities: Generated<string>;
  /** JSON: field -> side and form of the value that was sent there, while it is in doubt whether it arrived. */
  sent: string;
  /** JSON: field -> what was written there, until its side is seen to hold just that. */
  echoes: Generated<string>;
  /** Counts changes: one is written only over what it was made from. */
  version: number;
  /** A read that began before this moment may miss a write of ours, so it does not count. */
  settles_at: number;
  /** The side whose record was not there, and the run that first looked for it; a later run must find the same. */
  missing_side: Side | null;
  missing_run: string | null;
  gone_at: number | null;
  updated_at: number;
}

/** What an exchange was about to write; kept for as long as its change limits look back. */
export interface ExchangeTallyTable {
  tenant_id: string;
  stream: string;
  written_at: number;
  /** JSON of WrittenPairs. */
  tally: string;
}

/**
 * put-back, conflict: a value of a side was replaced. held: a person decides. diverged: reported and left. quarantined:
 * one side's value cannot be said on the other.
 */
export type ConflictKind = 'put-back' | 'conflict' | 'held' | 'diverged' | 'quarantined';

/** One field of a pair where the sides differed. Open while they still do. */
export interface FieldConflictTable {
  conflict_id: string;
  tenant_id: string;
  stream: string;
  pair_id: string;
  field: string;
  kind: ConflictKind;
  /** Why it is quarantined. */
  code: string | null;
  partner_form: string | null;
  hris_form: string | null;
  /** JSON; null once purged. */
  partner_value: string | null;
  hris_value: string | null;
  /** 1: shown masked. */
  is_sensitive: number;
  /** Whose value stays: by the rule, or by a person's answer about a held one. */
  kept: Side | null;
  /** Always 1; an earlier version counted put-backs here. */
  times: number;
  since: number;
  closed_at: number | null;
}

export type FieldConflictRow = Selectable<FieldConflictTable>;
