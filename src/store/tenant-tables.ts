import type { Generated } from 'kysely';

export interface InstallationTable {
  /** Made with the store; prefix of every task queue, workflow id and schedule id. */
  id: string;
  created_at: number;
  /** Counts the changes of tenants' definitions and states that running processes must take up. */
  tenants_version: number;
  /** As in `freezes`, for workers of the previous version. */
  frozen_at: number | null;
  frozen_by: string | null;
}

export interface FreezeTable {
  /** Empty for the whole fleet. */
  tenant_id: string;
  /** Since when, and by whose order, writes to partner and HR system are stopped. */
  frozen_at: number;
  frozen_by: string;
}

export interface TenantTable {
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
  /** When the last canary enrolment left. */
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
] as const;

/** Acts of people on tenants and the fleet, and what they looked at; see `audit.ts`. */
export interface AuditTable {
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
}

/** The last row of each chain. Its lock puts the acts of one tenant in order. */
export interface AuditHeadTable {
  chain: string;
  seq: number;
  hash: string;
  /** The last row whose head was noted outside the store. */
  noted: Generated<number>;
}

/** A data key of a tenant: the latest encrypts, all of them decrypt. */
export interface DataKeyTable {
  key_id: string;
  tenant_id: string;
  nth: number;
  /** Base64, encrypted with this master key. */
  wrapped: string;
  master_key: string;
  made_at: number;
  /** When all of the tenant's values were seen to be encrypted with it. */
  swept_at: number | null;
}
