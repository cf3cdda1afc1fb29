import { type RawBuilder, sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type MariadbServer, onMariadb, startMariadb } from '../../../src/counterparts/start-mariadb.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { openHris } from '../../../src/hris/registry.ts';
import { openSqlDatabase } from '../../../src/hris/sql/open-database.ts';
import { landings } from '../../../src/streams/streams.ts';
import { ensureHrisSchema } from '../../harness/ensure-hris-schema.ts';
import { created, employee, refusal, signal, write } from '../profile.ts';
import { trustedPairs } from '../tls-proxy.ts';

let server: MariadbServer;
let url: string;
let hris: HrisConnection;

beforeAll(async () => {
  server = await startMariadb((await trustedPairs()).right);
});
afterAll(() => server?.stop());
beforeEach(async () => {
  url = await server.newDatabase();
  await ensureHrisSchema(url, {}, landings);
  hris = await openHris('sql', 'hr', { url }, { landings });
});
afterEach(() => hris.close());

const admin = (statement: RawBuilder<unknown>) => onMariadb(url, statement);
const create = (tag: string, reference = `17:${tag}`, changes = {}) =>
  hris.employees.create(employee(tag, changes), reference, write);

describe('what the database itself decides', () => {
  test.each([
    [
      'a trigger’s exception is a refusal',
      "create trigger no before insert on employees for each row signal sqlstate '45000' set message_text = 'no Reyes'",
      { code: 'INVALID_VALUE', action: 'reject' },
    ],
    [
      'a check is a refusal',
      "alter table employees add constraint titled check (family_name <> 'Reyes second')",
      { code: 'INVALID_VALUE', action: 'reject' },
    ],
    [
      'another unique key is a refusal by field, whatever its name',
      'alter table employees add unique one_each (title(40))',
      { code: 'DUPLICATE_VALUE', action: 'reject', details: { title: expect.any(String) } },
    ],
    [
      'a column too short is a refusal, and nothing is cut',
      'alter table employees modify family_name varchar(11)',
      { code: 'INVALID_VALUE', action: 'reject', details: { familyName: expect.any(String) } },
    ],
    ['a read-only server is a retry', 'set global read_only = on', { code: 'HRIS_BUSY', action: 'retry' }],
  ])('%s', async (_what, statement, expected) => {
    await create('first');
    await admin(sql.raw("create user if not exists hr identified by 'secret'"));
    await admin(sql.raw(`grant all on *.* to hr`));
    await admin(sql.raw('revoke super, read_only admin on *.* from hr'));
    const as = Object.assign(new URL(url), { username: 'hr', password: 'secret' }).href;
    const limited = await openHris('sql', 'hr', { url: as }, { landings });
    await admin(sql.raw(statement));
    const refused = await refusal(limited.employees.create(employee('second'), '17:second', write));
    await admin(sql.raw('set global read_only = off'));
    await limited.close();
    expect(refused).toMatchObject(expected);
    expect(JSON.stringify(refused)).not.toMatch(/Reyes|Cook|example\.org/);
    expect(await admin(sql`select 1 from employees`)).toHaveLength(1);
  });

  test('a value the column cannot hold is refused without being repeated', async () => {
    const refused = await refusal(create('date', '17:date', { startDate: '2026-13-45' }));
    expect(refused).toMatchObject({
      code: 'INVALID_VALUE',
      action: 'reject',
      details: { startDate: expect.any(String) },
    });
    expect(JSON.stringify(refused)).not.toContain('2026-13-45');
  });

  test('a lock held over there ends the statement before the deadline does', async () => {
    const other = openSqlDatabase(url);
    await other.kysely.connection().execute(async (session) => {
      await sql`lock tables employees write`.execute(session);
      const soon = { ...write, remainingMs: () => 1_000 };
      const blocked = await refusal(hris.employees.create(employee('blocked'), '17:blocked', soon));
      expect(blocked).toMatchObject({ code: 'HRIS_BUSY', action: 'retry' });
      await sql`unlock tables`.execute(session);
    });
    await other.close();
    expect(created(await create('blocked')).number).toBe('000123');
  });
});

