import type { Selectable } from 'kysely';

/** A slot that was booked, as calendars show it. */
export interface CalendarEventTable {
  tenant_id: string;
  booking_id: string;
  schedule_id: string;
  /** What the schedule is called. */
  title: string | null;
  /** Of the schedule, by IANA's name. */
  timezone: string | null;
  entity_type: string | null;
  entity_id: string | null;
  /** UTC, ISO text; so is the end. */
  starts_at: string;
  ends_at: string | null;
  /** As the partner says it: CHECKED_IN, NO_SHOW. */
  attendance: string | null;
  /** Changes so far, for RFC 5545's SEQUENCE. */
  sequence: number;
  changed_at: number;
  /** Passes in a row that did not show it. */
  missed: number;
  cancelled_at: number | null;
}

export type CalendarEvent = Selectable<CalendarEventTable>;

/** An address where somebody's calendar reads a tenant's events. */
export interface CalendarFeedTable {
  feed_id: string;
  tenant_id: string;
  /** SHA-256 of what is in the address; the address itself is nowhere. */
  token_hash: string;
  /** JSON list of ids; null for all schedules. */
  schedules: string | null;
  made_at: number;
  made_by: string;
  revoked_at: number | null;
}

export type CalendarFeed = Selectable<CalendarFeedTable>;
