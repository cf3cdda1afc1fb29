/** Section 2.8: booking schedules with their locations and questions, links and bookings. */
export const BOOKING = `
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
