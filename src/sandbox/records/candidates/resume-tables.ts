/** Sections 4.3, 4.4: batches of resumes, and what became of each file. */
export const RESUMES = `
create table if not exists resume_batches (
  id text primary key, company_id integer not null, job_id integer, status text not null, urls text not null,
  created_at integer not null
) strict;
create table if not exists resume_files (
  batch_id text not null, position integer not null, candidate_id integer, error text, primary key (batch_id, position)
) strict, without rowid;
`;
