import { expect, test } from 'vitest';
import { constantViolations } from './constants.ts';
import { readCode } from './tree.ts';

test('literal constants are in SCREAMING_CASE', () => {
  expect([...readCode()].flatMap(([file, source]) => constantViolations(file, source))).toEqual([]);
});

test.each([
  ['a number', 'const waitMs = 5;', 1],
  ['arithmetic', 'const waitMs = -5 * 1_000;', 1],
  ['arithmetic of another constant', 'const WAIT_MS = 5;\nexport const longMs = 2 * WAIT_MS;', 1],
  ['a text', `export const verb = 'create' as const;`, 1],
  ['a text over several lines', 'const page = `one\ntwo`;', 1],
  ['a regular expression', 'const digits = /[0-9]/u;', 1],
  ['a name in between', `const CreateVerb = 'create';`, 1],
  ['a number in its own case', 'const WAIT_MS = 5;', 0],
  ['a table', 'const waits = { short: 5 };', 0],
  ['a function', 'const wait = () => 5;', 0],
  ['an object made by a call', 'const waits = new Set([5]);', 0],
  ['a number within a function', 'function wait() {\n  const waitMs = 5;\n  return waitMs;\n}', 0],
])('%s: violations are counted', (_what, source, expected) => {
  expect(constantViolations('src/example.ts', source)).toHaveLength(expected);
});
