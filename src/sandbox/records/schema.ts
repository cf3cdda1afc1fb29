/** Section 2.8: booking schedules with their locations and questions, links and bookings. */
const BOOKING = `
create table if not exists booking_schedules (
  id text primary key, company_id integer not null, seq integer not null, profile text not null, mode text not null,
  deleted integer not null default 0,
  created_at integer not null, body text not null, availability text not null, locations text not null default '[]',
  questions text not null default '[]'
) strict;
create index if not exists booking_schedules_of_company on booking_schedules (company_id, seq);
create table if not exists booking_links (
  id text primary key, company_id integer not null, schedule_id text not null, token text not null,
  status text not null, entity_type text not null,
  entity_id text not null, person text not null, expires_at integer, created_at integer not null
) strict;
create index if not exists booking_links_of_entity on booking_links (schedule_id, entity_type, entity_id);
create table if not exists bookings (
  id text primary key, company_id integer not null, seq integer not null, schedule_id text not null, link_id text,
  entity_type text not null,
  entity_id text not null, start_at integer not null, end_at integer not null, format text, location_id integer,
  answers text not null,
  attendance text, cancelled integer not null default 0, created_at integer not null
) strict;
create index if not exists bookings_of_schedule on bookings (schedule_id, start_at) where cancelled = 0;
create index if not exists bookings_of_company on bookings (company_id, seq);
`;

/**
 * Tables of assessments, interviews, assessment flows and rescore runs. Parts that are never searched are kept as JSON
 * text.
 */
const ASSESSMENTS = `
create table if not exists assessments (
  id text primary key, company_id integer not null, seq integer not null, job_id integer, status text not null,
  body text not null,
  created_at integer not null, updated_at integer not null
) strict;
create index if not exists assessments_of_company on assessments (company_id, seq);
create table if not exists assessment_questions (
  id text primary key, company_id integer not null, assessment_id text not null, seq integer not null,
  question text not null, type text not null,
  context_for_ai text, ideal_answer text, created_at integer not null, updated_at integer not null
) strict;
create index if not exists questions_of_assessment on assessment_questions (assessment_id, seq);
create table if not exists assessment_invites (
  id integer primary key, company_id integer not null, assessment_id text not null, email text not null,
  first_name text, last_name text,
  job_candidate_id integer, external_ref text, invited_at integer not null, unique (assessment_id, email)
) strict;
create table if not exists invite_batches (
  id text primary key, company_id integer not null, assessment_id text not null, status text not null,
  entries text not null,
  results text not null default '[]', created_at integer not null
) strict;
create table if not exists submissions (
  id text primary key, company_id integer not null, assessment_id text not null, invite_id integer not null unique,
  seq integer not null,
  status text not null, resumes_used integer not null default 0, score integer, started_at integer not null,
  ended_at integer, scored_at integer
) strict;
create index if not exists submissions_of_assessment on submissions (assessment_id, seq);
create table if not exists assessment_flows (
  id integer primary key, company_id integer not null, name text not null, description text, status text not null,
  steps text not null,
  created_at integer not null, updated_at integer not null
) strict;
create table if not exists flow_candidates (
  id integer primary key, company_id integer not null, flow_id integer not null, email text not null, first_name text,
  last_name text,
  job_candidate_id integer, job_id integer, talent_id text, status text not null, step integer not null default 0,
  assigned_at integer not null,
  unique (flow_id, email)
) strict;
create index if not exists flow_candidates_by_email on flow_candidates (company_id, email);
create table if not exists rescore_runs (
  id text primary key, company_id integer not null, job_id integer not null, status text not null,
  job_candidate_ids text not null,
  total_eligible integer not null, total_requested integer not null, total_processed integer not null default 0,
  total_failed integer not null default 0, capped_by_credits integer not null, errors text not null default '[]',
  created_at integer not null
) strict;
`;

