import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commandsOf, pages, readPage, variantsOf } from './documented.ts';
import { CANNOT, ELSEWHERE, LISTS, WALKS } from './played.ts';

const ROOT = join(import.meta.dirname, '../..');
const documented = (await Promise.all(pages().map(async (page) => commandsOf(page, await readPage(page))))).flat();
const partOf = ({ page, heading }: { page: string; heading: string }): string => `${page} ${heading}`;
const parts = new Set(documented.map(partOf));
const lines = new Set(documented.flatMap(({ line }) => [line, ...variantsOf(line)]));

test('every command that a page shows is played by a test, or has a reason why it cannot be', () => {
  const unplayed = documented.filter(
    (one) =>
      WALKS[partOf(one)] === undefined &&
      !LISTS.includes(partOf(one)) &&
      ELSEWHERE[one.line] === undefined &&
      CANNOT[one.line] === undefined,
  );
  expect(unplayed).toEqual([]);
  expect(documented.length).toBeGreaterThan(90);
});

test('what is said to be played stands on a page, and a test names it', async () => {
  const named = [...Object.keys(WALKS), ...LISTS].filter((part) => !parts.has(part));
  const excused = [...Object.keys(ELSEWHERE), ...Object.keys(CANNOT)].filter((line) => !lines.has(line));
  expect({ named, excused }).toEqual({ named: [], excused: [] });
  for (const [part, file] of Object.entries(WALKS)) {
    const heading = part.replace(/^\S+ /, '');
    expect(await readFile(join(ROOT, file), 'utf8'), `${file} plays ${part}`).toContain(heading);
  }
  for (const [line, [file, words]] of Object.entries(ELSEWHERE))
    expect(await readFile(join(ROOT, file), 'utf8'), `${file} plays ${line}`).toContain(words);
});

/** Every command with its options, as docs/reference.md has them, which is made from the code. */
async function knownCommands(): Promise<Map<string, ReadonlySet<string>>> {
  const [, ...sections] = (await readPage('docs/reference.md')).split('\n### `hirebridge ');
  return new Map(
    sections.map((section) => {
      const name = (/^[^`<[]*/.exec(section)?.[0] ?? '').trim();
      return [name, new Set([...section.matchAll(/^- `[^`]*?(--[a-z-]+)/gm)].map(([, flag = '']) => flag))];
    }),
  );
}

const EVERYWHERE = ['--tenants', '--data', '--help', '--version'];

test('every command that a page names exists, with the options that it names', async () => {
  const known = await knownCommands();
  const wrong: string[] = [];
  let seen = 0;
  for (const page of pages().filter((name) => name !== 'CHANGELOG.md')) {
    const text = await readPage(page);
    const inline = [...text.matchAll(/`(?:npx )?hirebridge ([a-z][^`]*)`/g)].map(([, words = '']) => words);
    const shown = commandsOf(page, text).flatMap(
      ({ line }) => /^(?:npx |npm run -s )?hirebridge(?: --)? (.*?)(?: &)?$/.exec(line)?.[1] ?? [],
    );
    for (const words of [...inline, ...shown]) {
      seen += 1;
      const plain = words.replaceAll(/\s+/g, ' ').split(' ');
      const name = [plain.slice(0, 2).join(' '), plain[0] ?? ''].find((one) => known.has(one));
      const isGroup = [...known.keys()].some((one) => one.startsWith(`${plain[0]} `)) && plain.length === 1;
      const flags = plain.flatMap((word) => /^\[?(--[a-z-]+)/.exec(word)?.[1] ?? []);
      const unknown = flags.filter((flag) => !known.get(name ?? '')?.has(flag) && !EVERYWHERE.includes(flag));
      if ((name === undefined && !isGroup) || unknown.length > 0) wrong.push(`${page}: ${words} ${unknown.join(' ')}`);
    }
  }
  expect(wrong).toEqual([]);
  expect(seen).toBeGreaterThan(200);
});

/** They stay until Ctrl-C, ask on a terminal, or write a document whose form is its own. */
const WITHOUT_JSON = (
  'audit export, codec, collection, completion, console, demo, events schema, hris schema, init, mapping schema, ' +
  'sandbox, serve, up, worker'
).split(', ');

test('every command prints JSON where it is asked to, but for those that stay or write a document', async () => {
  const known = [...(await knownCommands())];
  const without = known.filter(([, flags]) => !flags.has('--json')).map(([name]) => name);
  expect(without.toSorted()).toEqual(WITHOUT_JSON.toSorted());
});
