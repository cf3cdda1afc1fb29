import { describe, expect, test } from 'vitest';
import type { FieldValue } from '../../src/hire/hire.ts';
import {
  employeeIdToWrite,
  mappedTargets,
  targetAfterRefusal,
  targetOf,
  unreadableForMs,
} from '../../src/plan/plan-write-back.ts';

describe('the Employee ID', () => {
  test.each<['number' | 'id', string | null, string]>([
    ['number', '000123', '000123'],
    ['id', '000123', 'e-7'],
    ['id', null, 'e-7'],
  ])('as %s, with number %s, is %s', (wanted, number, expected) => {
    expect(employeeIdToWrite(wanted, { id: 'e-7', number })).toBe(expected);
  });

  test('a number that the HR system has not given yet is a question, never the id in its place', () => {
    expect(() => employeeIdToWrite('number', { id: 'e-7', number: null })).toThrow(
      expect.objectContaining({ code: 'EMPLOYEE_NUMBER_MISSING', action: 'reject' }),
    );
    expect(() => employeeIdToWrite('number', { id: 'e-7', number: null })).toThrow(
      /employee e-7 .* writeBack.employeeId/,
    );
  });

  test('leading zeros stay', () => {
    expect(employeeIdToWrite('number', { id: 'e-7', number: '0007' })).toBe('0007');
  });
});

describe('where the ID goes', () => {
  const enrolled = { jobCandidateId: '5012', onboardingCandidateId: 'oc-7' };
  const skipped = { jobCandidateId: '5012', onboardingCandidateId: null };

  test.each<[string, typeof enrolled | typeof skipped, string | undefined, unknown]>([
    ['the enrolment', enrolled, undefined, { verdict: 'enrolment', onboardingCandidateId: 'oc-7' }],
    ['the enrolment before the field', enrolled, 'cf-1', { verdict: 'enrolment', onboardingCandidateId: 'oc-7' }],
    ['the field without an enrolment', skipped, 'cf-1', { verdict: 'custom-field', customField: 'cf-1' }],
  ])('%s', (_what, hire, customField, expected) => {
    expect(targetOf(hire, customField)).toEqual(expected);
  });

  test('with neither, a person is asked and the job candidate named', () => {
    expect(targetOf(skipped, undefined)).toMatchObject({
      hold: { code: 'WRITE_BACK_TARGET_MISSING', details: { jobCandidateId: '5012' } },
    });
  });

  const refused = { onboardingCandidateId: 'oc-7', refusal: 'INVALID_STATE', status: 'terminated' };

  test('a field takes what the enrolment refuses', () => {
    expect(targetAfterRefusal(refused, 'cf-1')).toEqual({ verdict: 'custom-field', customField: 'cf-1' });
  });

  test('without a field the refusal is a question that names enrolment, refusal and status', () => {
    expect(targetAfterRefusal(refused, undefined)).toMatchObject({
      hold: { code: 'WRITE_BACK_REFUSED', answers: ['retry', 'keep'], details: refused },
    });
  });

  test('a status nobody read yet does not keep the question from being asked', () => {
    expect(targetAfterRefusal({ ...refused, status: null }, undefined)).toMatchObject({
      hold: { code: 'WRITE_BACK_REFUSED' },
    });
  });
});

describe('values written back beside the ID', () => {
  const wanted = [
    { customFieldId: 'cf-1', field: 'workEmail' },
    { customFieldId: 'cf-2', field: 'manager' },
  ];

  test.each<[string, Record<string, FieldValue>, Array<[string, unknown]>]>([
    [
      'each in its field',
      { workEmail: 'ada@acme.example', manager: 'e-1' },
      [
        ['cf-1', 'ada@acme.example'],
        ['cf-2', 'e-1'],
      ],
    ],
    ['one that is not there is left as it is', { manager: 'e-1' }, [['cf-2', 'e-1']]],
    ['one that is empty is left as it is', { workEmail: null, manager: 'e-1' }, [['cf-2', 'e-1']]],
    ['false is a value', { manager: false }, [['cf-2', false]]],
    ['zero is a value', { manager: 0 }, [['cf-2', 0]]],
    ['an empty text is a value', { workEmail: '' }, [['cf-1', '']]],
    ['a list is a value', { manager: ['e-1', 'e-2'] }, [['cf-2', ['e-1', 'e-2']]]],
    ['fields nobody asked for stay here', { birthDate: '1990-01-01' }, []],
    ['nothing known', {}, []],
  ])('%s', (_what, fields, expected) => {
    expect(mappedTargets(wanted, fields).map(({ customFieldId, value }) => [customFieldId, value])).toEqual(expected);
  });

  test('a tenant that wants none writes none', () => {
    expect(mappedTargets([], { workEmail: 'ada@acme.example' })).toEqual([]);
  });

  test('one field may go to two targets', () => {
    const both = ['cf-1', 'cf-2'].map((customFieldId) => ({ customFieldId, field: 'manager' }));
    expect(mappedTargets(both, { manager: 'e-1' })).toHaveLength(2);
  });
});

describe('how long an employee may stay unreadable', () => {
  test.each<[string, { decided_at: number | null; now: number } | undefined, number, number, number?]>([
    ['one that was there before: no time at all', undefined, 5_000, 0],
    [
      'one that others finished days later: the lag from then on',
      { decided_at: 1_000, now: 61_000 },
      5_000,
      4_000,
      60_000,
    ],
    ['one made this moment: the whole lag', { decided_at: 1_000, now: 1_000 }, 5_000, 5_000],
    ['one made a while ago: the rest of the lag', { decided_at: 1_000, now: 4_000 }, 5_000, 2_000],
    ['the last millisecond', { decided_at: 1_000, now: 5_999 }, 5_000, 1],
    ['the end of the lag', { decided_at: 1_000, now: 6_000 }, 5_000, 0],
    ['long after the lag', { decided_at: 1_000, now: 60_000 }, 5_000, 0],
    ['a system without a lag', { decided_at: 1_000, now: 1_000 }, 0, 0],
    ['an attempt nobody decided yet: the whole lag', { decided_at: null, now: 9_000 }, 5_000, 5_000],
  ])('%s', (_what, creation, readLagMs, expected, linkedAt) => {
    expect(unreadableForMs(creation, readLagMs, linkedAt)).toBe(expected);
  });
});
