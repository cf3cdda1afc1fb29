import { describe, expect, test } from 'vitest';
import { isShown, missingTargets, type TargetValue } from '../../src/plan/plan-write-back.ts';

const written = { status: 'hired', employeeId: '000123' };

describe('an enrolment', () => {
  test.each<[string, unknown, boolean]>([
    ['shows both', { status: 'hired', employeeId: '000123' }, true],
    ['shows both beside other keys', { status: 'hired', employeeId: '000123', updatedAt: 'x' }, true],
    ['shows the id as a number, whose zeros are gone', { status: 'hired', employeeId: 123 }, false],
    ['shows another id', { status: 'hired', employeeId: '000124' }, false],
    ['shows another status', { status: 'pending', employeeId: '000123' }, false],
    ['shows the id alone', { employeeId: '000123' }, false],
    ['shows the status alone', { status: 'hired' }, false],
    ['shows nothing', null, false],
    ['has no such key', undefined, false],
    ['shows a text', 'hired', false],
  ])('%s', (_what, externalStatus, expected) => {
    expect(isShown(externalStatus, written)).toBe(expected);
  });

  test('an id of digits may come back as a number', () => {
    expect(isShown({ status: 'hired', employeeId: 123 }, { status: 'hired', employeeId: '123' })).toBe(true);
  });

  test('an absent id is not taken for an empty one', () => {
    expect(isShown({ status: 'hired' }, { status: 'hired', employeeId: '' })).toBe(false);
  });
});

describe('a custom field', () => {
  test.each<[string, TargetValue['value'], unknown, boolean]>([
    ['a text comes back', 'Ada', 'Ada', true],
    ['another text', 'Ada', 'Bea', false],
    ['a text of other case is another', 'Ada', 'ada', false],
    ['a text of digits comes back as a number', '123', 123, true],
    ['zeros before a number are part of a text', '0123', 123, false],
    ['a number comes back', 7, 7, true],
    ['a number as a decimal text', 7, '7.00', true],
    ['a fraction as a decimal text', 7.5, '7.50', true],
    ['another number', 7, '8', false],
    ['a number where nothing is shown', 7, undefined, false],
    ['zero where nothing is shown', 0, undefined, false],
    ['zero where the field is empty', 0, null, false],
    ['zero where the text is empty', 0, '', false],
    ['zero comes back', 0, '0.00', true],
    ['a truth comes back', true, true, true],
    ['a truth as text', true, 'true', true],
    ['a truth turned round', true, false, false],
    ['a list comes back', ['a', 'b'], ['a', 'b'], true],
    ['a list as JSON text', ['a', 'b'], '["a","b"]', true],
    ['a list as JSON text with blanks', ['a', 'b'], '["a", "b"]', true],
    ['a list as JSON text with escapes', ['Zürich', 'a/b'], String.raw`["Z\u00fcrich","a\/b"]`, true],
    ['a list as JSON text in another order', ['a', 'b'], '["b","a"]', false],
    ['a list in another order', ['a', 'b'], ['b', 'a'], false],
    ['a list that lacks one', ['a', 'b'], ['a'], false],
    ['a list joined by commas is another text', ['a', 'b'], 'a,b', false],
    ['an empty list', [], '[]', true],
    ['a text where nothing is shown', 'Ada', undefined, false],
    ['a text where the field is empty', 'Ada', null, false],
    ['the name Null where the field is empty', 'null', null, false],
    ['the name Undefined where nothing is shown', 'undefined', undefined, false],
    ['the name Null comes back', 'null', 'null', true],
    ['an empty text where nothing is shown', '', undefined, false],
    ['an empty text comes back', '', '', true],
    ['zero where an empty list is shown', 0, [], false],
    ['zero where blanks are shown', 0, ' ', false],
    ['zero where false is shown', 0, false, false],
    ['one where true is shown', 1, true, false],
    ['a number in a list of one', 7, [7], false],
    ['a truth where the field is empty', false, null, false],
    ['an empty list where nothing is shown', [], undefined, false],
    ['an empty list where the field is empty', [], null, false],
  ])('%s', (_what, sent, shown, isThere) => {
    const missing = missingTargets([{ customFieldId: 'cf-1', value: sent }], new Map([['cf-1', shown]]));
    expect(missing).toEqual(isThere ? [] : ['cf-1']);
  });
});

describe('several targets', () => {
  const expected = [
    { customFieldId: 'cf-1', value: 'Ada' },
    { customFieldId: 'cf-2', value: 7 },
    { customFieldId: 'cf-3', value: ['a'] },
  ];

  test.each<[string, Array<[string, unknown]>, string[]]>([
    [
      'all are shown',
      [
        ['cf-1', 'Ada'],
        ['cf-2', '7.0'],
        ['cf-3', '["a"]'],
      ],
      [],
    ],
    ['one is', [['cf-2', 7]], ['cf-1', 'cf-3']],
    ['none is', [], ['cf-1', 'cf-2', 'cf-3']],
    ['the value of one stands in another', [['cf-2', 'Ada']], ['cf-1', 'cf-2', 'cf-3']],
    ['fields that nobody wrote do not matter', [['cf-9', 'x']], ['cf-1', 'cf-2', 'cf-3']],
  ])('%s', (_what, shown, missing) => {
    expect(missingTargets(expected, new Map(shown))).toEqual(missing);
  });

  test('nothing expected, nothing missing', () => {
    expect(missingTargets([], new Map([['cf-1', 'Ada']]))).toEqual([]);
  });
});
