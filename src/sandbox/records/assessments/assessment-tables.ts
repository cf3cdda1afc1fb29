/**
 * Tables of assessments, interviews, assessment flows and rescore runs. What is never searched for is kept as JSON
 * text.
 */
export const ASSESSMENTS = `
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
