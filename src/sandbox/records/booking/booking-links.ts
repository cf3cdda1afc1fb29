import type { linkStatuses } from '../../../partner/contract/booking-schedule.ts';
import type { Context } from '../../context.ts';
import { effect, iso } from '../../context.ts';
import { invalidRequest, notFound } from '../../errors.ts';
import { stableUuid } from '../../random.ts';
import type { Entity, Person } from './booking-entities.ts';
import { personOf } from './booking-entities.ts';
import type { Schedule } from './booking-schedules.ts';
import { isExpired } from './booking-schedules.ts';

export interface BookingLink {
  id: string;
  scheduleId: string;
  token: string;
  status: (typeof linkStatuses)[number];
  entityType: Entity['entityType'];
  entityId: string;
  /** JSON text of the snapshot. */
  person: string;
  expiresAt: number | null;
  createdAt: number;
}

const LINK = `select id, schedule_id as scheduleId, token, status, entity_type as entityType, entity_id as entityId,
  person,
  expires_at as expiresAt, created_at as createdAt from booking_links`;

const HOUR_MS = 3_600_000;

/**
 * The active link of this person and schedule, with its expiry as it was (B1, B17, assumed), or a new one; one that has
 * expired is then REPLACED. The person is a snapshot.
 */
export function linkFor(
  ctx: Context,
  schedule: Schedule,
  entity: Entity,
  expiresInHours: number | undefined,
): BookingLink {
  if (schedule.scheduleProfile !== 'INTERVIEW')
    throw invalidRequest('Links are for INTERVIEW schedules only', { bookingScheduleId: 'is an EVENT schedule' });
  const person = personOf(ctx, entity);
  refuseExpired(ctx, schedule);
  const active = activeLink(ctx, schedule.id, entity);
  if (active !== undefined && isOpen(ctx, active)) return active;
  if (active !== undefined) setLinkStatus(ctx, active, 'REPLACED');
  return createLink(ctx, schedule, entity, person, expiresInHours);
}

function createLink(
  ctx: Context,
  schedule: Schedule,
  entity: Entity,
  person: Person,
  expiresInHours: number | undefined,
): BookingLink {
  const { state, company, now } = ctx;
  const seq = state.nextId('booking-link');
  const id = stableUuid(state.seed, 'booking-link', seq);
  state.run(
    `insert into booking_links (id, company_id, schedule_id, token, status, entity_type, entity_id, person,
      expires_at, created_at)
     values (?, ?, ?, ?, 'ACTIVE', ?, ?, ?, ?, ?)`,
    id,
    company.id,
    schedule.id,
    stableUuid(state.seed, 'booking-token', seq).replaceAll('-', ''),
    entity.entityType,
    entity.entityId,
    JSON.stringify(person),
    // B10, assumed.
    expiresInHours === undefined ? schedule.expiresAt : now + expiresInHours * HOUR_MS,
    now,
  );
  effect(ctx, 'booking-link', id);
  return findLink(ctx, id);
}

/** B15, assumed. */
export function refuseExpired(ctx: Context, schedule: Schedule): void {
  if (isExpired(ctx, schedule))
    throw invalidRequest('The booking schedule has expired', { bookingScheduleId: 'has expired' });
}

/** The ACTIVE link of a person in a schedule, expired or not. */
export function activeLink(ctx: Context, scheduleId: string, entity: Entity): BookingLink | undefined {
  return ctx.state.one<BookingLink>(
    `${LINK} where schedule_id = ? and entity_type = ? and entity_id = ? and status = 'ACTIVE'`,
    scheduleId,
    entity.entityType,
    entity.entityId,
  );
}

export function isOpen(ctx: Context, link: BookingLink): boolean {
  return link.status === 'ACTIVE' && (link.expiresAt === null || link.expiresAt > ctx.now);
}

export function findLink(ctx: Context, id: string): BookingLink {
  const link = ctx.state.one<BookingLink>(`${LINK} where id = ? and company_id = ?`, id, ctx.company.id);
  if (link === undefined) throw notFound('Booking link');
  return link;
}

/** 404 for an address that nobody was given. */
export function linkByToken(ctx: Context, token: string): BookingLink {
  const link = ctx.state.one<BookingLink>(`${LINK} where token = ? and company_id = ?`, token, ctx.company.id);
  if (link === undefined) throw notFound('Booking link');
  return link;
}

export function listLinks(ctx: Context, scheduleId: string): BookingLink[] {
  return ctx.state.all<BookingLink>(
    `${LINK} where schedule_id = ? and company_id = ? order by created_at, rowid`,
    scheduleId,
    ctx.company.id,
  );
}

/** Section 3: only an ACTIVE link is locked, revoked or replaced; LOCKED is for good (B18, assumed). */
export function setLinkStatus(ctx: Context, link: BookingLink, status: BookingLink['status']): BookingLink {
  if (link.status !== 'ACTIVE') throw invalidRequest('Only an ACTIVE link changes', { status: `is ${link.status}` });
  ctx.state.run('update booking_links set status = ? where id = ?', status, link.id);
  effect(ctx, 'booking-link-status', link.id, { status });
  return findLink(ctx, link.id);
}

/** The record of section 2.8. */
export function renderLink({ state }: Context, link: BookingLink): Record<string, unknown> {
  const { id, token, status, entityType, entityId, person, expiresAt, createdAt } = link;
  return {
    id,
    token,
    url: `${state.publicUrl}/book/${token}`,
    status,
    entityType,
    entityId,
    ...(JSON.parse(person) as Person),
    expiresAt: expiresAt === null ? null : iso(expiresAt),
    createdAt: iso(createdAt),
  };
}
