import { expect, test } from 'vitest';
import { settleDelivery, takeDueDeliveries } from '../../src/sandbox/records/deliveries.ts';
import { openSharePage } from '../../src/sandbox/share-page.ts';
import { openDashboard } from './open-dashboard.ts';
import type { Json } from './open-sandbox.ts';

const ada = { firstName: 'Ada', lastName: 'Lovelace', emailAddress: 'ada@example.com' };

/** A person with a booking, and the slots that are free beside it. */
function openBooked(settings: object = {}) {
  const sandbox = openDashboard();
  const { id: bookingScheduleId } = sandbox.does('createBookingSchedule', settings);
  const slots = (): string[] =>
    sandbox
      .api('GET', `/booking-schedules/${bookingScheduleId}/slots?from=2026-01-06&to=2026-01-08`)
      .data.map((slot: Json) => slot.startAt);
  const order = { entityType: 'JOB_CANDIDATE', entityId: String(sandbox.people[0]), scheduledStartAt: slots()[0] };
  const { id: bookingId } = sandbox.api('POST', `/booking-schedules/${bookingScheduleId}/bookings`, order).data;
  const shown = (): Json => sandbox.api('GET', '/bookings').data.find((one: Json) => one.id === bookingId);
  const reschedule = (input: object): Json => sandbox.does('rescheduleBooking', { bookingId, ...input });
  return { ...sandbox, bookingId, slots, shown, reschedule, booked: order.scheduledStartAt as string };
}

test('a booking that is rescheduled stands at its new time and frees the old one', () => {
  const { slots, shown, reschedule, booked } = openBooked();
  const next = slots()[3];
  expect(reschedule({ scheduledStartAt: next })).toMatchObject({ scheduledStartAt: next });
  expect(shown().scheduledStartAt).toBe(next);
  expect([slots().includes(booked), slots().includes(next ?? '')]).toEqual([true, false]);
  expect(() => reschedule({ scheduledStartAt: '2026-01-06T03:00:00.000Z' })).toThrow('slot is not available');
});

test('a candidate reschedules only where the schedule allows it, and until its cutoff', () => {
  const closed = openBooked({ allowCandidateReschedule: false });
  const later = { scheduledStartAt: closed.slots()[3], by: 'candidate' };
  expect(() => closed.reschedule(later)).toThrow('lets no candidate reschedule');
  expect(closed.reschedule({ ...later, by: 'recruiter' })).toMatchObject({ scheduledStartAt: later.scheduledStartAt });
  const late = openBooked({ rescheduleCutoffHours: 25 });
  expect(() => late.reschedule({ scheduledStartAt: late.slots()[3], by: 'candidate' })).toThrow('25 hours');
  const early = openBooked({ rescheduleCutoffHours: 24 });
  expect(early.reschedule({ scheduledStartAt: early.slots()[3], by: 'candidate' })).not.toHaveProperty('error');
});

test('who has come or not come is shown by the booking, which is then rescheduled no more', () => {
  const { does, shown, reschedule, slots, bookingId } = openBooked();
  expect(shown().attendance).toBeNull();
  does('markNoShow', { bookingId });
  expect(shown().attendance).toBe('NO_SHOW');
  does('checkIn', { bookingId });
  expect(shown().attendance).toBe('CHECKED_IN');
  expect(() => reschedule({ scheduledStartAt: slots()[3] })).toThrow('over');
});

/** Ada in the middle of an interview that she may resume. */
function openInterview() {
  const sandbox = openDashboard();
  const { assessmentId } = sandbox.does('createAssessment', { title: 'Ward interview', maxResumeCount: 2 });
  sandbox.api('POST', `/assessment/${assessmentId}/invite`, ada);
  const who = { assessmentId, emailAddress: ada.emailAddress };
  const { submissionId } = sandbox.does('startInterview', who);
  return { ...sandbox, assessmentId, submissionId };
}

test('a paused interview that times out has ended, is scored, and cannot be resumed', () => {
  const { does, later, events, submissionId } = openInterview();
  expect(does('leaveInterview', { submissionId }).interviewStatus).toBe('PAUSED');
  expect(does('timeOutInterview', { submissionId }).interviewStatus).toBe('TIMED_OUT');
  later();
  expect(events()).toMatchObject({ 'interview.ended': 1, 'interview.scoring_completed': 1 });
  expect(() => does('resumeInterview', { submissionId })).toThrow('paused');
  expect(() => does('timeOutInterview', { submissionId })).toThrow('has ended');
});

test('the share page shows what was configured, and nothing when it is switched off', () => {
  const { state, does, api, later, assessmentId, submissionId } = openInterview();
  does('finishInterview', { submissionId, score: 61 });
  later();
  const { shareUrl } = api('GET', `/assessment/${assessmentId}/submissions/${submissionId}/share-link`).data;
  const page = (): Json => openSharePage(state, 'GET', new URL(shareUrl).pathname);
  expect(page()).toMatchObject({ status: 200, body: expect.stringMatching(/Ada Lovelace.*Score 61 of 100/) });
  does('configureSharePage', { shows: ['bucket'] });
  expect(page().body).not.toMatch(/Ada|Score/);
  does('configureSharePage', { enabled: false });
  expect(page().status).toBe(404);
});

test('a generator told to fail once refuses the next generation only, other calls between', () => {
  const { api, does } = openDashboard();
  const generate = () => api('POST', '/assessment/auto-generate', { purpose: 'Find a nurse for the ward' });
  does('setQuestionGenerator', { state: 'empty', times: 1 });
  api('GET', '/assessment');
  expect(generate().error.code).toBe('AI_GENERATION_EMPTY');
  expect([generate().status, generate().status]).toEqual(['success', 'success']);
  does('setQuestionGenerator', { state: 'fails', times: 2 });
  expect([generate(), generate(), generate()].map(({ error }) => error?.code)).toEqual([
    'AI_GENERATION_FAILED',
    'AI_GENERATION_FAILED',
    undefined,
  ]);
});

test('a delivery is sent again with the same body and timestamp, whatever became of it', () => {
  const { state, does } = openDashboard({ webhookUrl: 'https://receiver.example/hooks' });
  does('createJob', { job: { title: 'Cook' } });
  const sent = takeDueDeliveries(state);
  expect(sent).toHaveLength(1);
  const [first] = sent as [(typeof sent)[0]];
  settleDelivery(state, first, { status: 200 });
  const { deliveryId } = does('redeliver', { deliveryId: first.id });
  expect(takeDueDeliveries(state)).toEqual([{ ...first, id: deliveryId }]);
  expect(deliveryId).not.toBe(first.id);
  expect(() => does('redeliver', { deliveryId: 999 })).toThrow('Delivery not found');
});
