import { expect, test } from 'vitest';
import { open } from './open-campaigns.ts';

test.each<[string, object, string]>([
  ['a start of another year', { callStartTimeUtc: '2016-02-01T11:30:00Z' }, 'callStartTimeUtc'],
  [
    'a retry before the start',
    {
      callStartTimeUtc: '2026-02-01T11:30:00Z',
      retryScheduleUtc: ['2026-02-02T11:30:00Z', '2026-01-31T11:30:00Z'],
    },
    'retryScheduleUtc[1]',
  ],
  [
    'a reminder delay that is no number',
    { jobDetails: { assessmentFirstReminderDelayHours: 'soon' } },
    'jobDetails.assessmentFirstReminderDelayHours',
  ],
  [
    'a reminder before the invitation',
    { jobDetails: { assessmentFirstReminderDelayHours: -1 } },
    'jobDetails.assessmentFirstReminderDelayHours',
  ],
])('a campaign with %s is 400, named by its path', async (_name, more, field) => {
  await using sandbox = await open();
  const { status, details } = await sandbox.send(more);
  expect([status, details]).toEqual([400, [field]]);
});

test.each([
  ['no end', { end: undefined }, 'end'],
  ['a day of no calendar', { date: '2026-02-30' }, 'date'],
  ['a day in words', { date: 'tomorrow' }, 'date'],
  ['a start in words', { start: 'nine' }, 'start'],
  ['an end before its start', { end: '08:00' }, 'end'],
])('an interview slot with %s is 400, named by its path', async (_name, wrong, field) => {
  await using sandbox = await open();
  await sandbox.control.act('enableCampaignPurposes', {});
  const slot = { date: '2026-01-12', start: '09:00', end: '10:00' };
  const jobDetails = { title: 'Nurse', interviewSlots: [slot, { ...slot, ...wrong }] };
  const { status, details } = await sandbox.send({ purposeType: 'SCHEDULE', jobDetails });
  expect([status, details]).toEqual([400, [`jobDetails.interviewSlots[1].${field}`]]);
});
