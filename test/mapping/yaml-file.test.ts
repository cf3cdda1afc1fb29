import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { parseYaml, problemAt, readYamlFile, refuse } from '../../src/yaml/yaml-file.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';

const BOMB = `a: &a [x, x, x, x, x, x, x, x, x, x]
b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]
`;

test.each<[string, string | Buffer, string]>([
  [
    'a tab',
    'fields:\n\ttitle: { constant: x }\n',
    '2:1 is not valid YAML (a tab indents it; use spaces). Correct the line.',
  ],
  ['a key given twice', 'a: 1\nb: 2\na: 3\n', '3:1 is not valid YAML (this key is here twice). Correct the line.'],
  [
    'braces without quotes, which the parser takes for many mistakes',
    'a: { get: /staff/{id}, b: 1 }\nc: { d: 1, e: 2 }\n',
    '1:18 is not valid YAML (text with { } [ ] , or # needs quotes). Correct the line.',
  ],
  ['an open brace', 'a: { b: 1\nc: 2\n', '2:1 is not valid YAML (a { before it is not closed: } is missing).'],
  ['an open bracket', 'a: { b: [1, 2 }\n', '1:15 is not valid YAML (a [ before it is not closed: ] is missing).'],
  [
    'a line that stands wrong',
    'a:\n    b: 1\n  c: 2\n',
    '3:1 is not valid YAML (the line does not line up with the lines around it).',
  ],
  ['aliases that multiply', BOMB, '2:8 uses aliases that lead nowhere or grow without end. Write the values out.'],
  ['an alias of nothing', 'a: 1\nb: *c\n', '2:4 uses aliases that lead nowhere'],
  ['10 MB', 'a: 1\n'.repeat(2_000_000), '1:1 is 10 MB long; at most 1 MB is read. Is this the right file?'],
  ['a picture', Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00]), '1:1 is not text in UTF-8.'],
  ['UTF-16', Buffer.from('\ufeffa: 1\n', 'utf16le'), '1:1 is not text in UTF-8.'],
])('%s is refused with its place, and its text is not repeated', async (_what, content, expected) => {
  const file = join(await scratchFolder(), 'acme.yaml');
  await writeFile(file, content);
  const { problems, value } = await readYamlFile(file);
  expect(value).toBeUndefined();
  expect(problems.map(({ line, column, text }) => `${line}:${column} ${text}`)).toEqual([
    expect.stringContaining(expected),
  ]);
});

test('each key of a large map is compared with those before it at once', () => {
  const keys = Array.from({ length: 2_000 }, (_, n) => `key-${n}: x`);
  const compared = vi.spyOn(globalThis, 'String');
  const { problems } = parseYaml('acme.yaml', [...keys, 'key-7: y', ...keys.slice(0, 1)].join('\n'));
  const times = compared.mock.calls.length;
  compared.mockRestore();
  expect(problems.map(({ line }) => line)).toEqual([2_001, 2_002]);
  expect(times).toBeLessThan(10 * keys.length);
});

test('where thousands of mistakes stand is looked up once for each, and the first hundred are told', () => {
  const keys = Array.from({ length: 2_000 }, (_, n) => `key-${n}`);
  const source = parseYaml('acme.yaml', `fields:\n${keys.map((key) => `  ${key}: { from: x }\n`).join('')}`);
  const compared = vi.spyOn(globalThis, 'String');
  const problems = keys.flatMap((key) => [
    problemAt(source, ['fields'], 'is no field.', key),
    problemAt(source, ['fields', key, 'from'], 'is no source.'),
  ]);
  const times = compared.mock.calls.length;
  compared.mockRestore();
  expect(problems.slice(-2)).toMatchObject([
    { line: 2_001, column: 3 },
    { line: 2_001, column: 21 },
  ]);
  expect(times).toBeLessThan(20 * keys.length);
  const { message, details } = refuse('MAPPING_INVALID', problems);
  expect(message.split('\n')).toHaveLength(101);
  expect(message).toMatch(/acme\.yaml:51:\d+ is no source\.\n\.\.\. and 3900 more\. Correct these first\.$/);
  expect(details?.['problems']).toHaveLength(4_000);
});
