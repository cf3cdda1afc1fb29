import type { bookingEntityTypes } from '../../../partner/contract/booking-schedule.ts';
import type { Context } from '../../context.ts';
import { notFound } from '../../errors.ts';
import { findCandidate } from '../candidates/candidates.ts';
import { findJobCandidate } from '../job-candidates/job-candidates.ts';

/** Whom a link or a booking is for. */
export interface Entity {
  entityType: (typeof bookingEntityTypes)[number];
  entityId: string;
}

/** The snapshot a link keeps; any may be null. */
export interface Person {
  firstName: string | null;
  lastName: string | null;
  email: string | null;
  phone: string | null;
}

/** The person behind an entity, who must exist: 404 otherwise, as for the two kinds without a lookup (B12, assumed). */
export function personOf(ctx: Context, { entityType, entityId }: Entity): Person {
  if (entityType !== 'JOB_CANDIDATE' || !/^\d{1,15}$/.test(entityId)) throw notFound('Entity');
  const { candidateId } = findJobCandidate(ctx, Number(entityId));
  const { firstName, lastName, email, phone } = findCandidate(ctx, candidateId);
  return { firstName, lastName, email, phone };
}
