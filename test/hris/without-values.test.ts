import { expect, test } from 'vitest';
import { withoutValues } from '../../src/hris/records.ts';
import { readResults } from '../../src/hris/sftp/people.ts';
import type { Sftp } from '../../src/hris/sftp/ready-files.ts';

test.each([
  [
    'short ones as whole words alone',
    'Department M of DE and EN: 1 unknown in 17, DEN, Müller',
    ['M', 'DE', 'N', '1'],
    'Department … of … and EN: … unknown in 17, DEN, Müller',
  ],
  ['short ones between letters that are not of ASCII', 'Él, Élan, éÉl', ['Él'], '…, Élan, éÉl'],
  [
    'short ones of a script that sets no words apart',
    '员工王伟不存在, 김철수가',
    ['王伟', '김철수'],
    '员工…不存在, …가',
  ],
  [
    'control characters, that a terminal would obey',
    'no \u001b]52;c;x\u0007Berg\u001b[2J',
    ['Berg'],
    'no  ]52;c;x … [2J',
  ],
  ['long ones inside words, in any case', 'no LINDqvistberg', ['Lindqvist'], 'no …berg'],
  ['words of one, from four letters on', 'Canary: de la', ['de la Canary-Lind', 'Eva Canary'], '…: de la'],
  ['what was sent composed and is said decomposed', 'no Jose\u0301 Nun\u0303ez', ['José', 'Núñez', 'Nuñez'], 'no … …'],
  ['what was sent in several lines', 'no "Elm\r\nRd 5" here', ['Elm\nRd 5'], 'no "…" here'],
  ['what was sent decomposed and is said composed', 'no José', ['Jose\u0301'], 'no …'],
])('values that were sent are cut: %s', (_what, said, sent, left) => {
  expect(withoutValues(said, sent)).toBe(left);
});

test('of a long answer only the first 20,000 characters are looked at', () => {
  const name = 'Lindqvist-'.repeat(10);
  expect(withoutValues(`${name.repeat(200)}behind`, [name])).toBe('…'.repeat(200));
});

test('a value of thousands of words is cut where it is quoted whole or in part, in whatever case', () => {
  const letter = Array.from({ length: 6_000 }, (_, n) => `Word${(n * 7_919) % 9_973}ς`);
  const quoted = [letter.slice(0, 900).join(' ').toUpperCase(), letter.slice(4_000, 4_800).join(' ')];
  for (const said of [letter.join(' '), ...quoted])
    expect(withoutValues(`"${said}" is too long`, [letter.join(' ')])).toMatch(/^"[… ]+("|$)/u);
});

test('a reason that came by file is cut after the values are, so that none is left in part', async () => {
  const reason = `${'x'.repeat(295)} Lindqvist is unknown`;
  const files = {
    list: async () => [{ name: 'a.csv', size: 1, changedAt: 0 }],
    read: async () => ({ rows: [{ request_id: 'r1', status: 'rejected', error: reason }] }),
  };
  const hris = { files, options: { folders: { results: 'results' } } } as unknown as Sftp;
  const [result] = await readResults(hris, AbortSignal.timeout(120_000));
  if (result?.status !== 'rejected') throw new Error('not rejected');
  expect(withoutValues(result.reason, ['Lindqvist'])).toBe(`${'x'.repeat(295)} … is`);
});
