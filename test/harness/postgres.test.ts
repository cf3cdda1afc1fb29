import pg from 'pg';
import { expect, test } from 'vitest';
import { createDatabase } from './postgres.ts';

test('every test file gets an empty Postgres database of its own', async () => {
  const [one, other] = await Promise.all([createDatabase(), createDatabase()]);
  const client = new pg.Client({ connectionString: one.url });
  await client.connect();
  await client.query('create table seen (id int)');
  await client.end();

  const stranger = new pg.Client({ connectionString: other.url });
  await stranger.connect();
  const { rows } = await stranger.query("select to_regclass('seen') as found");
  await stranger.end();
  expect(rows).toEqual([{ found: null }]);
  await one.drop();
  await other.drop();
});
