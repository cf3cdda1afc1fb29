import { expect, test } from 'vitest';
import { handOverLast, type Request } from '../../src/hris/sftp/hand-over.ts';
import { createReadyFiles, type Sftp, toCells } from '../../src/hris/sftp/ready-files.ts';
import { type SftpSession, sftpOptions } from '../../src/hris/sftp/session.ts';
import { write } from './profile.ts';

const options = sftpOptions.parse({
  host: 'sftp.example',
  user: 'hr',
  hostKey: `SHA256:${'A'.repeat(43)}`,
  privateKey: 'none',
});

/** The folders of a server by their protocol: a name is given once. Calls under way meet each other. */
function folders(names: readonly string[] = []): { hris: Sftp; names(): string[] } {
  const files = new Set(names.map((name) => `requests/${name}`));
  const later = () => new Promise<void>((resolve) => void setImmediate(resolve));
  const session: SftpSession = {
    async list(folder) {
      const found = [...files].filter((path) => path.startsWith(`${folder}/`));
      await later();
      return found.map((path) => ({ name: path.slice(folder.length + 1), size: 0, changedAt: 0 }));
    },
    async publish(path, _bytes, { beforeSend }) {
      await later();
      beforeSend();
      const isFree = !files.has(path);
      files.add(path);
      await later();
      return isFree;
    },
    async exists(path) {
      return files.has(path);
    },
    async remove(path) {
      await later();
      files.delete(path);
    },
    read: async () => Buffer.alloc(0),
    close: async () => undefined,
  };
  const hris = { session, options, files: createReadyFiles(session, options) };
  return { hris, names: () => [...files].map((path) => path.slice('requests/'.length)).toSorted() };
}

const change = (title: string): Request => ({ id: 'change-E1', cells: { employee_id: 'E1', title } });
const readyPlaces = (names: readonly string[]) =>
  names.filter((name) => name.endsWith('.ready')).map((name) => name.split('.')[0]);

test('writers that ask for changes of one employee at once have a place each', async () => {
  const { hris, names } = folders();
  await Promise.all([1, 2, 3, 4].map((n) => handOverLast(hris, change(`Cook ${n}`), write)));
  expect(readyPlaces(names())).toEqual(['change-E1-2', 'change-E1-3', 'change-E1-4', 'change-E1']);
  expect(names().filter((name) => name.endsWith('.claim'))).toEqual([]);
});

test('a place that a crash left claimed is skipped', async () => {
  const { hris, names } = folders(['change-E1.claim']);
  for (const title of ['Cook', 'Cook', 'Chef']) await handOverLast(hris, change(title), write);
  expect(readyPlaces(names())).toEqual(['change-E1-2', 'change-E1-3']);
});

test('a change that is not allowed to leave gives its place back', async () => {
  const { hris, names } = folders();
  const late = new Error('the deadline has passed');
  const beforeSend = () => {
    throw late;
  };
  await expect(handOverLast(hris, change('Cook'), { ...write, beforeSend })).rejects.toBe(late);
  expect(names()).toEqual([expect.stringMatching(/^change-E1\.[0-9a-f]{12}\.csv$/)]);
});

test.each([
  '- Cook (part-time)',
  '-',
  '+61 (0)491 570 006',
  '+61(0)491570006',
  '＋６１（０）４９１',
  '－ Köchin （Teilzeit）',
  '@home',
  '=== Lead ===',
  '+49 30 | home',
  '=1+1',
  '\tindented',
])('%j is written as it is', (title) => {
  expect(toCells(options, { title })).toEqual({ title });
});

test.each([
  '=HYPERLINK("http://example.org")',
  '=HYPERLINK ("http://example.org")',
  "='http://example.org/[x]S'!A1",
  "+'http://example.org/[x]S'!A1",
  '@SUM (A1)',
  '@SUM(A1)',
  '+log10(1)',
  "-2+cmd|' /C calc'!A0",
  '\t=cmd|/c calc',
  '\u00a0\u3000=HYPERLINK("http://example.org")',
  '\u200b=HYPERLINK("http://example.org")',
  '\u00ad=cmd|/c calc',
  ' \u3164=cmd|/c calc',
  '＝HYPERLINK("http://example.org")',
  ' ＝HYPERLINK（"http://example.org"）',
  '＠SUM(A1)',
  "＋cmd|' /C calc'!A0",
  '－log10(1)',
])('%j would run in a spreadsheet, and is refused by field', (title) => {
  const details = { title: 'is a formula that a spreadsheet would run' };
  expect(() => toCells(options, { title })).toThrow(expect.objectContaining({ code: 'INVALID_VALUE', details }));
});
