import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/sql/open-database.ts';
import { noteFigures } from '../docs/figures.ts';
import { createDatabase } from '../harness/postgres.ts';
import { emptyFolder, playWalk } from './play-walk.ts';

const root = path.join(import.meta.dirname, '../..');

test('docs/own-table.md leads to a hire in a table of twenty columns that was there before', async () => {
  const page = await readFile(path.join(root, 'docs/own-table.md'), 'utf8');
  const { url, drop } = await createDatabase();
  onTestFinished(drop);
  const hr = openDatabase(url);
  onTestFinished(() => hr.close());
  await sql.raw(/```sql\n(.*?)```/s.exec(page)?.[1] ?? '').execute(hr.kysely);
  const { cwd, path: PATH } = await emptyFolder();
  const walk = await playWalk(page, '# A table of your own', { cwd, env: { PATH, HR_URL: url } });
  console.log(`docs/own-table.md: ${walk.commands} commands, ${walk.seconds.toFixed(1)} s`);
  noteFigures('walk with an own table', [
    { what: 'commands', value: walk.commands },
    { what: 'time', value: walk.seconds, unit: 's' },
  ]);
  expect(walk.commands).toBeLessThanOrEqual(8);
  expect(walk.output).toMatch(/written\s+back\s+and\s+verified/);
  expect(walk.output).toMatch(/last_name +candidate\.lastName +by its name/);
  expect(walk.output).toMatch(/planned +"Reyes"[^]*in the HR system +"Reyes"/);
  const { rows } = await sql`select * from staff`.execute(hr.kysely);
  expect(rows).toEqual([
    expect.objectContaining({
      first_name: 'Ana',
      last_name: 'Reyes',
      private_email: 'ana.reyes@example.org',
      home_city: 'Madrid',
      nation: 'ES',
      external_ref: expect.any(String),
      last_day: null,
    }),
  ]);
  expect(Object.keys(rows[0] ?? {})).toHaveLength(20);
});
