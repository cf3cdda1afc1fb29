import { expect, test } from 'vitest';
import { eventually, expectFit } from '../../src/hris-kit/hris-under-test.ts';

test.each([
  ['a', 'a'],
  [null, null],
  [{ a: 1, b: 2 }, { a: 1 }],
  [{ a: undefined }, { b: undefined }],
  [['x'], [/^x$/]],
  [new Error('said'), { message: /said/ }],
])('%j fits %j', (actual, expected) => {
  expect(() => expectFit(actual, expected)).not.toThrow();
});

test.each([
  ['a', 'b', 'it is "a", not "b"'],
  [undefined, null, 'it is undefined, not null'],
  [1, '1', 'it is 1, not "1"'],
  [{ a: { b: 1 } }, { a: { b: 2 } }, 'it.a.b is 1, not 2'],
  [undefined, { a: 1 }, 'it is undefined, not an object'],
  [['x'], ['x', 'y'], 'it has 1 items, not 2'],
  [{ length: 0 }, [], 'it is {"length":0}, not a list'],
  [['x'], ['y'], 'it[0] is "x", not "y"'],
  [5, /5/, 'it is 5, not like /5/'],
  [{}, undefined, 'it is {}, not undefined'],
  [false, true, 'it is false, not true'],
])('%j does not fit %j', (actual, expected, problem) => {
  expect(() => expectFit(actual, expected)).toThrow(problem);
});

test('what never fits fails with what it was at the end', async () => {
  let reads = 0;
  const read = async () => (reads += 1);
  await expect(eventually(read, 'never', { interval: 1, timeout: 5 }, 'the count')).rejects.toThrow(/the count is \d+/);
  reads = 0;
  await eventually(read, 3, { interval: 1, timeout: 10_000 });
});
