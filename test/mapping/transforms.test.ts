import { describe, expect, test } from 'vitest';
import { bareText } from '../../src/mapping/source-fields.ts';
import { type Transform, type TransformName, transforms, type Value } from '../../src/values/transforms.ts';

function run(name: TransformName, value: Value, option?: unknown): Value | undefined {
  const done = (transforms[name] as Transform)(value, option);
  return 'code' in done ? done.code : done.value;
}

const days = (...formats: string[]) => ({ formats });

test.each<[TransformName, Value, Value | undefined, unknown?]>([
  ['trim', '  a b ', 'a b'],
  ['trim', [' a ', 'b'], ['a', 'b']],
  ['lower', 'ÀB', 'àb'],
  ['upper', 'straße', 'STRASSE'],
  ['titleCase', 'ANNE-MARIE o’neill van der berg', 'Anne-Marie O’Neill Van Der Berg'],
  ['login', 'Ána María.Sílva@Acme.example', 'anamaria.silva@acme.example'],
  ['login', 'Łukasz.Żółć', 'lukasz.zolc'],
  ['login', "Mary-Ann.O'Neill", 'mary-ann.oneill'],
  ['login', 'Đặng.Thị', 'dang.thi'],
  ['login', '.Straße..Øre.', 'strasse.ore'],
  ['login', '李.小龙', 'li.xiaolong'],
  ['login', '...', 'NOT_A_LOGIN'],
  ['login', '@acme.example', 'NOT_A_LOGIN'],
  ['login', 'a@b@c', 'NOT_A_LOGIN'],
  ['number', ' 12.50 ', 12.5],
  ['number', '1,200', 'NOT_A_NUMBER'],
  ['number', '1e3', 'NOT_A_NUMBER'],
  ['boolean', 'Yes', true],
  ['boolean', '0', false],
  ['boolean', true, true],
  ['boolean', 'maybe', 'NOT_A_BOOLEAN'],
  ['boolean', 'constructor', 'NOT_A_BOOLEAN'],
  ['boolean', '__proto__', 'NOT_A_BOOLEAN'],
  ['instant', 1_800_000_000_000, '2027-01-15T08:00:00.000Z'],
  ['instant', '1800000000', '2027-01-15T08:00:00.000Z'],
  ['instant', '2027-01-15T09:00:00+01:00', '2027-01-15T08:00:00.000Z'],
  ['instant', 1_800_000_000_000_000, 'NOT_AN_INSTANT'],
  ['instant', '0000-01-01T00:00:00+01:00', 'NOT_AN_INSTANT'],
  ['instant', 'soon', 'NOT_AN_INSTANT'],
  ['list', '[{"name":"Go"}]', 'WRONG_TYPE'],
  ['list', '["Go", null]', 'WRONG_TYPE'],
  ['instant', 'Room 5', 'NOT_AN_INSTANT'],
  ['instant', '11.01.2027', 'NOT_AN_INSTANT'],
  ['instant', '2027-02-30', 'NOT_AN_INSTANT'],
  ['instant', '20270111', 'NOT_AN_INSTANT'],
  ['instant', '2027-01-15', '2027-01-15T00:00:00.000Z'],
  ['instant', '2027-01-15T08:00:00', '2027-01-15T08:00:00.000Z'],
  ['instant', '2027-01-15 09:00:00.5+0100', '2027-01-15T08:00:00.500Z'],
  ['first', ['', 'b', 'c'], 'b'],
  ['first', [], undefined],
  ['first', 'a', 'a'],
  ['join', ['a', '', 'b'], 'a b'],
  ['join', ['a', 'b'], 'a, b', { separator: ', ' }],
  ['split', 'a, b,,c', ['a', 'b', 'c']],
  ['split', 'a;b', ['a', 'b'], { separator: ';' }],
  ['list', '["a, b","c"]', ['a, b', 'c']],
  ['list', 'a, b', ['a', 'b']],
  ['list', '[not json', ['[not json']],
])('%s of %j is %j', (name, value, expected, option) => {
  expect(run(name, value, option)).toEqual(expected);
});

describe('date', () => {
  test.each<[string, string, { formats: string[] } | undefined]>([
    ['2026-02-28', '2026-02-28', undefined],
    ['2026-02-30', 'NOT_A_DATE', undefined],
    ['2026-2-3', 'NOT_A_DATE', undefined],
    ['28.02.2026', 'NOT_A_DATE', undefined],
    // The day as it is written, whatever the zone: a hire at 23:30 in Manila starts on that day.
    ['2026-02-28T23:30:00+08:00', '2026-02-28', undefined],
    ['28.02.2026', '2026-02-28', days('dd.MM.yyyy')],
    ['Feb 28, 2026', '2026-02-28', days('dd.MM.yyyy', 'MMM d, yyyy')],
    ['31/12/2026', '2026-12-31', days('dd/MM/yyyy', 'MM/dd/yyyy')],
    ['03/04/2026', 'AMBIGUOUS_DATE', days('dd/MM/yyyy', 'MM/dd/yyyy')],
    ['04/04/2026', '2026-04-04', days('dd/MM/yyyy', 'MM/dd/yyyy')],
    ['2026-02-28', 'NOT_A_DATE', days('dd.MM.yyyy')],
  ])('%s is %s', (text, expected, option) => {
    expect(run('date', text, option)).toBe(expected);
  });
});

describe('phone', () => {
  test.each<[string, string, string | undefined]>([
    ['+63 917 123 4567', '+639171234567', undefined],
    ['0917 123 4567', '+639171234567', 'PH'],
    ['0917 123 4567', 'NOT_A_PHONE', undefined],
    ['+63 917 123 4567', '+639171234567', 'DE'],
    ['12', 'NOT_A_PHONE', 'PH'],
    ['020 7946 0958 x123', 'NOT_A_PHONE', 'GB'],
    ['DOB 1990 030 901820', 'NOT_A_PHONE', 'DE'],
    [' +49 30 901820 ', '+4930901820', undefined],
  ])('%s is %s, read in %s', (text, expected, country) => {
    expect(run('phone', text, country === undefined ? undefined : { country })).toBe(expected);
  });
});

test.each([
  ['Philippines', 'PH'],
  ['ph', 'PH'],
  ['PHL', 'PH'],
  ['USA', 'US'],
  ['United Kingdom', 'GB'],
  ['Atlantis', 'NOT_A_COUNTRY'],
  ['XX', 'NOT_A_COUNTRY'],
])('the country %s is %s', (text, expected) => {
  expect(run('country', text)).toBe(expected);
});

test('millions of blanks or dashes inside a text keep nobody waiting', () => {
  // In quadratic time either would take half an hour.
  const [blanks, dashes] = [' '.repeat(2_000_000), '-'.repeat(2_000_000)];
  expect(bareText(`a${blanks}b${blanks}`)).toHaveLength(2_000_002);
  expect(run('login', `a${dashes}b${dashes}`)).toHaveLength(2_000_002);
});

test('invisible characters around a text go, those inside and letters outside the basic plane stay', () => {
  expect(bareText('\u200b \u{e0001}𠀀\u200bb\u{e0001}\ufeff ')).toBe('𠀀\u200bb');
});
