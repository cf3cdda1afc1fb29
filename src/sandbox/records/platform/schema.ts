import { ASSESSMENTS } from '../assessments/assessment-tables.ts';
import { BOOKING } from '../booking/booking-tables.ts';
import { CAMPAIGNS } from '../campaigns/campaign-tables.ts';
import { RESUMES } from '../candidates/resume-tables.ts';
import { ONBOARDING_DOCUMENTS } from '../onboarding/onboarding-document-tables.ts';
import { WORKSPACE } from '../workspace/workspace-tables.ts';

/**
 * Every table of the sandbox, created when missing. Each holds one family's records; large records are kept as the JSON
 * text they are answered with, so that a page is put together without parsing (measured: parsing costs more than SQLite
 * does). Families added later append their tables to TABLES from a file of their own under records/.
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
