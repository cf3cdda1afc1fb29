import { glob, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, test } from 'vitest';
import { wordsOf } from '../../src/operator/failed.ts';

const root = path.join(import.meta.dirname, '../..');

/** Whatever says why a pair, one of its fields, or the stream that carries it does not go on. */
const SAYING = [
  'activities/exchange/*.ts',
  'src/exchange/*.ts',
  'src/exchange/see-fields.ts',
  'src/hris/read-cell.ts',
  'src/mapping/{evaluate,evaluate-back,apply-transforms,fit-value,inverses,read-source}.ts',
  'src/values/transforms.ts',
];

async function codesIn(patterns: readonly string[]): Promise<Set<string>> {
  const codes = new Set<string>();
  for await (const file of glob(patterns, { cwd: root })) {
    const text = await readFile(path.join(root, file), 'utf8');
    for (const [, code = ''] of text.matchAll(/'([A-Z]{2,}(?:_[A-Z]+)+|[A-Z]{5,})'/g)) codes.add(code);
  }
  return codes;
}

const page = await readFile(path.join(root, 'docs/two-way.md'), 'utf8');
const explained = new Set([...page.matchAll(/`([A-Z][A-Z_]{4,})`/g)].map(([, code = '']) => code));

test('docs/two-way.md explains every reason that an exchange can give', async () => {
  const given = await codesIn(SAYING);
  expect(given.size).toBeGreaterThan(40);
  expect([...given].filter((code) => !explained.has(code))).toEqual([]);
});

test('docs/two-way.md explains every state of a field', async () => {
  const tables = await readFile(path.join(root, 'src/store/stream-tables.ts'), 'utf8');
  const [, kinds = ''] = /ConflictKind = (.*);/.exec(tables) ?? [];
  const states = [...kinds.matchAll(/'([a-z-]+)'/g)].map(([, state = '']) => state);
  expect(states).toContain('held');
  expect(states.filter((state) => !page.includes(`- \`${state}\`: `))).toEqual([]);
});

test('docs/two-way.md explains no reason that nothing gives', async () => {
  const given = await codesIn([...SAYING, 'src/{streams,hris,mapping}/**/*.ts', 'activities/**/*.ts']);
  expect([...explained].filter((code) => !given.has(code))).toEqual([]);
});

test('each reason why a field is left out is told in words, beside its code', () => {
  const [, section = ''] = /## Why a field is left out\n(.*?)\nAny other code/s.exec(page) ?? [];
  const reasons = [...section.matchAll(/^- ([^:]*):/gm)].flatMap(([, named = '']) => named.match(/[A-Z_]{5,}/g) ?? []);
  expect(reasons.length).toBeGreaterThan(30);
  expect(reasons.filter((code) => wordsOf(code) === undefined)).toEqual([]);
});
