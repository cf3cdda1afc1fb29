import fc from 'fast-check';
import { DateTime } from 'luxon';
import { describe, expect, test } from 'vitest';
import { type Transform, type TransformName, transforms, type Value } from '../../src/values/transforms.ts';

/** Cases a property; `HIREBRIDGE_CASES=10000` before an issue is closed. */
const numRuns = Number(process.env['HIREBRIDGE_CASES'] ?? 1_000);

const option: Partial<Record<TransformName, unknown>> = {
  money: { currency: 'EUR' },
  option: { values: ['Berlin', 'New York', 'Ōsaka'] },
  phone: { country: 'DE' },
};

function apply(name: TransformName, value: Value): ReturnType<Transform> {
  return (transforms[name] as Transform)(value, option[name]);
}

/** Names as people have them: diacritics, one word, right to left, emoji, blanks. */
const person = fc.oneof(
  fc.constantFrom(
    'Ñúñez',
    'Øyvind',
    'Nguyễn Văn A',
    'محمد',
    'שרה כהן',
    '王小明',
    'O’Brien-Smith',
    'Sukarno',
    '👩🏽‍🍳 Chef',
  ),
  fc.string({ unit: 'grapheme', minLength: 1 }),
);
const day = fc
  .integer({ min: 0, max: 200 * 365 })
  .map((days) => DateTime.fromISO('1900-01-01', { zone: 'utc' }).plus({ days }).toISODate() ?? '');
const instant = fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true });
const amount = fc.tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 0, max: 99 }));
const cents = amount.map(([whole, part]) => `${whole}.${String(part).padStart(2, '0')}`);
const leading = fc.stringMatching(/^0{1,5}\d{1,8}$/);

/** Values that a transform itself gives: what is canonical passes unchanged, however often. */
const canonical: Partial<Record<TransformName, fc.Arbitrary<Value>>> = {
  name: person.map((text) =>
    String(apply('name', text) && 'value' in apply('name', text) ? valueOf('name', text) : ''),
  ),
  trim: person.map((text) => text.trim()),
  lower: person.map((text) => text.toLowerCase()).filter((text) => text.toLowerCase() === text),
  date: day,
  instant: instant.map((at) => at.toISOString()),
  money: cents,
  option: fc.constantFrom('Berlin', 'New York', 'Ōsaka'),
  country: fc.constantFrom('DE', 'NZ', 'US', 'CI'),
  phone: fc.constantFrom('+4930901820', '+14155552671', '+6493739000'),
  list: fc.array(fc.string({ minLength: 1 }).filter((text) => text.trim() === text && text !== '')),
};

function valueOf(name: TransformName, value: Value): Value | undefined {
  const done = apply(name, value);
  if ('code' in done) throw new Error(`${name} refused ${JSON.stringify(value)}: ${done.code}`);
  return done.value;
}

describe('what is canonical passes unchanged', () => {
  test.each(Object.entries(canonical))('through %s', (name, values) => {
    fc.assert(
      fc.property(values, (value) => {
        expect(valueOf(name as TransformName, value)).toEqual(value);
      }),
      { numRuns },
    );
  });
});

describe('any value comes out once and for all, or is refused', () => {
  test.each(Object.keys(transforms))('%s', (name) => {
    const any = fc.oneof(
      person,
      day,
      cents,
      leading,
      fc.string({ unit: 'binary' }),
      fc.double().map(String),
      fc.array(person),
    );
    fc.assert(
      fc.property(any, (value) => {
        const once = apply(name as TransformName, value);
        if ('code' in once || once.value === undefined) return;
        expect(apply(name as TransformName, once.value)).toEqual({ value: once.value });
      }),
      { numRuns },
    );
  });
});

describe('nothing is bent', () => {
  test('a day stays that day in every time zone of its writer', () => {
    const zones = fc.constantFrom('Pacific/Auckland', 'America/Los_Angeles', 'Pacific/Kiritimati', 'UTC');
    fc.assert(
      fc.property(day, zones, fc.integer({ min: 0, max: 1_439 }), (date, zone, minute) => {
        const written = DateTime.fromISO(date, { zone }).startOf('day').plus({ minutes: minute });
        fc.pre(written.toISODate() === date);
        expect(valueOf('date', written.toISO() ?? '')).toBe(date);
      }),
      { numRuns },
    );
  });

  test('leading zeros survive every transform of text', () => {
    fc.assert(
      fc.property(leading, (text) => {
        for (const name of ['trim', 'name', 'upper', 'lower'] as const) expect(valueOf(name, text)).toBe(text);
      }),
      { numRuns },
    );
  });

  test('an amount keeps its value to the cent, or is refused', () => {
    fc.assert(
      fc.property(fc.oneof(cents, fc.double().map(String), fc.constantFrom('1e21', '1,200', '.5', '')), (text) => {
        const done = apply('money', text);
        if ('code' in done) return;
        expect(done.value).toBe(
          text.includes('.') ? text.replace(/(\.\d)$/, '$10').replace(/(\.\d\d)0*$/, '$1') : `${text}.00`,
        );
      }),
      { numRuns },
    );
  });

  test('a number keeps every digit, or is refused', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^-?\d{1,25}(\.\d{1,10})?$/), (text) => {
        const done = apply('number', text);
        if ('code' in done) return;
        const [, fraction = ''] = text.split('.');
        const digits = (decimal: string): bigint => BigInt(decimal.replace('.', ''));
        expect(digits(Number(done.value).toFixed(fraction.length))).toBe(digits(text));
      }),
      { numRuns },
    );
  });
});
