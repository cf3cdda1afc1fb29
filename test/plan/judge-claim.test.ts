import { expect, test } from 'vitest';
import { type Decisions, undecided } from '../../src/hire/decisions.ts';
import { judgeClaim } from '../../src/plan/judge-claim.ts';

const ref = { tenantId: 'acme', jobCandidateId: '5012', period: 2 };
const second = { ...ref, jobCandidateId: '6000', period: 1 };
const earlier = { ...ref, period: 1 };
const elsewhere = { ...ref, tenantId: 'globex' };

type Person = Decisions['person'];

test.each([
  ['a person nobody knows', ref, undefined, undefined, { verdict: 'claimed', take: false }],
  ['a second application while the first has no employee', second, undefined, undefined, 'PERSON_HIRED_BEFORE'],
  ['an answer while the other hire has no employee', second, undefined, 'transfer', 'PERSON_BEING_HIRED'],
  ['a second application of an employee', second, second, undefined, 'PERSON_HIRED_BEFORE'],
  [
    'a second application of an employee, answered',
    second,
    second,
    'same-employee',
    { verdict: 'claimed', take: true },
  ],
  ['a rehire in the next period', earlier, earlier, undefined, 'PERSON_HIRED_BEFORE'],
  ['a rehire, answered', earlier, earlier, 'new-employment', { verdict: 'claimed', take: true }],
  [
    'a claim that is already ours, with an earlier employee',
    ref,
    earlier,
    'transfer',
    { verdict: 'claimed', take: false },
  ],
  ['the same ids in another tenant', elsewhere, undefined, undefined, 'PERSON_HIRED_BEFORE'],
])('%s', (_what, holder, before, person, expected) => {
  const decisions = person === undefined ? undecided : { ...undecided, person: person as NonNullable<Person> };
  const judged = judgeClaim({ ref, holder, before }, decisions);
  if (typeof expected === 'string') expect(judged).toMatchObject({ verdict: 'hold', hold: { code: expected } });
  else expect(judged).toEqual(expected);
});

test('the hold names the other hire', () => {
  const judged = judgeClaim({ ref, holder: second, before: undefined }, undecided);
  expect(judged).toMatchObject({ hold: { message: expect.stringContaining('6000'), details: { other: second } } });
});
