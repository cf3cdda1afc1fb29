import type { Generated, Selectable } from 'kysely';
import type { HireState, HireStep } from '../hire/hire.ts';
import type { EmployedHow } from '../person/person.ts';
import type { OfHire, PushTables } from './push-tables.ts';
import type { StreamTables } from './stream-tables.ts';
import type { TenantTables } from './tenant-tables.ts';

/**
 * Times are milliseconds since 1970 by the database's clock. Ids of partner and HRIS are text. JSON columns are text.
 */
export interface Tables extends PushTables, StreamTables, TenantTables {
  processes: {
    process_id: string;
    role: 'worker' | 'receiver';
    version: string;
    host: string;
    started_at: number;
    seen_at: number;
    /** When it said that it ends; null if it runs or was killed. */
    ended_at: number | null;
    trouble: string | null;
  };
  leases: {
    name: string;
    holder: string;
    leased_until: number;
  };
  events_out: {
    /** The order of the events. */
    event_no: Generated<number>;
    /** The same however often the event is sent. */
    event_id: Generated<string>;
    tenant_id: string;
    /** Empty if the event belongs to no hire. */
    job_candidate_id: Generated<string>;
    period: number | null;
    type: string;
    /** JSON: ids and codes. */
    facts: string;
    at: Generated<number>;
    tries: Generated<number>;
    /** When it may be sent again. */
    due_at: Generated<number>;
    /** When its receiver accepted it. */
    taken_at: number | null;
    /** An HTTP status or a code. */
    last_error: string | null;
  };
  answers: {
    tenant_id: string;
    side: 'partner' | 'hris';
    answered_at: number;
  };
  inbox: {
    tenant_id: string;
    /** SHA-256 of the raw body, since the sender gives no delivery id. */
    body_hash: string;
    event: string;
    /** JSON: the ids that the event carries, by kind. */
    ids: string;
    body: string;
    state: InboxState;
    received_at: number;
    /** Outages do not count as failures. */
    failures: number;
    /** When a relay may take it; for a leased delivery, when the lease ends. */
    due_at: number;
    last_error: string | null;
    done_at: number | null;
  };
  /** Refused deliveries: one row for each tenant and reason. */
  webhook_refusals: {
    tenant_id: string;
    reason: string;
    count: number;
    last_at: number;
  };
  hints: {
    tenant_id: string;
    stream: string;
    record_id: string;
    hinted_at: number;
    /** 1: an event says that the record is gone. */
    gone: Generated<number>;
  };
  hires: OfHire & {
    candidate_id: string | null;
    job_id: string | null;
    state: HireState;
    step: HireStep;
    onboarding_candidate_id: string | null;
    onboarding_reference: string | null;
    /** Second and later enrolments of one period. */
    enrolment: number;
    onboarding_status: string | null;
    /** When this status was first read. */
    onboarding_read_at: number | null;
    employee_id: string | null;
    employee_number: string | null;
    /** The connection of the employee's HR system; null if an earlier version recorded it. */
    connection: string | null;
    opened_at: number;
    updated_at: number;
    ended_at: number | null;
    /** JSON of Observed: what a tenant in observe mode would have done; null for every other hire. */
    observed: string | null;
    /** Why the hire was only recorded although the tenant was live: its job or application is another tenant's. */
    passed_over: string | null;
  };
  /** Maintained by the database's triggers only. */
  hire_counts: {
    tenant_id: string;
    state: HireState;
    count: number;
  };
  intents: OfHire & {
    verb: string;
    attempt: number;
    /** What the request fixes (flow, reference): JSON, ids only. */
    pinned: string;
    sent_at: number;
    give_up_at: number;
    outcome: 'open' | 'done' | 'absent' | 'refused';
    /** JSON: the foreign ids that the call made, or the refusal's code. */
    result: string | null;
    decided_at: number | null;
  };
  /** A person in one HR system: see `Person`. Their keys are in `person_keys`. */
  persons: {
    person_id: string;
    connection: string;
    version: number;
    /** The hire that owns them; null if none does. */
    tenant_id: string | null;
    job_candidate_id: string | null;
    period: number | null;
    /** 1: the owner's tenant was removed while its create was unsettled. */
    is_abandoned: number;
    /** JSON of Recorded. */
    recorded: string | null;
  };
  /**
   * A key of a person in one HR system; `company` keys hold in all HR systems of a company of the partner, for the one
   * person whom its tenants may hire. A key belongs to one person.
   */
  person_keys: {
    /** The connection of the HR system, or the partner's server and environment. */
    scope: string;
    kind: 'candidate' | 'company' | 'employee' | 'creating';
    /**
     * `<company>:<candidate>`, the employee's id, or a hash of what identifies a person whose employee is being made.
     */
    value: string;
    person_id: string;
    /** The candidate; for an employee, their current candidate at the partner. */
    company: string | null;
    candidate_id: string | null;
    /** The hire that has the employee, or is making it. */
    tenant_id: string | null;
    job_candidate_id: string | null;
    period: number | null;
    employee_number: string | null;
    how: EmployedHow | null;
    /** The attempt that is making it. */
    holder: string | null;
    /** Since when they are linked, or until when no other employee is made under this key. */
    at: number | null;
  };
  plans: OfHire & {
    plan_id: string;
    /** Hash of the mapping's meaning. */
    mapping_hash: string;
    /** JSON of the change; holds personal data, so it stays here. */
    change: string;
    planned_at: number;
    applied_at: number | null;
  };
  holds: {
    hold_id: string;
    tenant_id: string;
    /** Null for a hold of the whole tenant. */
    job_candidate_id: string | null;
    period: number | null;
    code: string;
    message: string;
    /** JSON list of the accepted answers. */
    answers: string;
    /** JSON: ids and field names only. */
    details: string;
    opened_at: number;
    answer: string | null;
    answer_arguments: string | null;
    answered_at: number | null;
    /** The person who answered. */
    answered_by: string | null;
    closed_at: number | null;
    notified_at: number | null;
    /** JSON list of earlier answers (`EarlierAnswer`): retries after which the cause persisted. */
    history: Generated<string>;
    /** The HR system that the question was asked about, if the tenant has another one since. */
    former_hris: Generated<string | null>;
  };
  alarms: {
    tenant_id: string;
    kind: AlarmKind;
    /** Ids, names of activities and fields, or codes; no personal data. */
    subject: string;
    /** The latest code, and its message. */
    reason: string;
    message: string;
    since: number;
    last_seen_at: number;
    times: number;
    /** Null while the trouble is too young to be an alarm. */
    raised_at: number | null;
    /** When the tenant's `notify` address was notified, and of which reason. */
    notified_at: number | null;
    notified_reason: Generated<string | null>;
  };
  /** The learned request budget of one (tenant, upstream), shared by every process. */
  rate_limits: {
    tenant_id: string;
    upstream: string;
    /** Counts changes: a change is saved only over the version it was made from. */
    version: number;
    /** The limiter's saved state, JSON; times are by the database's clock. */
    state: string;
    /** No process may call before this moment: the upstream asked for a pause. */
    paused_until: number | null;
  };
  /** Verdicts on an assumption from a tenant's answers: at most one row for `confirmed` and one for `contradicted`. */
  evidence: {
    tenant_id: string;
    assumption: string;
    verdict: 'confirmed' | 'contradicted';
    first_seen_at: number;
  };
  unique_names: OfHire & {
    connection: string;
    /** The HR system's own field; tenants may use another name for it. */
    place: string;
    name_key: string;
    field: string;
    name: string;
  };
  /**
   * A finished hire in a further destination. waiting: no request is under way. sending: a run claimed it, and a
   * request may be under way. held: a person must answer, or the next day tries again. done: the account was seen.
   */
  hire_steps: OfHire & {
    /** The name of its connection. */
    destination: string;
    /** The person's reference, as the account carries it. */
    reference: string;
    state: 'waiting' | 'sending' | 'held' | 'done';
    /** The run that claimed it last. */
    run_id: string | null;
    /** JSON: what to do, on which evidence and by which mapping; no values. */
    plan: string | null;
    account_id: string | null;
    code: string | null;
    reason: string | null;
    hold_id: string | null;
    updated_at: number;
    done_at: number | null;
  };
  refusals: OfHire & {
    /** Of the hold that will show the message. */
    code: string;
    message: string;
    refused_at: number;
  };
}

