import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decodeValue, encodeValue } from '../../src/mapping/custom-fields.ts';
import { fieldTypes } from '../../src/partner/contract/custom-fields.ts';
import { type CustomField, storedForm } from '../../src/sandbox/records/custom-fields.ts';

const numRuns = Number(process.env['HIREBRIDGE_CASES'] ?? 300);
const options = ['Early', 'Late', 'Zürich "HB"', '["x"]', '名前', ' '];
const day = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 10));
const decimal = fc
  .tuple(fc.integer(), fc.integer({ min: 0, max: 4 }))
  .map(([digits, places]) => Number((digits / 10 ** places).toFixed(places)))
  .map((number) => (Object.is(number, -0) ? 0 : number));

const canonical: Record<(typeof fieldTypes)[number], fc.Arbitrary<string | number | boolean | string[]>> = {
  text: fc.string({ unit: 'binary' }),
  textarea: fc.string({ unit: 'grapheme', maxLength: 10_000 }),
  select: fc.constantFrom(...options),
  'multi-select': fc.subarray(options),
  number: decimal,
  date: day,
  checkbox: fc.boolean(),
};

describe.each(fieldTypes)('a canonical value of a %s field', (type) => {
  const form = { type, options };
  test('comes back unchanged from the form that is sent, from the stored form and from its text', () => {
    fc.assert(
      fc.property(canonical[type], (value) => {
        const encoded = encodeValue(form, value);
        if (!('sent' in encoded)) throw new Error(`${JSON.stringify(value)} ${encoded.wrong}`);
        const stored = storedForm({ fieldType: type, options } as unknown as CustomField, encoded.sent);
        expect(decodeValue(type, encoded.sent)).toEqual(value);
        expect(decodeValue(type, stored)).toEqual(value);
        if (type === 'number' || type === 'checkbox') expect(decodeValue(type, String(value))).toEqual(value);
      }),
      { numRuns },
    );
  });
});

test.each([
  ['number', '007', 'takes a number'],
  ['number', '1234567890123456789', 'takes a number'],
  ['number', '-', 'takes a number'],
  ['number', '1e21', 'takes a number'],
  ['number', 1e21, 'takes a number'],
  ['number', true, 'takes a number'],
  ['text', 1e21, 'takes a text'],
  ['text', ['a'], 'takes a text'],
  ['select', 'early', 'takes one of its options'],
  ['multi-select', ['Early', 'Gone'], 'takes a list of its options'],
  ['multi-select', 'Early', 'takes a list of its options'],
  ['date', '2027-02-30', 'takes a day as YYYY-MM-DD'],
  ['date', '2027-01-11T00:00:00Z', 'takes a day as YYYY-MM-DD'],
  ['checkbox', 'yes', 'takes true or false'],
] as const)('a %s field refuses %j instead of changing it', (type, value, wrong) => {
  expect(encodeValue({ type, options }, value as string)).toEqual({ wrong });
});

test('section 2.5: a multi-select is stored as JSON text, a number as a decimal, a checkbox as true or false', () => {
  expect(decodeValue('multi-select', '["Early","Late"]')).toEqual(['Early', 'Late']);
  expect(decodeValue('number', '12.5')).toBe(12.5);
  expect(decodeValue('number', '12.50')).toBe('12.50');
  expect(decodeValue('checkbox', 'true')).toBe(true);
  expect(decodeValue('multi-select', 'Early, Late')).toBe('Early, Late');
});

test('a number field takes money as it is written, and keeps its value', () => {
  expect(encodeValue({ type: 'number' }, '1200.50')).toEqual({ sent: 1200.5 });
});
