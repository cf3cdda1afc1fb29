import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { HrisConnection, LandingRow } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { landRows } from '../../src/hris/sql/land.ts';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import { landings } from '../../src/streams/streams.ts';
import { createDatabase } from '../harness/postgres.ts';
import { refusal } from './profile.ts';
import { startSqlHris } from './start-sql-hris.ts';

const databases = {
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), 'hirebridge-hris-'));
    return { url: `sqlite:${join(folder, 'hr.sqlite')}`, drop: () => rm(folder, { recursive: true, force: true }) };
  },
  Postgres: createDatabase,
};

function rows(from: number, to: number, change: Partial<LandingRow> = {}): LandingRow[] {
  return Array.from({ length: to - from }, (_, n) => {
    const fields = { givenName: `Given ${from + n}`, email: `p${from + n}@example.org`, skills: ['a', 'b'] };
    return { id: String(from + n), hash: `h${from + n}`, fields, ...change };
  });
}

describe.each(Object.entries(databases))('landing tables in %s', (_name, database) => {
  let hris: Awaited<ReturnType<typeof startSqlHris>>;
  let url: string;
  beforeAll(async () => {
    const made = await database();
    url = made.url;
    hris = await startSqlHris(made, {});
  });
  afterAll(() => hris.stop());

  const land = (some: LandingRow[], more: { tenant?: string; force?: boolean; by?: HrisConnection } = {}) => {
    const { by = hris.adapter, ...options } = more;
    return by.landing?.land('candidates', some, { tenant: 'acme', signal: AbortSignal.timeout(120_000), ...options });
  };
  const stored = async (id: string): Promise<Record<string, unknown> | undefined> => {
    const direct = openSqlDatabase(url);
    const query = sql<
      Record<string, unknown>
    >`select * from partner_candidates where tenant = 'acme' and partner_id = ${id}`;
    const { rows: found } = await query.execute(direct.kysely);
    await direct.close();
    return found[0];
  };

  test('a page lands once; the same page again writes nothing', async () => {
    expect(await land(rows(0, 100))).toEqual({ unchanged: 0, created: 100, updated: 0 });
    const before = await stored('7');
    expect(await land(rows(0, 100), { by: hris.second })).toEqual({ unchanged: 100, created: 0, updated: 0 });
    expect(await stored('7')).toEqual(before);
  });

  test('only new and changed records of a page are written, and a value taken away leaves its row', async () => {
    const changed = { id: '3', hash: 'other', fields: { givenName: 'Renamed' } };
    const page = [...rows(0, 3), changed, ...rows(4, 100), ...rows(100, 105)];
    expect(await land(page)).toEqual({ unchanged: 99, created: 5, updated: 1 });
    expect(await stored('3')).toMatchObject({ given_name: 'Renamed', email: null, skills: null });
    expect(await stored('4')).toMatchObject({ given_name: 'Given 4', skills: '["a","b"]' });
  });

  test('force writes every row again', async () => {
    expect(await land(rows(50, 60), { force: true })).toEqual({ unchanged: 0, created: 0, updated: 10 });
  });

  test('another tenant of the same HRIS has rows of its own', async () => {
    expect(await land(rows(0, 10), { tenant: 'other' })).toEqual({ unchanged: 0, created: 10, updated: 0 });
  });

  test('a value that no column can hold refuses the page whole, by the name of its field', async () => {
    const page = [...rows(200, 203), { id: '203', hash: 'x', fields: { givenName: 'a\0b' } }];
    const error = await refusal(land(page) ?? Promise.resolve());
    expect(error).toMatchObject({ code: 'INVALID_VALUE', action: 'reject' });
    expect(await stored('200')).toBeUndefined();
  });

  test('a landing table that is not there is named with what it needs, and pauses nobody', async () => {
    const direct = openSqlDatabase(url);
    await sql`alter table partner_candidates rename to elsewhere`.execute(direct.kysely);
    const error = await refusal(land(rows(0, 1)) ?? Promise.resolve());
    await sql`alter table elsewhere rename to partner_candidates`.execute(direct.kysely);
    await direct.close();
    expect(error).toMatchObject({ code: 'LANDING_UNUSABLE', action: 'reject' });
    expect(error.message).toMatch(/partner_candidates.*partner_id.*given_name.*hris\.landing/);
  });

  test('ids come some at a time, each once, without those marked as gone and those of others', async () => {
    await land(rows(0, 7), { tenant: 'orbit' });
    await land(rows(7, 9), { tenant: 'other' });
    const options = { tenant: 'orbit', signal: AbortSignal.timeout(120_000) };
    await hris.adapter.landing?.remove('candidates', ['3'], { ...options, mark: true });
    const ids = async (after?: string) => hris.adapter.landing?.ids('candidates', { ...options, after, most: 4 });
    expect(await ids()).toEqual(['0', '1', '2', '4']);
    expect(await ids('4')).toEqual(['5', '6']);
    expect(await ids('6')).toEqual([]);
    expect(await hris.adapter.landing?.ids('candidates', { ...options, most: 5, withGone: true })).toContain('3');
    expect(await hris.adapter.landing?.marks?.('candidates', options)).toBe(true);
  });

  test('a record that is back is not marked, wherever the process that landed it was killed', async () => {
    const direct = openSqlDatabase(url);
    onTestFinished(() => direct.close());
    const columns = { givenName: { column: 'given_name', type: 'text' as const, required: false } };
    const table = { table: 'partner_candidates', columns };
    const [back] = rows(3, 4, { fields: { givenName: 'Back' } });
    for (let killAt = 1; killAt <= 3; killAt += 1) {
      const options = { tenant: 'acme', signal: AbortSignal.timeout(120_000) };
      await hris.adapter.landing?.remove('candidates', ['3'], { ...options, mark: true });
      expect((await stored('3'))?.['gone_at']).not.toBeNull();
      let statements = 0;
      const kysely = direct.kysely.withPlugin({
        transformQuery({ node }) {
          statements += 1;
          if (statements === killAt) throw new Error('killed');
          return node;
        },
        transformResult: async ({ result }) => result,
      });
      const page = [{ ...back!, hash: `back ${killAt}` }];
      await expect(landRows({ ...direct, kysely }, table, page, options)).rejects.toThrow('killed');
      await landRows(direct, table, page, options);
      expect(await stored('3')).toMatchObject({ given_name: 'Back', gone_at: null });
    }
  });

  test('an empty page is no write', async () => {
    expect(await land([])).toEqual({ unchanged: 0, created: 0, updated: 0 });
  });
});

