import { describe, expect, test } from 'vitest';
import {
  type Answer,
  answers,
  asksToCancel,
  type Decisions,
  decide,
  entryOf,
  type Given,
  undecided,
} from '../../src/hire/answers.ts';

function given(answer: string, argument?: string, details: Record<string, unknown> = {}): Given & { answer: string } {
  return { answer, argument, details };
}

describe('what one answer decides', () => {
  test.each<[string, Given & { answer: string }, Partial<Decisions>]>([
    ['retry decides nothing', given('retry'), {}],
    ['dismiss decides nothing', given('dismiss'), {}],
    ['cancel decides nothing: it is a step', given('cancel'), {}],
    ['keep decides nothing: it is an end', given('keep'), {}],
    ['left decides nothing: it is an end', given('left'), {}],
    ['adopt names the enrolment', given('adopt', 'oc-7'), { adopt: 'oc-7' }],
    ['adopt without an id names none', given('adopt'), {}],
    ['skip-onboarding skips it', given('skip-onboarding'), { skipOnboarding: true }],
    ['create-anyway goes on without the onboarding', given('create-anyway'), { createAnyway: true }],
    ['same-employee', given('same-employee'), { person: 'same-employee' }],
    ['transfer', given('transfer'), { person: 'transfer' }],
    ['new-employment', given('new-employment'), { person: 'new-employment' }],
    ['link names the employee', given('link', '42'), { link: '42' }],
    ['link without an id names none', given('link'), {}],
    ['create to nobody shown', given('create'), {}],
    [
      'create denies everybody who was shown',
      given('create', undefined, { employeeIds: ['7', '8'] }),
      { notThese: new Set(['7', '8']) },
    ],
    [
      'ids that were kept as numbers are the same ids',
      given('create', undefined, { employeeIds: [7] }),
      { notThese: new Set(['7']) },
    ],
    [
      'create where the HR system proves nothing vouches for it',
      given('create', undefined, { employeeIds: [], reason: 'absence-unproven' }),
      { createUnproven: true },
    ],
    [
      'create where the partner was told of an employee says that they are gone',
      given('create', undefined, { told: '1007' }),
      { createUnproven: true },
    ],
    [
      'create for another reason vouches for nothing',
      given('create', undefined, { employeeIds: ['7'], reason: 'weak-evidence' }),
      { notThese: new Set(['7']) },
    ],
    [
      'create denies the attempt that was asked about',
      given('create', undefined, { employeeIds: [], attempt: 2 }),
      { neverHappened: new Set([2]) },
    ],
    ['details of another form deny nobody', given('create', undefined, { employeeIds: '7', attempt: '2' }), {}],
    ['a word that is no answer', given('perhaps'), {}],
    ['a word that every object knows', given('constructor'), {}],
  ])('%s', (_what, answer, expected) => {
    expect(decide([answer])).toMatchObject({ ...undecided, ...expected });
  });
});

describe('several answers', () => {
  test('nothing answered decides nothing', () => {
    expect(decide([])).toEqual(undecided);
  });

  test('the last word on one question counts, and other questions keep theirs', () => {
    const decisions = decide([given('transfer'), given('skip-onboarding'), given('new-employment')]);
    expect(decisions).toMatchObject({ person: 'new-employment', skipOnboarding: true });
  });

  test('the last employee named counts', () => {
    expect(decide([given('link', '7'), given('link', '8')]).link).toBe('8');
  });

  test('a retry takes nothing back', () => {
    expect(decide([given('link', '7'), given('retry')]).link).toBe('7');
  });

  test('whoever was denied once stays denied', () => {
    const shown = (...employeeIds: string[]) => given('create', undefined, { employeeIds });
    expect(decide([shown('7'), shown('8', '9'), given('retry')]).notThese).toEqual(new Set(['7', '8', '9']));
  });

  test('each attempt is denied for itself', () => {
    const of = (attempt: number) => given('create', undefined, { attempt });
    expect(decide([of(1), of(3)]).neverHappened).toEqual(new Set([1, 3]));
  });

  test('re-enrol takes back the enrolment named before and the word that none is needed', () => {
    const decisions = decide([given('adopt', 'oc-7'), given('create-anyway'), given('re-enrol')]);
    expect(decisions).toMatchObject({ adopt: undefined, createAnyway: false });
  });

  test('an enrolment named after re-enrol counts again', () => {
    expect(decide([given('re-enrol'), given('adopt', 'oc-8')]).adopt).toBe('oc-8');
  });
});

test('an employee that the question showed is linked whatever the name; any other id counts as typed', () => {
  const shown = { argument: '7', details: { employeeIds: ['7', '8'] } };
  expect(decide([{ answer: 'link', ...shown }])).toMatchObject({ link: '7', linkAnyway: '7' });
  expect(decide([{ answer: 'link', ...shown, argument: '9' }])).toMatchObject({ link: '9' });
  expect(decide([{ answer: 'link', ...shown, argument: '9' }]).linkAnyway).toBeUndefined();
});

describe('the catalogue', () => {
  const names = Object.keys(answers) as Answer[];

  test.each<[string, string[]]>([
    ['same', 'retry same-employee transfer new-employment here-too link link-anyway same-person create'.split(' ')],
    ['enrol', ['adopt', 'adopt-anyway', 'take-anyway']],
    ['re-enrol', ['re-enrol']],
    ['employ', ['skip-onboarding', 'job-as-known', 'start-in-past', 'create-anyway']],
    ['cancel', ['cancel']],
    ['ended', ['keep', 'left']],
    ['nowhere', ['dismiss', 'keep-partner', 'keep-hris', 'apply', 'link-job', 'create-job']],
  ])('answers that lead to %s', (next, expected) => {
    expect(names.filter((name) => (entryOf(name)?.next ?? 'nowhere') === next)).toEqual(expected);
  });

  test('an answer leads to the end if it names the state that the hire ends in', () => {
    const ending = names.filter((name) => entryOf(name)?.ends !== undefined);
    expect(ending).toEqual(names.filter((name) => entryOf(name)?.next === 'ended'));
  });

  test('answers that need an id say what it is', () => {
    const taking = names.flatMap((name) => (entryOf(name)?.takes ? [`${name} ${entryOf(name)?.takes}`] : []));
    expect(taking).toEqual(['adopt id', 'link-job jobId', 'link employeeId']);
  });

  test('a word that is no answer has no entry', () => {
    expect([entryOf('perhaps'), entryOf('')]).toEqual([undefined, undefined]);
  });

  test.each(['constructor', 'toString', 'hasOwnProperty', '__proto__'])(
    '%s, known to every object, has none',
    (word) => {
      expect(entryOf(word)).toBeUndefined();
    },
  );
});

describe('whether the last word is cancel', () => {
  test.each<[string, string[], boolean]>([
    ['nothing was said', [], false],
    ['it is', ['cancel'], true],
    ['it is, after other words', ['transfer', 're-enrol', 'cancel'], true],
    ['it is, and was tried again and again', ['cancel', 'retry', 'retry'], true],
    ['another word came after it', ['cancel', 'link'], false],
    ['another word came after it and was tried again', ['cancel', 'create', 'retry'], false],
    ['a retry alone says nothing', ['retry'], false],
    ['it was said again', ['cancel', 'link', 'cancel'], true],
  ])('%s', (_what, words, expected) => {
    expect(asksToCancel(words.map((answer) => ({ answer })))).toBe(expected);
  });
});
