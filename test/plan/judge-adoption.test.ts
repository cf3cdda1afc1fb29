import { expect, test } from 'vitest';
import { type Adoption, judgeAdoption } from '../../src/plan/plan-enrolment.ts';

const fitting: Adoption = {
  jobCandidateId: '5012',
  onboardingCandidateId: 'oc-9',
  otherHire: undefined,
  flow: { shown: '7', wanted: '7' },
  email: { shown: 'ada@acme.example', wanted: 'ada@acme.example' },
  emailConfirmed: false,
};

const otherEmail = { email: { shown: 'bob@acme.example', wanted: 'ada@acme.example' } };
const confirmed = { ...otherEmail, emailConfirmed: true };

test.each<[string, Partial<Adoption>]>([
  ['everything fits', {}],
  [
    'the partner shows neither flow nor e-mail',
    { flow: { shown: undefined, wanted: '7' }, email: { shown: undefined, wanted: 'a@b.c' } },
  ],
  ['its e-mail is another, and a person has confirmed it', confirmed],
  ['the tenant skips onboarding, so that no flow is wanted', { flow: { shown: '8', wanted: undefined } }],
])('an enrolment named by a person is adopted: %s', (_, change) => {
  expect(judgeAdoption({ ...fitting, ...change })).toEqual({ verdict: 'fits' });
});

test.each<[string, Partial<Adoption>, RegExp]>([
  ['of another hire', { otherHire: '4001' }, /belongs to job candidate 4001/],
  ['in another flow', { flow: { shown: '8', wanted: '7' } }, /is in flow 8, and the tenant file names flow 7/],
  ['of another hire, whatever was confirmed', { otherHire: '4001', ...confirmed }, /belongs to job candidate 4001/],
  ['in another flow, whatever was confirmed', { flow: { shown: '8', wanted: '7' }, ...confirmed }, /is in flow 8/],
])('an enrolment %s is asked about again, saying so and showing no e-mail', (_, change, says) => {
  const judged = judgeAdoption({ ...fitting, ...change });
  if (judged.verdict !== 'hold') throw new Error('adopted');
  expect(judged.hold).toMatchObject({ code: 'ADOPT_MISFIT', answers: expect.arrayContaining(['adopt', 'retry']) });
  expect(judged.hold.message).toMatch(says);
  expect(JSON.stringify(judged)).not.toContain('@');
});

test('an enrolment with another e-mail is asked about again, and can be confirmed', () => {
  const judged = judgeAdoption({ ...fitting, ...otherEmail });
  if (judged.verdict !== 'hold') throw new Error('adopted');
  expect(judged.hold).toMatchObject({
    code: 'ADOPT_OTHER_EMAIL',
    answers: expect.arrayContaining(['adopt-anyway', 'adopt', 'retry']),
    details: { onboardingCandidateId: 'oc-9' },
  });
  expect(JSON.stringify(judged)).not.toContain('@');
});