test('a text lands as it is, and one that is JSON as a value in a column of that type', async () => {
  const { url, drop } = await createDatabase();
  const hris = await startSqlHris({ url, drop }, {});
  const direct = openSqlDatabase(url);
  onTestFinished(async () => {
    await direct.close();
    await hris.stop();
  });
  await sql`alter table partner_candidates alter column given_name type jsonb using null`.execute(direct.kysely);
  const texts = ['{ "a": 1.0, "b": ["c"] }', '["d"]', '[draft', '{"a": 1} x', '12', 'null', 'O\'Brien "Bob"'];
  const page = texts.map((text, n) => ({ id: `${n}`, hash: `${n}`, fields: { givenName: text, familyName: text } }));
  await hris.adapter.landing?.land('candidates', page, { tenant: 'acme', signal: AbortSignal.timeout(120_000) });
  const { rows: landed } = await sql<Record<string, unknown>>`
    select jsonb_typeof(given_name) as type, family_name as text from partner_candidates order by partner_id`.execute(
    direct.kysely,
  );
  expect(landed.map(({ text }) => text)).toEqual(texts);
  expect(landed.map(({ type }) => type)).toEqual(['object', 'array', ...Array(5).fill('string')]);
});

test.each([
  ['blanks or a line end around it', [' {"a":1}', '["b"]\n', '\t[1] ']],
  ['an escaped NUL character', [String.raw`{"a":"\u0000"}`, String.raw`["\\\u0000"]`]],
  [
    'half of an escaped surrogate pair',
    [String.raw`["\ud83d"]`, String.raw`["\uDE00 x"]`, String.raw`["\ud83d\\\ude00"]`],
  ],
])('a text that is JSON with %s lands as the text it is', async (_what, texts) => {
  const { url, drop } = await createDatabase();
  const hris = await startSqlHris({ url, drop }, {});
  onTestFinished(() => hris.stop());
  const whole = [String.raw`["\ud83d\ude00"]`, String.raw`["\\u0000"]`];
  const page = [...texts, ...whole].map((text, n) => ({ id: `${n}`, hash: `${n}`, fields: { familyName: text } }));
  const reach = { tenant: 'acme', signal: AbortSignal.timeout(120_000) };
  await hris.adapter.landing?.land('candidates', page, reach);
  const ids = page.map(({ id }) => id);
  const landed = (await hris.adapter.landing?.read('candidates', ids, reach)) ?? [];
  const kept = new Map(landed.map(({ id, fields }) => [id, fields['familyName']]));
  expect(ids.map((id) => kept.get(id))).toEqual([...texts, ...whole]);
});

test('a landing table that the user may not write refuses the stream, never the tenant', async () => {
  const { url, drop } = await createDatabase();
  const hris = await startSqlHris({ url, drop }, {});
  const direct = openSqlDatabase(url);
  const role = `reader_${randomUUID().slice(0, 8)}`;
  try {
    await sql.raw(`create role ${role} login password 'reader'`).execute(direct.kysely);
    await sql.raw(`grant select on partner_candidates to ${role}`).execute(direct.kysely);
    const reader = new URL(url);
    Object.assign(reader, { username: role, password: 'reader' });
    const adapter = await openHris('sql', 'reader', { url: reader.href }, { landings });
    const signal = AbortSignal.timeout(120_000);
    const error = await refusal(
      adapter.landing?.land('candidates', rows(0, 1), { tenant: 'acme', signal }) ?? Promise.resolve(),
    );
    await adapter.close();
    expect(error).toMatchObject({ code: 'LANDING_UNUSABLE', action: 'reject' });
    expect(error.message).toContain('Grant select, insert and update');
  } finally {
    await sql.raw(`drop owned by ${role}`).execute(direct.kysely);
    await sql.raw(`drop role ${role}`).execute(direct.kysely);
    await direct.close();
    await hris.stop();
  }
});