describe('who is who', () => {
  test('a generated key of text is found again by our reference', async () => {
    await admin(sql`create table staff as select * from employees where 1 = 0`);
    await admin(sql`alter table staff drop column id, add column id uuid not null default uuid() primary key,
      modify employee_number varchar(20)`);
    const staff = await openHris('sql', 'hr', { url, table: 'staff' });
    const ref = created(await staff.employees.create(employee('uuid'), '17:uuid', write));
    expect(ref.id).toMatch(/^[\da-f-]{36}$/);
    expect(await staff.employees.read(ref.id, signal)).toMatchObject({ ref });
    await staff.close();
  });

  test.each([{}, { referenceColumn: 'none' }])('another column that counts up is not the key: %o', async (options) => {
    await admin(sql.raw('alter table employees modify id bigint, add row_no bigint auto_increment unique'));
    await admin(sql.raw('alter table employees drop primary key'));
    await admin(sql.raw('alter table employees modify id varchar(20) default "" primary key'));
    await admin(
      sql.raw("create trigger named before insert on employees for each row set new.id = concat('S', uuid_short())"),
    );
    await create('somebody');
    // Somebody's key is what the next row counts up to.
    await admin(sql.raw("update employees set id = '2'"));
    await hris.close();
    hris = await openHris('sql', 'hr', { url, ...options }, { landings });
    const made = await create('other').catch((error: unknown) => error);
    expect(made).toMatchObject(
      'referenceColumn' in options
        ? { action: 'unknown', code: 'OUTCOME_UNKNOWN' }
        : { ref: { id: expect.stringMatching(/^S\d/) } },
    );
  });

  test('a value for a column that the database makes itself is refused by its field', async () => {
    await admin(sql.raw('alter table employees add full_name varchar(80) as (concat(given_name, family_name)) stored'));
    const own = await openHris('sql', 'hr', { url, fields: { whole: { column: 'full_name' } } }, { landings });
    const refused = await refusal(own.employees.create(employee('made', { whole: 'x' }), '17:made', write));
    await own.close();
    expect(refused).toMatchObject({ code: 'INVALID_VALUE', action: 'reject', details: { whole: expect.any(String) } });
  });

  test('a reference that differs in case alone is another, where the column says so', async () => {
    const [one, two] = [created(await create('a', '17:x')), created(await create('b', '17:X'))];
    expect(one.id).not.toBe(two.id);
    expect(await hris.employees.find({ by: 'reference', value: '17:X' }, signal)).toMatchObject({ ref: two });
  });

  test('an id with a blank behind it is nobody’s', async () => {
    const { id } = created(await create('blank'));
    expect(await hris.employees.read(`${id} `, signal)).toBeUndefined();
    expect(await hris.employees.read(`0${id}`, signal)).toBeUndefined();
  });
});

test('a page lands once, changes land, and a value taken away leaves its row', async () => {
  const rows = Array.from({ length: 100 }, (_, n) => {
    const fields = { givenName: `Given ${n}`, email: `p${n}@example.org`, skills: ['a', 'b'] };
    return { id: String(n), hash: `h${n}`, fields };
  });
  const land = (page: typeof rows) => hris.landing?.land('candidates', page, { tenant: 'acme', signal });
  expect(await land(rows)).toEqual({ unchanged: 0, created: 100, updated: 0 });
  expect(await land(rows)).toEqual({ unchanged: 100, created: 0, updated: 0 });
  const changed = { id: '3', hash: 'other', fields: { givenName: 'Renamed' } };
  expect(await land([changed as (typeof rows)[number]])).toEqual({ unchanged: 0, created: 0, updated: 1 });
  const [row] = (await hris.landing?.read('candidates', ['3'], { tenant: 'acme', signal })) ?? [];
  expect(row).toMatchObject({ hash: 'other', fields: { givenName: 'Renamed', email: null, skills: null } });
  await hris.landing?.remove('candidates', ['3'], { tenant: 'acme', signal, mark: true });
  expect(await hris.landing?.ids('candidates', { tenant: 'acme', signal, most: 200 })).toHaveLength(99);
});

test('columns are described by their types, enums, checks and lengths', async () => {
  await admin(
    sql.raw(`create table staff (id int auto_increment primary key, employee_number text, external_ref text,
    given_name varchar(40) not null, title text check (title in ('Cook', 'Chef''s cook')), site enum('BER', 'MU''C'),
    pay decimal(8,2), remote boolean, nick text check (char_length(nick) <= 12), cost_centre char(4) not null)`),
  );
  const fields = Object.fromEntries(
    ['given_name', 'title', 'site', 'pay', 'remote', 'nick'].map((column) => [column, { column }]),
  );
  const staff = await openHris('sql', 'hr', { url, table: 'staff', fields });
  const described = Object.fromEntries(
    (await staff.describe?.('employee', signal))?.map((one) => [one.key, one]) ?? [],
  );
  await staff.close();
  expect(described).toMatchObject({
    given_name: { type: 'text', required: true, maxLength: 40 },
    title: { type: 'text', required: false, options: ['Cook', "Chef's cook"] },
    site: { type: 'text', options: ['BER', "MU'C"] },
    pay: { type: 'number', decimals: 2 },
    remote: { type: 'boolean' },
    nick: { type: 'text', maxLength: 12 },
    cost_centre: { isField: false, required: true, maxLength: 4 },
  });
});

test('an address that names no MariaDB is refused before anything is sent', async () => {
  const refusals = ['mariadb://', `${url}?sslmode=require`, `${url}?ssl=true`, `${url}?sslmode=verify-full`];
  for (const address of refusals) {
    const refused = await refusal(openHris('sql', 'hr', { url: address }));
    expect(refused).toMatchObject({ code: 'HRIS_OPTIONS_INVALID', action: 'reject' });
  }
});
