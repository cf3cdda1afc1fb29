import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isAmong, selectRows } from '../../src/sql/dialects.ts';
import { type Database, openDatabase } from '../../src/sql/open-database.ts';
import { createDatabase } from '../harness/postgres.ts';

const columns = ['name', 'born', 'score', 'active', 'tags', 'note'];
const people = [
  { name: `O'Hara "Å" 😀 \\ $1`, born: '2001-02-03', score: 7, active: true, tags: ['a, b', '"c"'], note: '' },
  { name: 'null', born: null, score: 0.125, active: false, tags: [], note: '{"not": "JSON"}' },
  { name: '12', born: null, score: null, active: null, tags: null, note: null },
];

const databases = {
  SQLite: { url: async () => 'sqlite::memory:', tags: 'text' },
  Postgres: { url: async () => (await createDatabase()).url, tags: 'text' },
  'Postgres with a column of JSON': { url: async () => (await createDatabase()).url, tags: 'jsonb' },
};

describe.each(Object.entries(databases))('rows as one parameter, in %s', (_name, { url, tags }) => {
  let database: Database<Record<string, Record<string, unknown>>>;
  beforeAll(async () => {
    database = openDatabase(await url());
    await sql`create table people (name varchar(40) primary key, born date, score numeric, active boolean,
      tags ${sql.raw(tags)}, note text)`.execute(database.kysely);
  });
  afterAll(() => database.close());

  test('arrive in the types of their columns, and lists as their JSON', async () => {
    const all = sql.join(columns.map((column) => sql.ref(column)));
    await sql`insert into people (${all}) ${selectRows(database.kind, 'people', columns, people)}
      on conflict (name) do nothing`.execute(database.kysely);
    const { rows } = await sql<Record<string, unknown>>`
      select name, cast(born as text) as born, cast(score as real) as score, active,
        cast(tags as text) as tags, note from people order by name`.execute(database.kysely);
    const shown = people.map(({ active, tags: list, ...one }) => ({
      ...one,
      active: database.kind === 'sqlite' && active !== null ? Number(active) : active,
      tags: list && JSON.stringify(list),
    }));
    const read = rows.map((row) => ({ ...row, tags: row['tags'] && JSON.stringify(JSON.parse(String(row['tags']))) }));
    expect(new Set(read)).toEqual(new Set(shown));
  });

  test('are found again by a list of their keys', async () => {
    const wanted = [people[0]?.name ?? '', '12', 'nobody, "else"'];
    const { rows } = await sql<{ name: string }>`
      select name from people where ${isAmong(database.kind, 'name', wanted)}`.execute(database.kysely);
    expect(rows.map(({ name }) => name).toSorted()).toEqual(wanted.slice(0, 2).toSorted());
  });
});
