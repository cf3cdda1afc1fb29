import type { z } from 'zod';
import type { actions } from '../../src/sandbox/control/server.ts';
import { type Json, type OpenSandbox, openSandbox } from './open-sandbox.ts';

export const otherKey = `sk_test_${'b'.repeat(22)}`;
/** The stepped clock stands at Monday 5 January 2026, 09:00 UTC, which is London time. */
export const DAY = 'from=2026-01-06&to=2026-01-07';

/** A sandbox with three people on a job. */
export async function open() {
  const sandbox = await openSandbox({ jobs: 1, candidates: 3, clock: 'stepped', otherKey });
  const [job] = (await sandbox.api('GET', '/jobs')).body.jobs;
  const { data } = (await sandbox.api('GET', `/job-candidates/job/${job.id}/candidates`)).body;
  return { ...sandbox, people: data.map((one: { id: number }) => String(one.id)) as string[], records: data as Json[] };
}

type ScheduleInput = z.input<(typeof actions)['createBookingSchedule']['input']>;

/** A person creates a schedule in the dashboard. */
export function schedule(sandbox: OpenSandbox, input: ScheduleInput) {
  return sandbox.control.act('createBookingSchedule', input);
}

export const slotsOf = async (sandbox: OpenSandbox, id: string, range = DAY): Promise<Json[]> =>
  (await sandbox.api('GET', `/booking-schedules/${id}/slots?${range}`)).body.data;

/** Books as often as asked, and tells what became of it. */
export function booker(sandbox: OpenSandbox, id: string) {
  return async (entityId: string, scheduledStartAt: string, more: object = {}) => {
    const { status, body } = await sandbox.api('POST', `/booking-schedules/${id}/bookings`, {
      entityType: 'JOB_CANDIDATE',
      entityId,
      scheduledStartAt,
      ...more,
    });
    return { status, code: body.error?.code, details: body.error?.details, data: body.data };
  };
}
