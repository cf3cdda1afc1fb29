import { expect, test } from 'vitest';
import { describeStory, judge, type Records } from '../../src/cli/demo/recruiting.ts';

const SLOT = '2026-11-26T08:00:00.000Z';
const RIGHT: Records = {
  candidateId: 7,
  consent: true,
  counts: { applications: 1, invitations: 1, enrolments: 1 },
  reference: 'hirebridge-invite:7',
  scores: { partner: '86', hris: '86' },
  slots: { chosen: SLOT, partner: SLOT, hris: SLOT },
  offers: 'completed',
  employeeNumbers: { partner: '000123', hris: '000123' },
  readBack: true,
};

/** What each judge says no to, by its name. */
const WRONG: Record<string, Partial<Records>> = {
  'consent given': { consent: false },
  applications: { counts: { ...RIGHT.counts, applications: 0 } },
  invitations: { counts: { ...RIGHT.counts, invitations: 2 } },
  'reference of the invitation': { reference: 'none' },
  score: { scores: { partner: '86', hris: 'none' } },
  'booked slot': { slots: { ...RIGHT.slots, chosen: '2026-11-27T08:00:00.000Z' } },
  'slot landed': { slots: { ...RIGHT.slots, hris: '' } },
  offer: { offers: 'sent' },
  enrolments: { counts: { ...RIGHT.counts, enrolments: 2 } },
  'employee number': { employeeNumbers: { partner: '000123', hris: '000123,000124' } },
  'read back after it was written': { readBack: false },
};

test('the story is good where every judge agrees, and each judge has something to disagree with', () => {
  expect(judge(RIGHT).filter(({ agrees }) => !agrees)).toEqual([]);
  expect(judge(RIGHT).map(({ what }) => what)).toEqual(Object.keys(WRONG));
  for (const [what, wrong] of Object.entries(WRONG)) {
    const judged = judge({ ...RIGHT, ...wrong });
    expect(judged.filter(({ agrees }) => !agrees).map((one) => one.what)).toEqual([what]);
    expect(describeStory(judged)).toContain('NO');
  }
});