/** A row as it is read. */
export type Row<Table extends keyof Tables> = Selectable<Tables[Table]>;

/**
 * activity-failing: an activity of a hire or tenant keeps failing. unknown-value: a value that the specification does
 * not have. field-changed: a field that a mapping uses has changed. mapping-misfit: a mapping does not fit the fields
 * of the HRIS. hires-unfollowed: open hires had no workflow. erasure-failing: tried again each minute. The others are
 * derived from the store; see derivedAlarms.
 */
export type AlarmKind =
  | 'activity-failing'
  | 'unknown-value'
  | 'field-changed'
  | 'mapping-misfit'
  | 'hires-unfollowed'
  | 'erasure-failing'
  | DerivedAlarm;

/** Raised and ended by comparing the actual state of the tables with the expected one. */
export const derivedAlarms = [
  'tenant-paused',
  'reconcile-stale',
  'stream-stale',
  'unknown-event',
  'undeliverable',
  'many-departures',
  'retention-late',
  'events-waiting',
  'people-to-decide',
  'webhooks-refused',
  'notices-waiting',
] as const;
type DerivedAlarm = (typeof derivedAlarms)[number];

/**
 * waiting: to be relayed. relayed: Temporal or `hints` has it. ignored: nothing acts upon it yet. unknown: unknown
 * event name. other-company: names another company. undeliverable: failed ten times.
 */
export type InboxState = 'waiting' | 'relayed' | 'ignored' | LeftState;

/** Nothing acts upon these although something should: a person decides. */
export const leftStates = ['undeliverable', 'other-company', 'unknown'] as const;
export type LeftState = (typeof leftStates)[number];

export type EventOutRow = Selectable<Tables['events_out']>;
export type HireRow = Selectable<Tables['hires']>;
export type HoldRow = Selectable<Tables['holds']>;
export type AlarmRow = Selectable<Tables['alarms']>;
export type IntentRow = Selectable<Tables['intents']>;
export type TenantRow = Selectable<TenantTables['tenants']>;
export type AuditRow = Selectable<TenantTables['audit']>;
export type StreamRow = Selectable<StreamTables['streams']>;
export type QuarantineRow = Selectable<StreamTables['quarantine']>;
export type ForeignWriteRow = Selectable<StreamTables['foreign_writes']>;
