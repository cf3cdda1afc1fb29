import type { Selectable } from 'kysely';

/** A booked slot, as calendars show it. */
export interface CalendarEventTable {
  tenant_id: string;
  booking_id: string;
  schedule_id: string;
  /** The schedule's name. */
  title: string | null;
  /** The schedule's time zone, as an IANA name. */
  timezone: string | null;
  entity_type: string | null;
  entity_id: string | null;
  /** UTC, ISO text; so is the end. */
  starts_at: string;
  ends_at: string | null;
  /** As the partner spells it: CHECKED_IN, NO_SHOW. */
  attendance: string | null;
  /** Number of changes so far, for RFC 5545's SEQUENCE. */
  sequence: number;
  changed_at: number;
  /** How many passes in a row did not find the booking. */
  missed: number;
  cancelled_at: number | null;
}

export type CalendarEvent = Selectable<CalendarEventTable>;

/** An address from which a calendar application reads a tenant's events. */
export interface CalendarFeedTable {
  feed_id: string;
  tenant_id: string;
  /** SHA-256 of the secret in the address; the address itself is not stored. */
  token_hash: string;
  /** JSON list of ids; null for all schedules. */
  schedules: string | null;
  made_at: number;
  made_by: string;
  revoked_at: number | null;
}

export type CalendarFeed = Selectable<CalendarFeedTable>;
