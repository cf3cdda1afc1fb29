import { describe, expect, test } from 'vitest';
import type { Found, KnownEmployee } from '../../src/hire/hire.ts';
import { climbIdentityLadder, type Finding } from '../../src/plan/identity-ladder.ts';
import { everyCombination, inHr, many, none, one, unproven } from './findings.ts';

const settled = { unsettledCreate: false };
const unsettled = { unsettledCreate: true };

/** A decision in a word or two: `create`, `link A`, `hold several-records`. */
function decide(findings: Finding[], state = settled): string {
  const decision = climbIdentityLadder(findings, state);
  if (decision.kind === 'link') return `link ${decision.ref.id}`;
  return decision.kind === 'hold' ? `hold ${decision.reason}` : 'create';
}

describe('a record found', () => {
  test.each<[string, Finding[], string]>([
    ['our reference links', [one('reference', 'A')], 'link A'],
    [
      'our reference links although the e-mail is another record’s',
      [one('reference', 'A'), one('email', 'B')],
      'link A',
    ],
    [
      'our reference links although several share the e-mail',
      [one('reference', 'A'), many('email', 'A', 'B')],
      'link A',
    ],
    ['our reference twice is a hold', [many('reference', 'A', 'B')], 'hold several-records'],
    [
      'reference and number of two records are a hold',
      [one('reference', 'A'), one('number', 'B')],
      'hold keys-disagree',
    ],
    [
      'a number of several records is a hold, even next to our reference',
      [one('reference', 'A'), many('number', 'A', 'B')],
      'hold several-records',
    ],
    ['e-mail alone never links', [none('reference'), one('email', 'A')], 'hold weak-evidence'],
    ['name and birth date alone never link', [none('reference'), one('person', 'A')], 'hold weak-evidence'],
    [
      'e-mail and person of one record are still a person’s decision',
      [none('reference'), one('email', 'A'), one('person', 'A')],
      'hold weak-evidence',
    ],
    [
      'number alone never links: numbers are given again',
      [none('reference'), one('number', 'A'), none('email')],
      'hold weak-evidence',
    ],
    ['number and e-mail of one record link', [none('reference'), one('number', 'A'), one('email', 'A')], 'link A'],
    [
      'number and person of one record link',
      [none('reference'), one('number', 'A'), none('email'), one('person', 'A')],
      'link A',
    ],
    [
      'number and e-mail of two records are a hold',
      [none('reference'), one('number', 'A'), one('email', 'B')],
      'hold keys-disagree',
    ],
    [
      'e-mail and person of two records are a hold',
      [none('reference'), one('email', 'A'), one('person', 'B')],
      'hold keys-disagree',
    ],
    ['several of one e-mail are a hold', [none('reference'), many('email', 'A', 'B')], 'hold several-records'],
    [
      'several of one name are a hold, whatever the number says',
      [one('number', 'A'), many('person', 'A', 'B')],
      'hold several-records',
    ],
  ])('%s', (_what, findings, expected) => {
    expect(decide(findings)).toBe(expected);
  });
});

describe('nothing found', () => {
  test.each<[string, Finding[], string, string]>([
    [
      'a trusted reference proves it, before and after an unsettled create',
      [none('reference'), unproven('email')],
      'create',
      'create',
    ],
    [
      'an untrusted reference proves nothing',
      [unproven('reference')],
      'hold absence-unproven',
      'hold absence-unproven',
    ],
    [
      'without a reference column an e-mail proves it for a first create only',
      [unproven('reference'), none('email')],
      'create',
      'hold absence-unproven',
    ],
    [
      'without a reference column a person proves it for a first create only',
      [unproven('reference'), none('person')],
      'create',
      'hold absence-unproven',
    ],
    [
      'e-mail and person together prove it after an unsettled create too',
      [unproven('reference'), none('email'), none('person')],
      'create',
      'create',
    ],
    [
      'one of the two untrusted proves nothing after an unsettled create',
      [unproven('reference'), none('email'), unproven('person')],
      'create',
      'hold absence-unproven',
    ],
    [
      'a number proves nothing: it is not the person’s',
      [unproven('reference'), none('number')],
      'hold absence-unproven',
      'hold absence-unproven',
    ],
    ['no question asked proves nothing', [], 'hold absence-unproven', 'hold absence-unproven'],
    [
      'a namesake without a birth date is a question; to an unsettled create they say nothing',
      [none('reference'), none('email'), one('name', 'A')],
      'hold same-name',
      'create',
    ],
    [
      'namesakes are named where nothing is proven, so that nobody is asked twice',
      [unproven('reference'), many('name', 'A', 'B')],
      'hold absence-unproven',
      'hold absence-unproven',
    ],
    ['a namesake says nothing against our reference', [one('reference', 'A'), one('name', 'B')], 'link A', 'link A'],
  ])('%s', (_what, findings, first, again) => {
    expect(decide(findings, settled)).toBe(first);
    expect(decide(findings, unsettled)).toBe(again);
  });
});

describe('after a create whose outcome is unknown', () => {
  test.each<[string, Finding[], string]>([
    ['our reference links', [one('reference', 'A')], 'link A'],
    [
      'e-mail and person of one record link: it is the one we sent, or the same human',
      [unproven('reference'), one('email', 'A'), one('person', 'A')],
      'link A',
    ],
    ['e-mail alone still never links', [unproven('reference'), one('email', 'A')], 'hold weak-evidence'],
    [
      'e-mail alone never links when the person is not found',
      [unproven('reference'), one('email', 'A'), none('person')],
      'hold weak-evidence',
    ],
    [
      'two records of the e-mail are a hold',
      [unproven('reference'), many('email', 'A', 'B'), one('person', 'A')],
      'hold several-records',
    ],
  ])('%s', (_what, findings, expected) => {
    expect(decide(findings, unsettled)).toBe(expected);
  });
});

test('a hold and a link carry which key found which record', () => {
  const refs = [{ ...inHr('A'), number: '000123' }, inHr('B')];
  const found: Found<KnownEmployee> = { kind: 'many', refs, by: 'email' };
  expect(climbIdentityLadder([none('reference'), { by: 'email', found }])).toEqual({
    kind: 'hold',
    reason: 'several-records',
    evidence: [{ by: 'email', refs }],
  });
  expect(climbIdentityLadder([one('reference', 'A'), one('email', 'B')])).toMatchObject({
    kind: 'link',
    evidence: [{ by: 'reference' }, { by: 'email', refs: [inHr('B')] }],
  });
});

test('every answer of every key leads to a decision, and only a reference or two agreeing keys ever link', () => {
  const all = everyCombination();
  expect(all).toHaveLength(6 ** 4);
  const wrong = all.flatMap((findings) =>
    [settled, unsettled].filter((state) => !isAllowed(findings, state)).map(() => findings),
  );
  expect(wrong).toEqual([]);
});

function isAllowed(findings: Finding[], state: typeof settled): boolean {
  const decision = climbIdentityLadder(findings, state);
  const hits = findings.filter(({ found }) => found.kind !== 'none');
  if (decision.kind === 'create') return hits.length === 0;
  if (decision.kind === 'hold') return true;
  const agreeing = hits.filter(({ found }) => found.kind === 'one' && found.ref.id === decision.ref.id);
  return agreeing.length >= 2 || agreeing.some(({ by }) => by === 'reference');
}
