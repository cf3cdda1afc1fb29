/** Section 2.10: campaigns and their leads. */
export const CAMPAIGNS = `
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
