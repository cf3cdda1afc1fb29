import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import jsonata from 'jsonata';
import { expect, test } from 'vitest';
import { compileExpression, compileTemplate } from '../../src/hris/http/expression.ts';

const records: readonly unknown[] = [
  {},
  { a: 'left' },
  { a: 'active', b: 1 },
  { a: null, b: 'left' },
  { a: 0, b: '' },
  { a: false, b: { c: 'left' } },
  { a: ['left'], b: { c: ['left', 'left'] } },
  { a: { left: true }, b: [{ c: 'left' }, { c: 'gone' }] },
  'left',
];

/** JSONata decides: what is read past it for its speed means the same. */
test.each(['a = "left"', "a='left'", 'b.c = "left"', '`a` = "left"', 'a ?? b', 'a ?? b = "left"', 'a = "le\\u0066t"'])(
  '%s reads what JSONata reads',
  async (text) => {
    const read = compileExpression(text);
    for (const record of records) {
      const wanted: unknown = await jsonata(text).evaluate(record);
      expect(await read(record), JSON.stringify(record)).toEqual(wanted);
    }
  },
);

test('a day in a call is written as the system writes days', () => {
  const known = (): undefined => undefined;
  const left = compileTemplate({ on: '{lastDay | day dd.MM.yyyy}', no: '{lastDay | day yyyyMMdd | number}' }, known);
  expect(left({ lastDay: '1931-12-30' })).toEqual({ on: '30.12.1931', no: 19_311_230 });
  expect(left({})).toEqual({});
  for (const format of ['DD.MM.YYYY', 'dd.mm.yyyy', '%d.%m.%Y', 'dd.MM.yy', 'MM.yyyy'])
    expect(() => compileTemplate(`{lastDay | day ${format}}`, known), format).toThrow(/not a format for days/);
});

test('a key for a request is a UUID, the same for the same values and another one for corrected ones', () => {
  const key = compileTemplate('{record | uuid}', () => undefined);
  const [first, again, corrected] = ['Reyes', 'Reyes', 'Reyes Cruz'].map((last) => key({ record: { last } }));
  expect(first).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(again).toBe(first);
  expect(corrected).not.toBe(first);
  expect(key({})).toBeUndefined();
});

test('each function of JSONata is known, and a misspelt one is refused before an answer meets it', async () => {
  const source = await readFile(fileURLToPath(import.meta.resolve('jsonata')), 'utf8');
  const names = Array.from(source.matchAll(/staticFrame\.bind\(['"](\w+)['"]/g), ([, name = '']) => name);
  expect(names.length).toBeGreaterThan(60);
  for (const name of names) expect(() => compileExpression(`$${name}(a)`), name).not.toThrow();
  expect(() => compileExpression('$splitt(a, "/")[-1]')).toThrow(/Did you mean "split"/);
  for (const wrong of ['a ~> $uppercas', '$map(a, $uppercas)', 'a[$uppercas(b) = "X"]', '$uppercas(?, 1)'])
    expect(() => compileExpression(wrong), wrong).toThrow(/Did you mean "uppercase"/);
});

test.each([
  '($f := function($x) { $x }; $f(a))',
  '$map(a, function($f) { $f(1) })',
  '$string("$no(1)")',
  'a /* once $no(1) */',
  '$match(a, /\\$no(x)/)',
  'a.`$no(1)`',
  'a@$one.b#$at[$one.c = $at]',
  'a[b = $$.c]#$at.{ "at": $at }',
  '$sort(a, function($left, $right) { $left > $right })',
])('%s is taken, and may hold what looks like a call', (text) => {
  expect(() => compileExpression(text)).not.toThrow();
});
