import { expect, test } from 'vitest';
import { sizeViolations, wideLines } from './sizes.ts';
import { readCode, readProse } from './tree.ts';
import { twinViolations } from './twins.ts';

const lines = (count: number): string => Array.from({ length: count }, (_, at) => `  const x${at} = ${at};`).join('\n');

test('no function has more than 100 lines, no file more than 500, no line more than 120 columns', () => {
  const found = [...readCode()].flatMap(([file, source]) => sizeViolations(file, source));
  expect(found).toEqual([]);
});

test('no line of prose has more than 120 columns', () => {
  expect([...readProse()].flatMap(([file, source]) => wideLines(file, source))).toEqual([]);
});

test('nothing of more than eight lines stands twice', () => {
  expect(twinViolations(readCode())).toEqual([]);
});

test.each([
  ['a function of 101 lines', `function f() {\n${lines(99)}\n}`, 1],
  ['a function of 100 lines', `function f() {\n${lines(98)}\n}`, 0],
  ['a function in a table', `const t = {\n  f: async () => {\n${lines(99)}\n  },\n};`, 1],
  ['a long test', `test('x', () => {\n${lines(99)}\n});`, 1],
  ['a group of tests', `describe.each([1])('x', () => {\n${lines(99)}\n});`, 0],
  ['a function that holds a group of tests', `function f() {\n  describe('x', () => {\n${lines(99)}\n  });\n}`, 0],
  ['a file of 2101 lines', lines(501), 1],
  ['a file of 2100 lines', `${lines(500)}\n`, 0],
  ['a line of 121 columns', `// ${'x'.repeat(118)}`, 1],
  ['a line of 120 columns', `// ${'x'.repeat(117)}`, 0],
  ['a long address', `// https://example.com/${'x'.repeat(110)}`, 0],
  ['five parameters', 'export function f(a, b, c, d, e) {}', 1],
  ['four parameters', 'export function f(this: X, a, b, c, d) {}', 0],
])('%s: violations are counted', (_what, source, expected) => {
  expect(sizeViolations('src/plan/example.ts', source)).toHaveLength(expected);
});

test('lists of facts may be long, but not wide, except where they quote', () => {
  const source = `${lines(600)}\n// ${'x'.repeat(118)}`;
  expect(sizeViolations('src/partner/contract/example.ts', source)).toEqual([
    'src/partner/contract/example.ts:601 is 121 columns wide',
  ]);
  expect(sizeViolations('test/contract/facts/example.ts', source)).toEqual([]);
});

const nine = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i'].map((name) => `  run(${name}, 'one');`);

test.each([
  ['nine lines in another file', nine, nine, 1],
  ['nine lines with other texts and numbers', nine, nine.map((line) => line.replace('one', 'two')), 1],
  ['nine lines, indented otherwise and with a comment between', nine, ['{', '// why', ...nine.map((x) => `  ${x}`)], 1],
  ['eight lines', nine, nine.slice(1), 0],
  ['nine lines in another order', nine, nine.toReversed(), 0],
  ['the same imports', nine.map((x) => `import ${x}`), nine.map((x) => `import ${x}`), 0],
  ['the same list of texts', nine.map(() => `'x',`), nine.map(() => `'y',`), 0],
])('twins: %s', (_what, one, other, expected) => {
  const tree = new Map([
    ['src/one.ts', one.join('\n')],
    ['src/other.ts', other.join('\n')],
  ]);
  expect(twinViolations(tree)).toHaveLength(expected);
});

test('a twin within one file names both places', () => {
  const tree = new Map([['src/one.ts', [...nine, 'between();', ...nine].join('\n')]]);
  expect(twinViolations(tree)).toEqual(['src/one.ts:11 repeats 9 lines of src/one.ts:1']);
});
