import type { Selectable } from 'kysely';

/** A person of a tenant as keyed hashes of their ids. erased: no data of this person is stored again. */
export interface PersonMarkTable {
  tenant_id: string;
  mark: PersonMark;
  digest: string;
  at: number;
  by: string;
  /** The erasure; or, for a legal hold, why nothing may be erased. */
  about: string;
}

export type PersonMark = 'erased' | 'legal-hold';

/** Keys that ids are hashed with. A store has one, and a second if a backup older than its first key was restored. */
export interface PersonMarkKeyTable {
  mark_key: string;
  made_at: number;
}

export interface ErasureTable {
  erasure_id: string;
  tenant_id: string;
  /** JSON of PersonIds; emptied when the erasure is done. */
  subject: string;
  /** What the erasure does to the employee in the HR system. */
  employee: 'keep' | 'terminate';
  reason: string;
  by: string;
  asked_at: number;
  /** Until this moment, work that was running at the request may still write. */
  quiet_at: number;
  /** JSON: by place, the most rows found there. */
  found: string;
  done_at: number | null;
  /** JSON of the signed receipt. */
  receipt: string | null;
}

export type ErasureRow = Selectable<ErasureTable>;

/**
 * Events that a tenant's privacy policy acts upon. gone: the partner deleted the person. withdrawn, expired: their
 * consent is over; none of their data lands while the case exists.
 */
export type CaseCause = 'gone' | 'withdrawn' | 'expired';

export interface PrivacyCaseTable {
  tenant_id: string;
  candidate_id: string;
  cause: CaseCause;
  /**
   * due: confirmed at `due_at`, and then the policy is carried out. asked: a person decides. allowed: a person decided
   * to erase them. kept: a person decided to keep them.
   */
  state: 'due' | 'asked' | 'allowed' | 'kept';
  /** Code of what it waits for. */
  why: string | null;
  since: number;
  due_at: number;
  decided_by: string | null;
}

export type PrivacyCaseRow = Selectable<PrivacyCaseTable>;

/** The consent of an application as last read. */
export interface ConsentTable {
  tenant_id: string;
  job_candidate_id: string;
  candidate_id: string;
  /** withdrawn: it was shown before, and the partner now says there is none. expired: its last day is over. */
  state: 'given' | 'withdrawn' | 'expired';
  /** JSON of the parts of its document that the partner showed. */
  shown: string;
}

export type ConsentRow = Selectable<ConsentTable>;
