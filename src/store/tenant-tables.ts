import type { Generated, Selectable } from 'kysely';

/** The tables of an installation, its tenants and the people they know. */
export interface TenantTables {
  installation: {
    /** Made with the store; prefix of every task queue, workflow id and schedule id. */
    id: string;
    created_at: number;
    /** Counts the changes of tenants' definitions and states that running processes must take up. */
    tenants_version: number;
    /** As in `freezes`, for workers of the previous version. */
    frozen_at: number | null;
    frozen_by: string | null;
  };
  /** A data key of a tenant: the latest encrypts, all of them decrypt. */
  data_keys: {
    key_id: string;
    tenant_id: string;
    nth: number;
    /** Base64, encrypted with this master key. */
    wrapped: string;
    master_key: string;
    made_at: number;
    /** When all of the tenant's values were seen to be encrypted with it. */
    swept_at: number | null;
  };
  tenants: {
    tenant_id: string;
    state: 'active' | 'paused' | 'removed';
    paused_code: string | null;
    paused_message: string | null;
    paused_at: number | null;
    /** Fingerprint of the key that caused the pause, if a key did. */
    paused_key: string | null;
    /** Fingerprint of the partner key that last passed the known-good read. */
    verified_key: string | null;
    /** When a person last confirmed that the key belongs to the right company, and who. */
    company_confirmed_at: number | null;
    company_confirmed_by: string | null;
    /** Fingerprint of the key that they confirmed. */
    company_confirmed_key: string | null;
    baseline_started_at: number | null;
    baseline_done_at: number | null;
    reconciled_at: number | null;
    fully_reconciled_at: number | null;
    /** Set while a 402 keeps the gate closed: { required, available }. */
    credit_gate: string | null;
    /** When the last canary enrolment left, or when the gate closed or opened if that was later. */
    canary_at: number | null;
    /** The result of probing the partner's stage filter, JSON, and when. */
    stage_filter: string | null;
    stage_filter_at: number | null;
    /** The installation's counter at its last change; null if the tenant was never applied. */
    version: number | null;
    /** Absolute path of its file when it was applied; relative paths in it start there. */
    file: string | null;
    /** JSON: the tenant file and its mapping files, path -> text. They refer to secrets but contain none. */
    files: string | null;
    /** JSON: what the receiver needs from the files, so that it need not parse them; see Receives. */
    receives: string | null;
    applied_at: number | null;
    applied_by: string | null;
    /** As in `freezes`, for workers of the previous version. */
    frozen_at: number | null;
    frozen_by: string | null;
    removed_at: number | null;
    /** Until then one worker notifies the `notify` address; no other does so at the same time. */
    notify_until: number | null;
    /** The day of its last digest, YYYY-MM-DD in its time zone. */
    digested_on: string | null;
    /** When a worker ended the schedules and workflows of the removed tenant. */
    ended_at: number | null;
  };
  freezes: {
    /** Empty for the whole fleet. */
    tenant_id: string;
    /** Since when, and by whose order, writes to partner and HR system are stopped. */
    frozen_at: number;
    frozen_by: string;
  };
  /** Acts of people on tenants and the fleet, and what they looked at; see `audit.ts`. */
  audit: {
    at: number;
    /** The name given for the act, as it is displayed, and on whose behalf. */
    by: string;
    /** Null for the whole fleet. */
    tenant_id: string | null;
    act: (typeof auditActs)[number];
    /** Changes, one line each; settings and references, no secrets. The erasure of a person removes their ids. */
    details: string | null;
    /** The tenant's id, or empty for the fleet. This and the following columns are null until the row is sealed. */
    chain: Generated<string | null>;
    /** Its number in the chain, from 1. */
    seq: Generated<number | null>;
    /** The actor as the system or a sign-in reported it, never as typed by somebody. */
    actor: Generated<string | null>;
    /** Kind and keyed hash of the one record that the act was about. */
    subject: Generated<string | null>;
    /** Hashed together with `details`; null once some of them were erased. */
    salt: Generated<string | null>;
    details_hash: Generated<string | null>;
    /** at-once: with the act. later: written by a version without chains, and sealed as found. */
    sealed: Generated<'at-once' | 'later' | null>;
    /** Hash of the previous row; empty for the first. */
    prev: Generated<string | null>;
    hash: Generated<string | null>;
  };
  /** The last row of each chain. Its lock puts the acts of one tenant in order. */
  audit_heads: {
    chain: string;
    seq: number;
    hash: string;
    /** The last row whose head was noted outside the store. */
    noted: Generated<number>;
  };
  /** A person of a tenant as keyed hashes of their ids. erased: no data of this person is stored again. */
  person_marks: {
    tenant_id: string;
    mark: 'erased' | 'legal-hold';
    digest: string;
    at: number;
    by: string;
    /** The erasure; or, for a legal hold, why nothing may be erased. */
    about: string;
  };
  /** Keys that ids are hashed with. A store has one, and a second if a backup older than its first key was restored. */
  person_mark_keys: {
    mark_key: string;
    made_at: number;
  };
  erasures: {
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
  };
  privacy_cases: {
    tenant_id: string;
    candidate_id: string;
    /**
     * Events that a tenant's privacy policy acts upon. gone: the partner deleted the person. withdrawn, expired: their
     * consent is over; none of their data lands while the case exists.
     */
    cause: 'gone' | 'withdrawn' | 'expired';
    /**
     * due: confirmed at `due_at`, and then the policy is carried out. asked: a person decides. allowed: a person
     * decided to erase them. kept: a person decided to keep them.
     */
    state: 'due' | 'asked' | 'allowed' | 'kept';
    /** Code of what it waits for. */
    why: string | null;
    since: number;
    due_at: number;
    decided_by: string | null;
  };
  /** The consent of an application as last read. */
  consents: {
    tenant_id: string;
    job_candidate_id: string;
    candidate_id: string;
    /** withdrawn: it was shown before, and the partner now says there is none. expired: its last day is over. */
    state: 'given' | 'withdrawn' | 'expired';
    /** JSON of the parts of its document that the partner showed. */
    shown: string;
  };
  /** The current or interrupted reconcile of a tenant; deleted once it is over. */
  reconciles: {
    tenant_id: string;
    kind: ReconcileKind;
    /** JSON: what to read. */
    plan: string;
    /** JSON: the next page or record to read. */
    position: string;
    /** JSON: what was seen and done so far. */
    counts: string;
    /** Random id of the attempt that works on it; an attempt that was replaced can save nothing more. */
    holder: string;
    started_at: number;
    updated_at: number;
  };
  /** People seen by the current reconcile; emptied once it is over. */
  seen_people: {
    tenant_id: string;
    job_candidate_id: string;
    candidate_id: string | null;
    job_id: string | null;
    seen: Seen;
    /** The stage whose list showed the person last; null for a trace, and for rows of versions before 0204. */
    stage: string | null;
    /** JSON of the latest enrolment with our reference. */
    trace: string | null;
  };
}

