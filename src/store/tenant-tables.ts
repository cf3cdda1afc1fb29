import type { Generated } from 'kysely';

export interface InstallationTable {
  /** Born with the store; begins every task queue, workflow id and schedule id. */
  id: string;
  created_at: number;
  /** Counts every change of a tenant's definition or state that running processes must take up. */
  tenants_version: number;
  /** As in `freezes`, for workers of the version before. */
  frozen_at: number | null;
  frozen_by: string | null;
}

export interface FreezeTable {
  /** Empty for the whole fleet. */
  tenant_id: string;
  /** Foreign writes stand still since then, by this person's word. */
  frozen_at: number;
  frozen_by: string;
}

export interface TenantTable {
  tenant_id: string;
  state: 'active' | 'paused' | 'removed';
  paused_code: string | null;
  paused_message: string | null;
  paused_at: number | null;
  /** Fingerprint of the key it is paused for, where it is a key's fault. */
  paused_key: string | null;
  /** Fingerprint of the partner key that last passed the known-good read. */
  verified_key: string | null;
  /** When a person last said that the key is the right company's, and who. */
  company_confirmed_at: number | null;
  company_confirmed_by: string | null;
  /** Fingerprint of the key that this was said of. */
  company_confirmed_key: string | null;
  baseline_started_at: number | null;
  baseline_done_at: number | null;
  reconciled_at: number | null;
  fully_reconciled_at: number | null;
  /** Closed by 402: { required, available }. */
  credit_gate: string | null;
  /** When the last canary enrolment left. */
  canary_at: number | null;
  /** What a probe showed of the partner's stage filter, JSON, and when. */
  stage_filter: string | null;
  stage_filter_at: number | null;
  /** The installation's counter at its last change; null for a tenant that was never applied. */
  version: number | null;
  /** Absolute path of its file where it was applied; what relative paths in it are meant from. */
  file: string | null;
  /** JSON: the tenant file and its mapping files, path -> text. References to secrets, never secrets. */
  files: string | null;
  /** JSON: what the receiver needs of them, so that it parses no file; see Receives. */
  receives: string | null;
  applied_at: number | null;
  applied_by: string | null;
  /** As in `freezes`, for workers of the version before. */
  frozen_at: number | null;
  frozen_by: string | null;
  removed_at: number | null;
  /** A worker tells its `notify` address until then; no other does at the same time. */
  notify_until: number | null;
  /** The day of its last digest, YYYY-MM-DD in its own time zone. */
  digested_on: string | null;
  /** When a worker had ended the schedules and workflows of the removed tenant. */
  ended_at: number | null;
}

/** Everything that a person can do or look at, and the audit trail tells. */
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

/** What people did to tenants and to the fleet, and what they looked at; see `audit.ts`. */
export interface AuditTable {
  at: number;
  /** Whose word it was, as it is shown: a name, and on whose behalf. */
  by: string;
  /** Null for the whole fleet. */
  tenant_id: string | null;
  act: (typeof auditActs)[number];
  /** What changed, one line each; settings and references, no secrets. Erasing a person takes their ids out. */
  details: string | null;
  /** The tenant's id, or empty for the fleet. This and what follows is null until the row is sealed. */
  chain: Generated<string | null>;
  /** Its number in the chain, from 1. */
  seq: Generated<number | null>;
  /** Who did it, as the system or a sign-in told: never what somebody typed. */
  actor: Generated<string | null>;
  /** Kind and keyed hash of the one record that it was about. */
  subject: Generated<string | null>;
  /** Hashed before `details`; null once some of them were erased. */
  salt: Generated<string | null>;
  details_hash: Generated<string | null>;
  /** at-once: with the act. later: written by a version that knew no chain, and sealed as it was found. */
  sealed: Generated<'at-once' | 'later' | null>;
  /** Hash of the row before; empty for the first. */
  prev: Generated<string | null>;
  hash: Generated<string | null>;
}

/** The last row of each chain. Its lock is what orders the acts of one tenant. */
export interface AuditHeadTable {
  chain: string;
  seq: number;
  hash: string;
  /** Up to here the head was noted outside the store. */
  noted: Generated<number>;
}

/** One data key of a tenant: the latest encrypts, all decrypt. */
export interface DataKeyTable {
  key_id: string;
  tenant_id: string;
  nth: number;
  /** Base64, encrypted by the master key of this id. */
  wrapped: string;
  master_key: string;
  made_at: number;
  /** Every value of the tenant was seen to be encrypted with it. */
  swept_at: number | null;
}
