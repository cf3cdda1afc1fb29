/** Section 2.9: documents and reports of an enrolment, and offer documents. */
export const ONBOARDING_DOCUMENTS = `
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
