/** Sections 2.10, 2.11: users, teams, sites and verified numbers of a workspace. */
export const WORKSPACE = `
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
