import { describe, expect, test } from 'vitest';
import { type Decisions, undecided } from '../../src/hire/decisions.ts';
import type { HireRef } from '../../src/hire/hire-ref.ts';
import { isSameHire } from '../../src/hire/hire-ref.ts';
import { type ClaimObservation, judgeClaim } from '../../src/plan/judge-claim.ts';

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
  const judged = judgeClaim({ ref, holder, holderWaits: false, before }, decisions);
  if (typeof expected === 'string') expect(judged).toMatchObject({ verdict: 'hold', hold: { code: expected } });
  else expect(judged).toEqual(expected);
});

test.each<[string, HireRef, HireRef & { how?: string }, Partial<Decisions>, unknown]>([
  ['hired without us on another job', second, second, {}, 'PERSON_RECORDED'],
  ['hired without us in the period before', earlier, earlier, {}, 'PERSON_RECORDED'],
  ['hired without us, and taken by us since', ref, second, {}, 'PERSON_RECORDED'],
  [
    'told that it is a new employment',
    second,
    second,
    { person: 'new-employment' },
    { verdict: 'claimed', take: true },
  ],
  ['told who the employee is', second, second, { link: '7' }, { verdict: 'claimed', take: true }],
  ['a person’s word started it', ref, ref, {}, { verdict: 'claimed', take: false }],
  ['passed over by the neighbour', elsewhere, elsewhere, {}, { verdict: 'claimed', take: true }],
  ['whom a removed neighbour may have made', elsewhere, { ...elsewhere, how: 'removed' }, {}, 'PERSON_RECORDED'],
])('somebody %s', (_what, holder, recorded, decided, expected) => {
  const seen = { ref, holder, holderWaits: false, before: undefined, recorded };
  const judged = judgeClaim(seen, { ...undecided, ...decided });
  if (typeof expected === 'string') expect(judged).toMatchObject({ verdict: 'hold', hold: { code: expected } });
  else expect(judged).toEqual(expected);
});

test('the hold names the other hire', () => {
  const judged = judgeClaim({ ref, holder: second, holderWaits: true, before: undefined }, undecided);
  expect(judged).toMatchObject({ hold: { message: expect.stringContaining('6000'), details: { other: second } } });
});

describe('one human, several applications', () => {
  const third = { ...ref, jobCandidateId: '7000', period: 1 };
  const neighbour = { tenantId: 'globex', jobCandidateId: '9000', period: 1 };
  const CLAIMED = { verdict: 'claimed', take: false };
  const TAKEN = { verdict: 'claimed', take: true };

  test.each<[string, Omit<ClaimObservation, 'ref' | 'holderWaits'>, Person, unknown]>([
    [
      'claimed by us, hired before, undecided: asked once more',
      { holder: ref, before: second },
      undefined,
      'PERSON_HIRED_BEFORE',
    ],
    ['claimed by us, hired before: the same employee', { holder: ref, before: second }, 'same-employee', CLAIMED],
    ['claimed by us, hired before: a second employment', { holder: ref, before: second }, 'new-employment', CLAIMED],
    ['an old decision where nobody was hired after all', { holder: ref, before: undefined }, 'transfer', CLAIMED],
    [
      'hired by the neighbour of one company',
      { holder: neighbour, before: neighbour },
      undefined,
      'PERSON_HIRED_BEFORE',
    ],
    ['hired by the neighbour: a transfer', { holder: neighbour, before: neighbour }, 'transfer', TAKEN],
    ['being hired by the neighbour', { holder: neighbour, before: undefined }, 'new-employment', 'PERSON_BEING_HIRED'],
    ['linked by a third hire that holds no claim', { holder: ref, before: third }, undefined, 'PERSON_HIRED_BEFORE'],
    ['the third hire’s answer: a new employment', { holder: third, before: third }, 'new-employment', TAKEN],
  ])('%s', (_what, seen, person, expected) => {
    const judged = judgeClaim(
      { ref, holderWaits: false, ...seen },
      person === undefined ? undecided : { ...undecided, person },
    );
    if (typeof expected === 'string') expect(judged).toMatchObject({ verdict: 'hold', hold: { code: expected } });
    else expect(judged).toEqual(expected);
  });

  test('who has the employee is named before who holds the claim', () => {
    const judged = judgeClaim({ ref, holder: third, holderWaits: false, before: second }, undecided);
    expect(judged).toMatchObject({ hold: { details: { jobCandidateId: '5012', other: second } } });
  });

  test.each(['same-employee', 'transfer', 'new-employment'] as const)(
    'the claim of a third hire that is on its way to an employee is not taken by a word about the first (%s)',
    (person) => {
      const judged = judgeClaim({ ref, holder: third, holderWaits: true, before: second }, { ...undecided, person });
      expect(judged).toMatchObject({ hold: { code: 'PERSON_BEING_HIRED', details: { other: third } } });
    },
  );

  test('to name an employee by hand does not say what the hire is to them', () => {
    const judged = judgeClaim(
      { ref, holder: second, holderWaits: false, before: second },
      { ...undecided, link: '7', createUnproven: true },
    );
    expect(judged).toMatchObject({ hold: { code: 'PERSON_HIRED_BEFORE' } });
  });
});

test.each<[string, HireRef, boolean]>([
  ['itself', { ...ref }, true],
  ['another period', earlier, false],
  ['another application', { ...second, period: 2 }, false],
  ['the same numbers at another tenant', elsewhere, false],
])('a hire and %s', (_what, other, expected) => {
  expect([isSameHire(ref, other), isSameHire(other, ref)]).toEqual([expected, expected]);
});
