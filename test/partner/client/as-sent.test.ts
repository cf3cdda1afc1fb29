import { expect, test } from 'vitest';
import { scriptedPartner } from './scripted-partner.ts';

test('an id read from an answer is sent as the number that the specification shows', async () => {
  const { partner, seen } = await scriptedPartner(() => ({
    json: { status: 'success', data: { id: 7, name: 'Main', stages: [], rescoreId: 'r' } },
  }));
  const { id } = (await partner.pipelines.get({ params: { pipelineId: 7 } })).data;
  await partner.jobCandidates.rescore({ body: { jobId: id, jobCandidateIds: [id] } });
  expect(seen[1]?.body).toEqual({ jobId: 7, jobCandidateIds: [7] });
});

test('e-mails, instants and days are sent in one form', async () => {
  const { partner, seen } = await scriptedPartner(() => ({
    json: { status: 'success', data: { id: 7 } },
  }));
  const body = { email: ' José@Example.COM', dateOfBirth: '1990-05-01T23:00:00-05:00' };
  await partner.candidates.update({ params: { candidateId: 7 }, body });
  expect(seen[0]?.body).toEqual({ email: 'José@example.com', dateOfBirth: '1990-05-01' });
  const booking = { entityType: 'JOB_CANDIDATE' as const, entityId: '7', scheduledStartAt: '2026-12-01T09:00:00+0530' };
  await partner.bookingSchedules.createBooking({ params: { bookingScheduleId: 'b' }, body: booking });
  expect(seen[1]?.body).toEqual({ ...booking, scheduledStartAt: '2026-12-01T03:30:00.000Z' });
});
