import { describe, expect, test } from 'vitest';
import { errorOf } from '../../http/servers.ts';
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

describe('the id of whose value is set, whose form is not shown', () => {
  const value = { customFieldId: 'cf', entityType: 'candidate' as const, value: 'x' };
  const body = [{ ...value, entityId: '7', parentEntityType: 'work_experience', parentEntityId: '3' }];
  const numbers = [{ ...body[0], entityId: 7, parentEntityId: 3 }];
  const refused = (details?: object) => ({
    status: 400,
    json: { error: { code: 'INVALID_REQUEST', message: 'Bad', ...(details && { details }) } },
  });
  const asked = async (details?: object) => {
    const { partner, seen } = await scriptedPartner(({ body: sent }) =>
      typeof (sent as typeof body)[0]?.entityId === 'number'
        ? { json: { status: 'success', data: [] } }
        : refused(details),
    );
    await partner.customFieldValues.upsertBulk({ body });
    await partner.customFieldValues.upsertBulk({ body });
    return seen.map((one) => one.body);
  };

  test('is sent as a number from then on where the partner refuses it as text', async () => {
    expect(await asked({ '0.entityId': 'must be an integer' })).toEqual([body, numbers, numbers]);
    expect(await asked()).toEqual([body, numbers, numbers]);
  });

  test('is not sent in another form once the partner has taken one', async () => {
    let taken = 0;
    const { partner, seen } = await scriptedPartner(() =>
      (taken += 1) === 1 ? { json: { status: 'success', data: [] } } : refused(),
    );
    await partner.customFieldValues.upsertBulk({ body });
    expect(await errorOf(partner.customFieldValues.upsertBulk({ body }))).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(seen.map((one) => one.body)).toEqual([body, body]);
  });

  test('is not sent again where the partner refuses something else', async () => {
    const { partner, seen } = await scriptedPartner(() => refused({ '0.value': 'is no option' }));
    expect(await errorOf(partner.customFieldValues.upsertBulk({ body }))).toMatchObject({ code: 'INVALID_REQUEST' });
    expect(seen).toHaveLength(1);
  });
});