/** Section 2.10: campaigns and their leads. */
const CAMPAIGNS = `
create table if not exists campaigns (
  id integer primary key, company_id integer not null, status text not null, purpose text not null,
  access_level text not null default 'COMPANY',
  deleted integer not null default 0, created_at integer not null, updated_at integer not null, body text not null
) strict;
create index if not exists campaigns_of_company on campaigns (company_id, id);
create table if not exists campaign_leads (
  id integer primary key, company_id integer not null, campaign_id integer not null, status text not null,
  created_at integer not null,
  body text not null
) strict;
create index if not exists leads_of_campaign on campaign_leads (campaign_id, id);
`;

/** Sections 4.3, 4.4: batches of resumes, and the result of each file. */
const RESUMES = `
create table if not exists resume_batches (
  id text primary key, company_id integer not null, job_id integer, status text not null, urls text not null,
  created_at integer not null
) strict;
create table if not exists resume_files (
  batch_id text not null, position integer not null, candidate_id integer, error text, primary key (batch_id, position)
) strict, without rowid;
`;

/** Section 2.9: documents and reports of an enrolment, and offer documents. */
const ONBOARDING_DOCUMENTS = `
create table if not exists onboarding_documents (
  id text primary key, company_id integer not null, seq integer not null, onboarding_id text not null,
  step_key text not null, type text not null,
  name text not null, status text not null, created_at integer not null, verified_at integer
) strict;
create index if not exists onboarding_documents_of on onboarding_documents (onboarding_id, seq);
create table if not exists offers (
  id text primary key, company_id integer not null, seq integer not null, job_candidate_id integer not null,
  candidate_id integer not null,
  job_id integer not null, name text not null, status text not null, signers text not null,
  created_at integer not null, sent_at integer,
  completed_at integer
) strict;
create index if not exists offers_of_company on offers (company_id, seq);
`;

/** Sections 2.10, 2.11: users, teams, sites and verified numbers of a workspace. */
const WORKSPACE = `
create table if not exists teams (
  id text primary key, company_id integer not null, seq integer not null, name text not null,
  created_at integer not null, created_by text
) strict;
create table if not exists users (
  id text primary key, company_id integer not null, seq integer not null, email text not null, first_name text,
  last_name text,
  status text not null, role text, is_company_admin integer not null default 0, invited_by_id text,
  team_ids text not null default '[]',
  reporting_manager_id text
) strict;
create index if not exists users_of_company on users (company_id, seq);
create table if not exists company_sites (
  id integer primary key, company_id integer not null, name text not null, timezone text not null,
  linked integer not null default 1
) strict;
create table if not exists verified_numbers (
  company_id integer not null, phone_number text not null, primary key (company_id, phone_number)
) strict, without rowid;
`;

/**
 * Every table of the sandbox, created when missing. Each holds one family's records; large records are kept as the JSON
 * text of their answer, so that a page is built without parsing (measured: parsing costs more than SQLite does).
 * Families added later append their tables to TABLES from a file of their own under records/.
 */
const CORE = `
create table if not exists counters (name text primary key, value integer not null) strict, without rowid;
create table if not exists settings (name text primary key, value text not null) strict, without rowid;
create table if not exists companies (
  id integer primary key, name text not null, api_key text, key_active integer not null default 1,
  account_active integer not null default 1,
  webhook_url text, webhook_key text, credits integer not null, onboarding_credits integer not null
) strict;
create table if not exists ledger (
  seq integer primary key, at integer not null, company_id integer, kind text not null, name text not null,
  status integer,
  subject text, request_id text, fault text, origin text, detail text not null default '{}'
) strict;
create table if not exists ledger_totals (
  kind text not null, name text not null, company_id integer not null, n integer not null,
  primary key (kind, name, company_id)
) strict, without rowid;
create index if not exists ledger_by_name on ledger (kind, name, company_id);
create table if not exists deliveries (
  id integer primary key, company_id integer not null, event text not null, body text not null, stamp text not null,
  created_at integer not null,
  attempt integer not null default 0, next_at integer not null, state text not null default 'waiting'
) strict;
create table if not exists tasks (id integer primary key, company_id integer not null, name text not null,
  due_at integer not null, input text not null) strict;
create index if not exists tasks_due on tasks (due_at, id);
create index if not exists deliveries_due on deliveries (next_at) where state = 'waiting';
`;

