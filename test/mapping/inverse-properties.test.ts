import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, test } from 'vitest';
import {
  type Inverse,
  inverses,
  type Transform,
  type TransformName,
  transforms,
  type Value,
} from '../../src/values/transforms.ts';

/** Cases a property; `HIREBRIDGE_CASES=10000` before an issue is closed. */
const numRuns = Number(process.env['HIREBRIDGE_CASES'] ?? 1_000);

const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.string());
const day = fc
  .integer({ min: 0, max: 200 * 365 })
  .map((days) => DateTime.fromISO('1900-01-01', { zone: 'utc' }).plus({ days }).toISODate() ?? '');
const decimal = fc.tuple(fc.integer(), fc.nat(99)).map(([whole, part]) => `${whole}.${String(part).padStart(2, '0')}`);
const words = fc.array(fc.string(), { maxLength: 5 });
const options = { values: ['Berlin', 'New York', 'Ōsaka'] };

/** Values near those that each transform takes, and its options. */
const kinds: Record<string, [name: TransformName, values: fc.Arbitrary<Value>, option?: unknown]> = {
  trim: ['trim', text],
  lower: ['lower', text],
  upper: ['upper', text],
  titleCase: ['titleCase', text],
  name: ['name', text],
  date: ['date', day],
  'date dd.MM.yyyy': ['date', day.map((at) => at.split('-').toReversed().join('.')), { formats: ['dd.MM.yyyy'] }],
  'date dd.MM.yy': ['date', day.map((at) => at.slice(2).split('-').toReversed().join('.')), { formats: ['dd.MM.yy'] }],
  instant: ['instant', fc.date({ min: new Date(0), noInvalidDate: true }).map((at) => at.toISOString())],
  phone: ['phone', fc.constantFrom('+4930901820', '030 901820', '+14155552671'), { country: 'DE' }],
  country: ['country', fc.constantFrom('DE', 'Germany', 'deu', 'NZ', 'Côte d’Ivoire')],
  number: ['number', fc.oneof(decimal, fc.double().map(String), fc.double(), fc.integer())],
  money: ['money', decimal, { currency: 'EUR' }],
  option: ['option', fc.constantFrom('Berlin', 'new york', 'ŌSAKA '), options],
  boolean: ['boolean', fc.oneof(fc.boolean(), fc.constantFrom('yes', 'No', '1'))],
  split: [
    'split',
    fc.oneof(
      text,
      words.map((all) => all.join(',')),
    ),
  ],
  'split ;': [
    'split',
    fc.oneof(
      text,
      words.map((all) => all.join(';')),
    ),
    { separator: ';' },
  ],
  list: [
    'list',
    fc.oneof(
      text,
      words,
      words.map((all) => JSON.stringify(all)),
    ),
  ],
};

const cases = Object.entries(kinds).map(([label, [name, values, option]]) => {
  const inverse = inverses[name] as Inverse;
  const forth = (value: Value): ReturnType<Transform> => (transforms[name] as Transform)(value, option);
  const back = (value: Value): ReturnType<Transform> => inverse.back(value, option);
  return { label, inverse, values, option, forth, back };
});

test('every transform is played here, or says why it cannot be undone', () => {
  const played = new Set(Object.values(kinds).map(([name]) => name));
  const others = Object.entries(inverses).filter(([name]) => !played.has(name as TransformName));
  expect(others).toEqual([
    ['login', { none: expect.stringContaining('login') }],
    ['first', { none: expect.stringContaining('first') }],
    ['join', { none: expect.stringContaining('join') }],
  ]);
});

describe.each(cases)('$label', ({ inverse, values, option, forth, back }) => {
  test('a canonical value comes back as it went', () => {
    let canonical = 0;
    fc.assert(
      fc.property(values, (value) => {
        if (!inverse.isCanonical(value, option)) return;
        const there = forth(value);
        if ('code' in there || there.value === undefined) throw new Error('a canonical value was refused');
        expect(back(there.value)).toEqual({ value });
        canonical += 1;
      }),
      { numRuns },
    );
    expect(canonical).toBeGreaterThan(numRuns / 100);
  });

  test('whatever comes back is canonical, and goes there as it came', () => {
    fc.assert(
      fc.property(values, (value) => {
        const there = forth(value);
        if ('code' in there || there.value === undefined) return;
        const again = back(there.value);
        if ('code' in again || again.value === undefined) return;
        expect(inverse.isCanonical(again.value, option)).toBe(true);
        expect(forth(again.value)).toEqual(there);
      }),
      { numRuns },
    );
  });
});
