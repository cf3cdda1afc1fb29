import type { Selectable } from 'kysely';

/** A person of a tenant by keyed hashes of their ids. erased: nothing of them is taken in again. */
export interface PersonMarkTable {
  tenant_id: string;
  mark: PersonMark;
  digest: string;
  at: number;
  by: string;
  /** The erasure; or why nothing may be erased. */
  about: string;
}

export type PersonMark = 'erased' | 'legal-hold';

/** What the ids are hashed with. One; a second where a backup of before the first was restored. */
export interface PersonMarkKeyTable {
  mark_key: string;
  made_at: number;
}

export interface ErasureTable {
  erasure_id: string;
  tenant_id: string;
  /** JSON of PersonIds; empty once it is done. */
  subject: string;
  /** What becomes of the employee in the HR system. */
  employee: 'keep' | 'terminate';
  reason: string;
  by: string;
  asked_at: number;
  /** Until then, work that was under way when it was asked for may still write. */
  quiet_at: number;
  /** JSON: place -> how many rows were found there at most. */
  found: string;
  done_at: number | null;
  /** JSON of the signed receipt. */
  receipt: string | null;
}

export type ErasureRow = Selectable<ErasureTable>;

/**
 * What happened to somebody that the tenant's privacy policy speaks of. gone: the partner deleted them. withdrawn,
 * expired: their consent is over; nothing of theirs lands while there is such a case.
 */
export type CaseCause = 'gone' | 'withdrawn' | 'expired';

export interface PrivacyCaseTable {
  tenant_id: string;
  candidate_id: string;
  cause: CaseCause;
  /**
   * due: it is confirmed at `due_at`, and then what the policy says is done. asked: a person decides. allowed: a person
   * did, and they are erased. kept: a person did, and they stay.
   */
  state: 'due' | 'asked' | 'allowed' | 'kept';
  /** Why it waits, a code. */
  why: string | null;
  since: number;
  due_at: number;
  decided_by: string | null;
}

export type PrivacyCaseRow = Selectable<PrivacyCaseTable>;

/** What was last read of an application's consent. */
export interface ConsentTable {
  tenant_id: string;
  job_candidate_id: string;
  candidate_id: string;
  /** withdrawn: it was shown, and the partner says that there is none any more. expired: it is past its day. */
  state: 'given' | 'withdrawn' | 'expired';
  /** JSON of what the partner showed of its document. */
  shown: string;
}

export type ConsentRow = Selectable<ConsentTable>;
