import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { openPullWorld } from './pull-world.ts';

const PEOPLE = 120;

test('a row that somebody took away or spoilt is landed again, though its record came the same', async () => {
  const { world, pull, rows } = await openPullWorld('{}', { candidates: PEOPLE });
  await pull('full');
  const before = rows();
  const [gone = '', spoilt = ''] = before.keys();
  const hris = new DatabaseSync(world.hrisUrl.slice('sqlite:'.length));
  hris.prepare('delete from partner_candidates where partner_id = ?').run(gone);
  hris.prepare("update partner_candidates set city = 'X', row_hash = 'x' where partner_id = ?").run(spoilt);
  hris.close();
  expect(await pull('full')).toMatchObject({ counts: { read: PEOPLE, unchanged: PEOPLE - 2, created: 1, updated: 1 } });
  expect(rows().get(gone)?.['row_hash']).toBe(before.get(gone)?.['row_hash']);
  expect(rows().get(spoilt)?.['city']).toBe(before.get(spoilt)?.['city']);
});

test('a record that changed and changed back is written both times', async () => {
  const { world, pull, rows } = await openPullWorld('{}', { candidates: PEOPLE });
  await pull('full');
  const [[id = '', row] = []] = rows();
  const edit = (city: unknown) =>
    world.control.act('editCandidate', { candidateId: Number(id), fields: { city: String(city) } });
  await edit('Utrecht');
  expect(await pull('full')).toMatchObject({ counts: { unchanged: PEOPLE - 1, updated: 1 } });
  expect(rows().get(id)?.['city']).toBe('Utrecht');
  await edit(row?.['city']);
  expect(await pull('full')).toMatchObject({ counts: { unchanged: PEOPLE - 1, updated: 1 } });
  expect(rows().get(id)?.['city']).toBe(row?.['city']);
});

test('with every row asked for, records that came the same are written too', async () => {
  const { pull } = await openPullWorld('{}', { candidates: PEOPLE });
  await pull('full');
  expect(await pull('full', { rewrite: true })).toMatchObject({ counts: { read: PEOPLE, updated: PEOPLE } });
  expect(await pull('full')).toMatchObject({ counts: { read: PEOPLE, unchanged: PEOPLE } });
});
