import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EmployeeChanges, EmployeeRecord } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { createDatabase } from '../harness/postgres.ts';
import { created, employee, refusal, write } from './profile.ts';

const databases = {
  async SQLite() {
    const folder = await mkdtemp(join(tmpdir(), 'hirebridge-hris-'));
    return { url: `sqlite:${join(folder, 'hr.sqlite')}`, drop: () => rm(folder, { recursive: true, force: true }) };
  },
  Postgres: createDatabase,
};

const { signal } = write;

describe.each(Object.entries(databases))('employees that changed in %s', (_name, database) => {
  let url: string;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    ({ url, drop } = await database());
    await ensureHrisSchema(url, {
      endColumn: 'last_day',
      changes: { column: 'changed_at' },
      requisitions: {},
      fields: { version: { column: 'version', type: 'number' } },
    });
  });
  afterAll(() => drop());

  const open = (column: string, overlap: string) =>
    openHris('sql', 'hr', {
      url,
      endColumn: 'last_day',
      changes: { column, overlap },
      requisitions: {},
      lists: { sites: { table: 'sites', labelColumn: 'title', activeColumn: 'is_open' } },
      fields: { version: { column: 'version', type: 'number' } },
    });
  const run = async (statement: ReturnType<typeof sql>): Promise<void> => {
    const direct = openSqlDatabase(url);
    await statement.execute(direct.kysely);
    await direct.close();
  };
  const insert = (from: number, to: number, version: number | null): Promise<void> => {
    const rows = Array.from({ length: to - from }, (_, n) => {
      const tag = `v${from + n}`;
      return sql`('Ana', ${tag}, ${`${tag}@example.org`}, '2026-02-01', ${version})`;
    });
    return run(sql`insert into employees (given_name, family_name, email, start_date, version)
      values ${sql.join(rows)}`);
  };
  const names = (employees: EmployeeRecord[]) => employees.map(({ fields }) => String(fields['familyName']));

  async function drain(changes: EmployeeChanges | undefined, from?: string) {
    const seen: string[] = [];
    let pages = 0;
    for (let cursor = from; changes !== undefined; ) {
      const page = await changes.since(cursor, signal);
      seen.push(...names(page.employees));
      pages += 1;
      cursor = page.next;
      if (!page.more) return { seen, pages, next: cursor };
    }
    throw new Error('this HRIS tells no changes');
  }

  test('without a cursor it begins at the beginning; equal values over a page border are all read once', async () => {
    await insert(0, 450, 7);
    const hris = await open('version', '0s');
    const { seen, pages } = await drain(hris.changes);
    expect(seen.toSorted()).toEqual(Array.from({ length: 450 }, (_, n) => `v${n}`).toSorted());
    expect(pages).toBe(3);
    await hris.close();
  });

  test('a row committed late with an earlier value is read; after the overlap nothing is read again', async () => {
    const [patient, hasty] = await Promise.all([open('version', '1h'), open('version', '0s')]);
    const first = await drain(patient.changes);
    await insert(450, 451, 6);
    expect((await drain(patient.changes, first.next)).seen).toContain('v450');

    const begun = await drain(hasty.changes);
    const settled = await drain(hasty.changes, begun.next);
    const still = await drain(hasty.changes, settled.next);
    expect(still).toEqual({ seen: [], pages: 1, next: settled.next });
    await insert(451, 452, 8);
    expect((await drain(hasty.changes, still.next)).seen).toEqual(['v451']);
    await Promise.all([patient.close(), hasty.close()]);
  });

  test('an update by anybody shows; who left is former from the day after the last one', async () => {
    const hris = await open('changed_at', '0s');
    const { id } = created(await hris.employees.create(employee('leaver'), 'ref-leaver', write));
    const first = await drain(hris.changes);
    const { next } = await drain(hris.changes, first.next);
    await run(sql`update employees set title = 'Chef' where email = 'leaver@example.org'`);
    expect((await drain(hris.changes, next)).seen).toEqual(['Reyes leaver']);

    expect(await hris.employees.read(id, signal)).toMatchObject({ former: false, fields: { title: 'Chef' } });
    await hris.employees.terminate?.(id, '2999-12-31', write);
    expect(await hris.employees.read(id, signal)).toMatchObject({ former: false });
    await hris.employees.terminate?.(id, '2020-01-31', write);
    expect(await hris.employees.read(id, signal)).toMatchObject({ former: true, ref: { id } });
    await hris.employees.rehire?.(id, { title: 'Head chef' }, write);
    expect(await hris.employees.read(id, signal)).toMatchObject({ former: false, fields: { title: 'Head chef' } });
    await hris.close();
  });

  test('news are who changed since the latest look, each once, and who was committed late between looks', async () => {
    const hris = await open('version', '1h');
    const ids = async (tags: readonly string[]): Promise<string[]> => {
      const found = tags.map((tag) => hris.employees.find({ by: 'email', value: `${tag}@example.org` }, signal));
      return (await Promise.all(found)).map((one) => (one.kind === 'one' ? one.ref.id : '')).toSorted();
    };
    let cursor: string | undefined;
    const look = async (): Promise<string[]> => {
      const news = await hris.changes?.news?.(cursor, signal);
      cursor = news?.next;
      return news?.ids.toSorted() ?? [];
    };
    expect(await look()).toEqual([]);
    expect(await look()).toEqual([]);
    await insert(500, 502, 20);
    expect(await look()).toEqual(await ids(['v500', 'v501']));
    await insert(502, 503, 19);
    expect(await look()).toEqual(await ids(['v502']));
    expect(await look()).toEqual([]);
    await insert(503, 803, 21);
    const both = [...(await look()), ...(await look())];
    expect(new Set(both).size).toBe(300);
    await run(sql`update employees set version = 22 where email = 'v500@example.org'`);
    expect(await look()).toContain((await ids(['v500']))[0]);
    await hris.close();
  });

  test('a list is read by id and label, without what is retired', async () => {
    await run(sql`create table sites (id varchar(9) primary key, title varchar(40), is_open boolean)`);
    await run(sql`insert into sites (id, title, is_open)
      values ('S2', 'Østfold', true), ('S1', 'Oslo', true), ('S3', 'Bergen', false), ('S4', 'Molde', null)`);
    const hris = await open('version', '0s');
    expect(await hris.lists?.read('sites', signal)).toEqual([
      { id: 'S1', label: 'Oslo' },
      { id: 'S2', label: 'Østfold' },
    ]);
    await hris.close();
  });

  test('open requisitions are listed with their fields', async () => {
    await run(sql`insert into requisitions (id, title, city) values ('R-2', 'Cook', null), ('R-1', 'Waiter', 'Oslo')`);
    const hris = await open('version', '0s');
    expect(await hris.requisitions?.listOpen(signal)).toEqual([
      { id: 'R-1', fields: { title: 'Waiter', description: null, city: 'Oslo', state: null, country: null } },
      { id: 'R-2', fields: { title: 'Cook', description: null, city: null, state: null, country: null } },
    ]);
    await hris.close();
  });

  test('an open requisition is read by its id and takes fields; one that is closed is not there', async () => {
    await run(sql`insert into requisitions (id, title, city) values ('R-3', 'Baker', 'Bergen'), ('7', 'Clerk', null)`);
    const hris = await open('version', '0s');
    await hris.requisitions?.update('R-3', { city: null, title: "Head of l'Aquila" }, write);
    await hris.requisitions?.update('7', { city: 'Molde' }, write);
    const read = await hris.requisitions?.read(['7', 'R-3', 'R-9'], signal);
    expect(read?.map(({ id, fields }) => [id, fields['title'], fields['city']]).sort()).toEqual([
      ['7', 'Clerk', 'Molde'],
      ['R-3', "Head of l'Aquila", null],
    ]);
    const closed = hris.requisitions?.update('R-9', { city: 'Oslo' }, write);
    expect(await refusal(closed ?? Promise.resolve())).toMatchObject({
      code: 'REQUISITION_NOT_FOUND',
      action: 'reject',
    });
    const unknown = hris.requisitions?.update('7', { colour: 'red' }, write);
    expect(await refusal(unknown ?? Promise.resolve())).toMatchObject({ code: 'INVALID_VALUE', action: 'reject' });
    await hris.close();
  });

  test('a column that is not there fails the probe, and a cursor of another making is refused', async () => {
    const hris = await open('no_such_column', '0s');
    expect(await hris.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_MISCONFIGURED' } });
    const asked = (await open('version', '0s')).changes?.since('{"at":1', signal);
    expect(await refusal(asked ?? Promise.resolve())).toMatchObject({ code: 'HRIS_CURSOR_INVALID', action: 'reject' });
    await hris.close();
  });
});