/** Every act or look of a person that the audit trail records. */
export const auditActs = [
  'applied',
  'paused',
  'resumed',
  'removed',
  'frozen',
  'thawed',
  'stream-paused',
  'stream-resumed',
  'revealed',
  'looked',
  'went-live',
  'linked',
  'acknowledged',
  'company-confirmed',
  'hold-answered',
  'hire-started',
  'rolled-out',
  'records-retried',
  'deliveries-retried',
  'deliveries-replayed',
  'events-replayed',
  'reconcile-asked',
  'sync-asked',
  'plan-applied',
  'restored',
  'erasure-asked',
  'erased',
  'legal-hold-put',
  'legal-hold-released',
  'erasure-allowed',
  'person-kept',
  'person-found',
  'person-exported',
  'calendar-made',
  'calendar-revoked',
  'redacted',
  'key-rotated',
  'signed-in',
] as const;

/** baseline: people hired before go-live. full: everything, once a day. changed: changes since the last time. */
export type ReconcileKind = 'baseline' | 'full' | 'restored' | 'changed';

/**
 * hired, rejected: in a hiring stage. unreadable: in a hiring stage, but the record cannot be read. traced: not seen in
 * one, but an enrolment carries our reference to the person.
 */
export type Seen = 'hired' | 'rejected' | 'unreadable' | 'traced';

export type ErasureRow = Selectable<TenantTables['erasures']>;
export type PrivacyCaseRow = Selectable<TenantTables['privacy_cases']>;
export type ConsentRow = Selectable<TenantTables['consents']>;
