import type { Cases } from './case.ts';
import { newJobCandidate, SOMEBODY_ELSE } from './records.ts';
import type { World } from './world.ts';

/** Sections 2.8, 4.8. */
const DAY = 86_400_000;

export async function newSchedule(world: World, more: object = {}): Promise<{ bookingScheduleId: string }> {
  const days = [1, 2, 3, 4, 5, 6, 7];
  const schedule = await world.control.act('createBookingSchedule', { availability: { days }, ...more });
  return { bookingScheduleId: String(schedule.id) };
}

/** Two weeks from yesterday on. */
export function fortnight(): { from: string; to: string } {
  const date = (offset: number): string => new Date(Date.now() + offset * DAY).toISOString().slice(0, 10);
  return { from: date(-1), to: date(14) };
}

const EVENT = {
  scheduleProfile: 'EVENT',
  questions: [{ id: 'shirt', type: 'single_choice', label: 'Size', required: true, options: ['S', 'L'] }],
};
const event = (world: World) => newSchedule(world, EVENT);
const interview = (world: World) => newSchedule(world);
const unknown = () => ({ params: { bookingScheduleId: SOMEBODY_ELSE } });

async function entity(world: World) {
  const { jobCandidateId } = await newJobCandidate(world);
  return { entityType: 'JOB_CANDIDATE' as const, entityId: String(jobCandidateId) };
}

/** A booking that can be made. */
export async function order(world: World) {
  const params = await interview(world);
  const { data } = await world.partner.bookingSchedules.listSlots({ params, query: fortnight() });
  const scheduledStartAt = String((data as { startAt: string }[])[0]?.startAt);
  return { params, body: { ...(await entity(world)), scheduledStartAt } };
}

export const bookingScheduleCases: Cases<'bookingSchedules'> = {
  list: {
    success: async (world) => {
      await interview(world);
      return { query: { scheduleProfile: 'INTERVIEW', bookingMode: 'ONLINE' } };
    },
    refusals: { INVALID_REQUEST: () => ({ query: { bookingMode: 'MOON' } }) },
  },
  get: { success: async (world) => ({ params: await interview(world) }), refusals: { NOT_FOUND: unknown } },
  listSlots: {
    success: async (world) => ({ params: await interview(world), query: fortnight() }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ params: await interview(world), query: { from: '2026-01-02' } }),
      NOT_FOUND: () => ({ ...unknown(), query: fortnight() }),
    },
  },
  listLocations: { success: async (world) => ({ params: await event(world) }), refusals: { NOT_FOUND: unknown } },
  listQuestions: { success: async (world) => ({ params: await event(world) }), refusals: { NOT_FOUND: unknown } },
  createLink: {
    success: async (world) => ({ params: await interview(world), body: await entity(world) }),
    refusals: {
      INVALID_REQUEST: async (world) => ({ params: await event(world), body: await entity(world) }),
      NOT_FOUND: async (world) => ({
        params: await interview(world),
        body: { entityType: 'NOVA_CANDIDATE', entityId: '1' },
      }),
    },
  },
  createBooking: {
    success: order,
    refusals: {
      INVALID_REQUEST: async (world) => {
        const { params, body } = await order(world);
        return { params, body: { ...body, selectedFormat: 'ONSITE' } };
      },
      NOT_FOUND: async (world) => ({ ...unknown(), body: (await order(world)).body }),
      SLOT_UNAVAILABLE: async (world) => {
        const taken = await order(world);
        await world.partner.bookingSchedules.createBooking(taken);
        return { params: taken.params, body: { ...taken.body, ...(await entity(world)) } };
      },
    },
  },
};

export const bookingCases: Cases<'bookings'> = {
  list: {
    success: async (world) => {
      await world.partner.bookingSchedules.createBooking(await order(world));
      return { query: { entityType: 'JOB_CANDIDATE' } };
    },
    refusals: { INVALID_REQUEST: () => ({ query: { entityType: 'NOBODY' } }) },
  },
};