const RECRUITING = `
create table if not exists pipelines (
  id integer primary key, company_id integer not null, name text not null, created_at integer not null,
  updated_at integer not null
) strict;
create table if not exists stages (
  id integer primary key, company_id integer not null, pipeline_id integer not null, name text not null,
  type text not null, position integer not null,
  created_at integer not null, updated_at integer not null
) strict;
create index if not exists stages_of_pipeline on stages (pipeline_id, position);
create table if not exists jobs (
  id integer primary key, company_id integer not null, pipeline_id integer not null, status text not null,
  created_at integer not null,
  updated_at integer not null, body text not null
) strict;
create index if not exists jobs_of_company on jobs (company_id, id);
create table if not exists candidates (
  id integer primary key, company_id integer not null, email text not null, created_at integer not null,
  updated_at integer not null, version integer not null, body text not null
) strict;
create index if not exists candidates_of_company on candidates (company_id);
create index if not exists candidates_by_creation on candidates (company_id, created_at);
create index if not exists candidates_by_version on candidates (company_id, version);
create index if not exists candidates_by_phone on candidates (company_id, body ->> 'phone');
create unique index if not exists candidates_by_email on candidates (company_id, email);
create table if not exists job_candidates (
  id integer primary key, company_id integer not null, job_id integer not null, candidate_id integer not null,
  stage_id integer not null,
  status text not null default 'IN_PROGRESS', rejected integer not null default 0, added_at integer not null,
  moved_at integer not null,
  applied_at integer, score real, body text not null, application text, unique (job_id, candidate_id)
) strict;
create index if not exists job_candidates_of_stage on job_candidates (stage_id, company_id, job_id);
create index if not exists job_candidates_of_job on job_candidates (job_id, stage_id, rejected);
create index if not exists job_candidates_of_candidate on job_candidates (candidate_id);
create table if not exists custom_fields (
  id text primary key, company_id integer not null, seq integer not null, entity_type text not null,
  field_label text not null, field_type text not null,
  options text, description text, parent_section text, deleted integer not null default 0,
  created_at integer not null, updated_at integer not null
) strict;
create table if not exists custom_field_values (
  id integer primary key, company_id integer not null, custom_field_id text not null, entity_type text not null,
  entity_id text not null,
  parent_entity_type text not null default '', parent_entity_id text not null default '', value text not null,
  created_at integer not null, updated_at integer not null,
  unique (company_id, entity_type, entity_id, custom_field_id, parent_entity_type, parent_entity_id)
) strict;
`;

const ONBOARDING = `
create table if not exists onboarding_flows (
  id text primary key, company_id integer not null, seq integer not null, name text not null, status text not null,
  steps text not null,
  created_at integer not null, updated_at integer not null
) strict;
create table if not exists onboarding_candidates (
  id text primary key, company_id integer not null, seq integer not null, flow_id text not null, first_name text,
  last_name text, email text not null,
  phone_number text, external_ref text, overall_status text not null, journey_url text not null, metadata text,
  external text,
  enrolled_at integer not null, updated_at integer not null
) strict;
create index if not exists onboarding_of_company on onboarding_candidates (company_id, seq);
create index if not exists onboarding_by_ref on onboarding_candidates (company_id, external_ref);
create index if not exists onboarding_by_email on onboarding_candidates (flow_id, email);
create table if not exists onboarding_steps (
  onboarding_id text not null, step_key text not null, step_order integer not null, status text not null,
  rejection_reason text, verified_at integer,
  primary key (onboarding_id, step_key)
) strict, without rowid;
`;

/** All tables, in order of creation. */
export const TABLES: readonly string[] = [
  CORE,
  RECRUITING,
  ONBOARDING,
  WORKSPACE,
  BOOKING,
  RESUMES,
  ONBOARDING_DOCUMENTS,
  CAMPAIGNS,
  ASSESSMENTS,
];
