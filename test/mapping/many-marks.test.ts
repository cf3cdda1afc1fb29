import { expect, test, vi } from 'vitest';
import { foldText, withoutValues } from '../../src/hris/records.ts';
import { problemOf } from '../../src/hris/sftp/ready-files.ts';
import { type TransformName, transforms } from '../../src/values/transforms.ts';

/** One letter with marks of two places in turn: to put n of them into order takes n² steps. */
const HOSTILE = `a${'\u0301\u0316'.repeat(200)}`;

const READERS: Record<string, (text: string) => unknown> = {
  ...Object.fromEntries(
    (['name', 'login', 'option'] satisfies TransformName[]).map((name) => [
      name,
      (text: string) => transforms[name](text, { values: ['b'] }),
    ]),
  ),
  'a comparison': foldText,
  'words of an HR system': (text) => withoutValues(text, [text]),
  'a cell of a file': problemOf,
};

test.each(Object.entries(READERS))('more than 31 marks on a letter are never put into order: %s', (_what, read) => {
  const normalize = vi.spyOn(String.prototype, 'normalize');
  read(HOSTILE);
  const given = normalize.mock.contexts.map(String);
  normalize.mockRestore();
  expect(given).not.toEqual([]);
  for (const text of given) expect(text).not.toMatch(/[\p{M}--\u{34f}]{32}/v);
});

test('a name keeps its marks, and what was read once is read the same again', () => {
  const read = (text: string) => (transforms.name(text, undefined) as { value: string }).value;
  expect(read(HOSTILE).replaceAll('\u034f', '')).toHaveLength(HOSTILE.length - 1);
  expect(read(read(HOSTILE))).toBe(read(HOSTILE));
  expect(read('Jose\u0301')).toBe('José');
});
