import type { Context } from '../context.ts';
import { pick, type Random } from '../random.ts';
import type { Candidate } from '../records/candidates/candidates.ts';
import { type ApplicationForm, formOf } from '../records/job-candidates/applications.ts';

const NOTICE = ['Immediately', '2 weeks', '1 month', '3 months'];
const ANSWERS: [string, readonly string[]][] = [
  ['When could you start?', ['Next Monday', 'Next month', 'After my notice period']],
  ['Do you have experience with shifts?', ['Yes, for two years', 'Only at weekends', 'Not yet']],
  ['Why do you apply?', ['A friend works with you', 'I want to learn more', 'Your shop is near my home']],
];

/** What somebody sent in through the hosted page: nine in ten with their consent and a resume. */
export function seededForm(ctx: Context, random: Random, person: Candidate): ApplicationForm {
  const expected = 24_000 + Math.floor(random() * 30) * 1000;
  return formOf(ctx, person, {
    consent: random() < 0.9,
    policyVersion: random() < 0.3 ? '2024-06' : '2025-01',
    resume: random() < 0.9,
    application: {
      currentJobTitle: person['currentJobTitle'],
      company: person['currentCompany'],
      noticePeriod: pick(random, NOTICE),
      isWillingToRelocate: random() < 0.4,
      expectedCTC: expected,
      currencyExpectedCTC: 'USD',
      expectedCTCPeriod: 'YEARLY',
      currentCTC: expected - 3000,
      currencyCurrentCTC: 'USD',
      currentCTCPeriod: 'YEARLY',
      gender: person['gender'],
      dateOfBirth: person['dateOfBirth'],
      nationality: person['nationality'],
      screeningQuestionAnswer: ANSWERS.map(([question, answers]) => ({ question, answer: pick(random, answers) })),
      otherFiles: random() < 0.2 ? [{ name: 'References' }] : [],
    },
  });
}
