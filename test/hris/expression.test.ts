import jsonata from 'jsonata';
import { expect, test } from 'vitest';
import { compileExpression } from '../../src/hris/http/expression.ts';

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
