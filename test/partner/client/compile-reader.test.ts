import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { compileReader, UNFIT } from '../../../src/partner/client/read-answer.ts';
import { allEndpoints } from '../../../src/partner/contract/index.ts';

const items = allEndpoints().flatMap(({ id, list }) => (list === undefined ? [] : [{ id, schema: list.item }]));

/** Names of fields at any depth, so that what is generated meets what nested schemas ask. */
const names = ['id', 'title', 'degree', 'label', 'value', 'name', 'jobId', 'stages', 'options', 'other', '__proto__'];
const texts = fc.constantFrom(
  '',
  'a',
  ' A@Example.COM ',
  'a, b,',
  '12',
  '-7',
  '1.5',
  '2026-01-02T03:04:05.000Z',
  'true',
);
const leaf = fc.oneof(texts, fc.string(), fc.constantFrom(null, true, false, 0, -1, 12, 1.5, 1e21, 1_760_000_000_000));
const { json } = fc.letrec((tie) => ({
  json: fc.oneof({ maxDepth: 3 }, { weight: 3, arbitrary: leaf }, tie('list'), tie('record')),
  list: fc.array(tie('json'), { maxLength: 3 }),
  record: fc.dictionary(fc.constantFrom(...names), tie('json'), { maxKeys: 4 }),
}));

/** Records with an id, of which only a few fields are filled: with many, hardly any would fit. */
function recordsOf(schema: z.ZodType): fc.Arbitrary<unknown> {
  const fields = schema instanceof z.ZodObject ? Object.keys(schema.shape) : names;
  const some = fc.dictionary(fc.constantFrom(...fields, 'other'), json, { maxKeys: 3 });
  const records = fc.tuple(fc.constantFrom<unknown>(1, '1', 'x', null), some).map(([id, rest]) => ({ id, ...rest }));
  return fc.oneof({ weight: 9, arbitrary: records }, json).map(asParsed);
}

const asParsed = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

test.each(items)('$id: a compiled reader gives what zod gives', ({ schema }) => {
  const read = compileReader(schema);
  fc.assert(
    fc.property(recordsOf(schema), (record) => {
      const before = JSON.stringify(record);
      const parsed = schema.safeParse(record);
      const found = read(record);
      expect(found === UNFIT).toBe(!parsed.success);
      if (parsed.success) expect(found).toStrictEqual(parsed.data);
      expect(JSON.stringify(record)).toBe(before);
    }),
    { numRuns: 150 },
  );
});

describe('a compiled reader', () => {
  test('hands out a record that is right as it came, and a copy of one that is not', () => {
    const read = compileReader(z.looseObject({ id: z.preprocess((id) => String(id), z.string()) }));
    const [right, other] = [{ id: '1' }, { id: 1, more: [] }];
    expect(read(right)).toBe(right);
    expect(read(other)).toStrictEqual({ id: '1', more: [] });
    expect(other).toStrictEqual({ id: 1, more: [] });
  });

  test.each([
    ['an object that drops what it does not know', z.object({ a: z.string() }), { a: 'x', b: 1 }],
    ['a default', z.looseObject({ a: z.string().default('x') }), {}],
    ['a field that must be there and may be anything', z.looseObject({ a: z.unknown() }), {}],
    ['a list with a least length', z.array(z.string()).min(1), []],
    ['an e-mail address', z.email(), 'nobody'],
    ['a whole number', z.int(), 1.5],
    ['a text that is trimmed', z.string().trim(), ' x '],
    [
      'a rule of what may be null',
      z
        .string()
        .nullable()
        .refine(() => false),
      'x',
    ],
    [
      'a rule of what may be absent',
      z.looseObject({
        a: z
          .string()
          .optional()
          .refine(() => false),
      }),
      { a: 'x' },
    ],
    ['a default of what may be absent', z.looseObject({ a: z.string().default('d').optional() }), {}],
    ['a prefault of what may be absent', z.looseObject({ a: z.string().prefault('d').optional() }), {}],
    ['a rule of a whole object', z.looseObject({ a: z.string() }).refine(() => false), { a: 'x' }],
  ])('leaves %s to zod', (_what, schema, value) => {
    const parsed = schema.safeParse(value);
    expect(compileReader(schema)(value)).toStrictEqual(parsed.success ? parsed.data : UNFIT);
  });
});
