import { expect, test } from 'vitest';
import { contract } from '../../src/partner/contract/index.ts';
import { booker, open, slotsOf } from './open-booking.ts';

test('an INTERVIEW schedule has neither locations nor questions, an EVENT has both and no links', async () => {
  await using sandbox = await open();
  const [interview, event] = (await sandbox.api('GET', '/booking-schedules')).body.data;
  for (const list of [contract.bookingSchedules.listLocations, contract.bookingSchedules.listQuestions])
    expect((await sandbox.partner.readAll(list, { params: { bookingScheduleId: interview.id } })).items).toEqual([]);
  const params = { bookingScheduleId: event.id };
  const { data: locations } = await sandbox.partner.bookingSchedules.listLocations({ params });
  expect(locations).toMatchObject([
    { id: expect.any(Number), type: 'in_person', photoUrls: [expect.any(String)], lat: 51.5072 },
    { type: 'video', instructions: null, lat: null, lng: null, photoUrls: [] },
  ]);
  const { data: questions } = await sandbox.partner.bookingSchedules.listQuestions({ params });
  expect(questions).toMatchObject([
    { id: 'shift', type: 'single_choice', required: true, options: ['Day', 'Night'] },
    { id: 'languages', type: 'multi_choice', required: false },
    { id: 'phone', type: 'phone', required: true },
    { id: 'notes', type: 'textarea', maxLength: 500 },
  ]);
  expect(questions.map((question) => 'options' in (question as object))).toEqual([true, true, false, false]);
  const entity = { entityType: 'JOB_CANDIDATE', entityId: sandbox.people[0] };
  const refused = await sandbox.api('POST', `/booking-schedules/${event.id}/links`, entity);
  expect([refused.status, refused.body.error.code]).toEqual([400, 'INVALID_REQUEST']);
});

test('a booking of an EVENT in BOTH modes needs format, location and every required answer', async () => {
  await using sandbox = await open();
  const [interview, event] = (await sandbox.api('GET', '/booking-schedules')).body.data;
  const [place] = (await sandbox.api('GET', `/booking-schedules/${event.id}/locations`)).body.data;
  const [slot] = await slotsOf(sandbox, event.id);
  const [person = ''] = sandbox.people;
  const answers = { shift: 'Day', phone: '+447700900123' };
  const whole = { selectedFormat: 'ONSITE', selectedLocationId: place.id, bookingAnswers: answers };
  const book = booker(sandbox, event.id);
  const wrong: [object, string][] = [
    [{ ...whole, selectedFormat: undefined }, 'selectedFormat'],
    [{ ...whole, selectedFormat: 'BOTH' }, 'selectedFormat'],
    [{ ...whole, selectedLocationId: undefined }, 'selectedLocationId'],
    [{ ...whole, selectedLocationId: 1 }, 'selectedLocationId'],
    [{ ...whole, bookingAnswers: { phone: answers.phone } }, 'bookingAnswers.shift'],
    [{ ...whole, bookingAnswers: { shift: 'Day' } }, 'bookingAnswers.phone'],
    [{ ...whole, bookingAnswers: { ...answers, shift: 'Noon' } }, 'bookingAnswers.shift'],
    [{ ...whole, bookingAnswers: { ...answers, shift: ['Day'] } }, 'bookingAnswers.shift'],
    [{ ...whole, bookingAnswers: { ...answers, phone: ' ' } }, 'bookingAnswers.phone'],
    [{ ...whole, bookingAnswers: { ...answers, phone: 'at home' } }, 'bookingAnswers.phone'],
    [{ ...whole, bookingAnswers: { ...answers, languages: 'English' } }, 'bookingAnswers.languages'],
    [{ ...whole, bookingAnswers: { ...answers, languages: ['Latin'] } }, 'bookingAnswers.languages'],
    [{ ...whole, bookingAnswers: { ...answers, notes: 'x'.repeat(501) } }, 'bookingAnswers.notes'],
    [{ ...whole, bookingAnswers: { ...answers, shoe: '44' } }, 'bookingAnswers.shoe'],
  ];
  for (const [body, field] of wrong) {
    const { status, code, details } = await book(person, slot?.startAt, body);
    expect([field, status, code, Object.keys(details)]).toEqual([field, 400, 'INVALID_REQUEST', [field]]);
  }
  const done = await book(person, slot?.startAt, {
    ...whole,
    bookingAnswers: { ...answers, languages: ['English', 'Tagalog'], notes: 'x'.repeat(500) },
  });
  expect([done.status, done.data.selectedFormat, done.data.selectedLocationId]).toEqual([200, 'ONSITE', place.id]);
  const alone = booker(sandbox, interview.id);
  for (const extra of [{ selectedFormat: 'ONLINE' }, { selectedLocationId: place.id }, { bookingAnswers: answers }])
    expect((await alone(person, '2026-01-06T09:00:00Z', extra)).status).toBe(400);
});
