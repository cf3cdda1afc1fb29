import { type Kysely, sql } from 'kysely';

/** Every table of the first release. Never edited once released; a change is a new migration. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table installation (id text primary key, created_at bigint not null, tenants_version bigint not null,
    frozen_at bigint, frozen_by text)`.execute(db);
  await sql`create table tenants (tenant_id text primary key, state text not null, paused_code text,
    paused_message text, paused_at bigint, paused_key text, verified_key text, company_confirmed_at bigint,
    company_confirmed_by text, company_confirmed_key text, baseline_started_at bigint, baseline_done_at bigint,
    reconciled_at bigint, fully_reconciled_at bigint, credit_gate text, canary_at bigint, stage_filter text,
    stage_filter_at bigint, version bigint, file text, files text, receives text, applied_at bigint, applied_by text,
    frozen_at bigint, frozen_by text, removed_at bigint, ended_at bigint)`.execute(db);
  await sql`create index tenants_version on tenants (version)`.execute(db);
  await sql`create table audit (at bigint not null, by text not null, tenant_id text, act text not null,
    details text)`.execute(db);
  await sql`create index audit_tenant on audit (tenant_id, at)`.execute(db);
  await sql`create table inbox (tenant_id text not null, body_hash text not null, event text not null,
    ids text not null, body text not null, state text not null, received_at bigint not null, failures integer not null,
    due_at bigint not null, last_error text, done_at bigint,
    constraint inbox_key primary key (tenant_id, body_hash))`.execute(db);
  await sql`create index inbox_bodies on inbox (received_at) where body <> ''`.execute(db);
  await sql`create index inbox_due on inbox (tenant_id, state, due_at)`.execute(db);
  await sql`create table webhook_refusals (tenant_id text not null, reason text not null, count bigint not null,
    last_at bigint not null, constraint webhook_refusals_key primary key (tenant_id, reason))`.execute(db);
  await sql`create table hints (tenant_id text not null, stream text not null, record_id text not null,
    hinted_at bigint not null, constraint hints_key primary key (tenant_id, stream, record_id))`.execute(db);
  await sql`create table hires (tenant_id text not null, job_candidate_id text not null, period integer not null,
    candidate_id text, job_id text, state text not null, step text not null, onboarding_candidate_id text,
    onboarding_reference text, enrolment integer not null, onboarding_status text, onboarding_read_at bigint,
    employee_id text, employee_number text, opened_at bigint not null, updated_at bigint not null, ended_at bigint,
    constraint hires_key primary key (tenant_id, job_candidate_id, period))`.execute(db);
  await sql`create index hires_by_candidate on hires (tenant_id, candidate_id)`.execute(db);
  await sql`create index hires_by_job on hires (tenant_id, job_id, state)`.execute(db);
  await sql`create index hires_by_state on hires (tenant_id, state)`.execute(db);
  await sql`create index hires_by_enrolment on hires (tenant_id, onboarding_candidate_id)`.execute(db);
  await sql`create table intents (tenant_id text not null, verb text not null, job_candidate_id text not null,
    period integer not null, attempt integer not null, pinned text not null, sent_at bigint not null,
    give_up_at bigint not null, outcome text not null, result text, decided_at bigint,
    constraint intents_key primary key (tenant_id, verb, job_candidate_id, period, attempt))`.execute(db);
  await sql`create index intents_by_hire on intents (tenant_id, job_candidate_id, period)`.execute(db);
  await sql`create index intents_kept on intents (tenant_id) where pinned <> '{}'`.execute(db);
  await sql`create table claims (connection text not null, partner_company text not null, candidate_id text not null,
    tenant_id text not null, job_candidate_id text not null, period integer not null, claimed_at bigint not null,
    constraint claims_key primary key (connection, partner_company, candidate_id))`.execute(db);
  await sql`create table links (connection text not null, employee_id text not null, employee_number text,
    partner_company text not null, candidate_id text not null, tenant_id text not null, job_candidate_id text not null,
    period integer not null, linked_at bigint not null,
    constraint links_key primary key (connection, employee_id))`.execute(db);
  await sql`create index links_by_person on links (connection, partner_company, candidate_id)`.execute(db);
  await sql`create table plans (plan_id text primary key, tenant_id text not null, job_candidate_id text not null,
    period integer not null, mapping_hash text not null, change text not null, planned_at bigint not null,
    applied_at bigint)`.execute(db);
  await sql`create index plans_by_hire on plans (tenant_id, job_candidate_id, period)`.execute(db);
  await sql`create index plans_kept on plans (tenant_id) where change <> '{}'`.execute(db);
  await sql`create table holds (hold_id text primary key, tenant_id text not null, job_candidate_id text,
    period integer, code text not null, message text not null, answers text not null, details text not null,
    opened_at bigint not null, answer text, answer_arguments text, answered_at bigint, answered_by text,
    closed_at bigint, notified_at bigint)`.execute(db);
  await sql`create index holds_of_hire on holds (tenant_id, job_candidate_id, period)`.execute(db);
  await sql`create index holds_open on holds (tenant_id, closed_at)`.execute(db);
  await sql`create index holds_to_notify on holds (tenant_id, opened_at)
    where notified_at is null and closed_at is null`.execute(db);
  await sql`create unique index holds_once_open on holds
    (tenant_id, coalesce(job_candidate_id, ''), coalesce(period, 0), code) where closed_at is null`.execute(db);
  await sql`create table alarms (tenant_id text not null, kind text not null, subject text not null,
    reason text not null, message text not null, since bigint not null, last_seen_at bigint not null,
    times integer not null, raised_at bigint,
    constraint alarms_key primary key (tenant_id, kind, subject))`.execute(db);
  await sql`create table jobs (tenant_id text not null, job_id text not null, record text not null, listed_totals text,
    seen_at bigint not null, constraint jobs_key primary key (tenant_id, job_id))`.execute(db);
  await sql`create table streams (tenant_id text not null, stream text not null, run_id text not null,
    state text not null, is_full integer not null, page integer not null, seen integer not null, total integer,
    unchanged integer not null, created integer not null, updated integer not null, quarantined integer not null,
    refused_code text, refused_message text, started_at bigint not null, updated_at bigint not null, ended_at bigint,
    constraint streams_key primary key (tenant_id, stream))`.execute(db);
  await sql`create table quarantine (tenant_id text not null, stream text not null, record_key text not null,
    page integer not null, reason text not null, since bigint not null,
    constraint quarantine_key primary key (tenant_id, stream, record_key))`.execute(db);
  await sql`create table rate_limits (tenant_id text not null, upstream text not null, version bigint not null,
    state text not null, paused_until bigint,
    constraint rate_limits_key primary key (tenant_id, upstream))`.execute(db);
  await sql`create table evidence (tenant_id text not null, assumption text not null, verdict text not null,
    first_seen_at bigint not null, constraint evidence_key primary key (tenant_id, assumption, verdict))`.execute(db);
}
