import type { Generated, Selectable } from 'kysely';
import type { Side } from '../hire/side.ts';

/** A linked pair of a partner's and an HRIS record, and the values that both sides last agreed on. */
export interface ExchangePairTable {
  tenant_id: string;
  stream: string;
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
}

/** Writes that an exchange was about to make; kept for as long as its change limits look back. */
export interface ExchangeTallyTable {
  tenant_id: string;
  stream: string;
  written_at: number;
  /** JSON of WrittenPairs. */
  tally: string;
}

/**
 * put-back, conflict: one side's value was replaced. held: a person decides. diverged: reported, not changed.
 * quarantined: one side's value cannot be expressed on the other.
 */
export type ConflictKind = 'put-back' | 'conflict' | 'held' | 'diverged' | 'quarantined';

/** One field of a pair whose sides differed. Open as long as they differ. */
export interface FieldConflictTable {
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
}

export type FieldConflictRow = Selectable<FieldConflictTable>;
