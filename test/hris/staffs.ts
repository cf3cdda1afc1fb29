import { join } from 'node:path';
import { sql } from 'kysely';
import { onTestFinished } from 'vitest';
import { API_KEY, REFERENCE_FIELD, startBambooDouble } from '../../src/counterparts/bamboohr-double.ts';
import { TRYTON_PASSWORD, type TrytonServer } from '../../src/counterparts/start-tryton.ts';
import { openHris } from '../../src/hris/registry.ts';
import { openSqlDatabase } from '../../src/hris/sql/open-database.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { addPeople } from './bamboohr-people.ts';
import type { SftpHris } from './sftp-under-test.ts';
import type { Staff } from './staff.ts';
import { addPeople as addPeopleToTryton } from './tryton-under-test.ts';

const LEFT = '2020-01-31';

/** Of the table, with the fields that they are: one that may be empty, and one that may not. */
const SQL_FIELDS = { title: 'title', familyName: 'family_name' } as const;

/** A table whose owner sets the stamp of a change by hand: an import that knows one time. */
export async function sqlStaff(field: keyof typeof SQL_FIELDS = 'title'): Promise<Staff> {
  const url = `sqlite:${join(await scratchFolder(), 'hr.sqlite')}`;
  const database = openSqlDatabase(url, { create: true });
  onTestFinished(() => database.close());
  const columns = 'title, department, location, city, country, employment_type, phone, start_date, birth_date';
  await sql`create table employees (id integer primary key, employee_number text, given_name text, family_name text,
    email text, ${sql.raw(columns)}, external_ref text, last_day date, changed_at real)`.execute(database.kysely);
  const options = { url, endColumn: 'last_day', changes: { column: 'changed_at' } };
  const hris = await openHris('sql', 'hr', options);
  onTestFinished(() => hris.close());
  const stamp = Date.now() / 1_000;
  return {
    kind: 'sql',
    options,
    hris,
    field,
    tells: 'left',
    async add(count) {
      const rows = Array.from(
        { length: count },
        (_, n) => sql`(${n + 1}, ${`00${n}`}, ${`Reyes ${n}`}, ${stamp - 60})`,
      );
      await sql`insert into employees (id, employee_number, family_name, changed_at)
        values ${sql.join(rows)}`.execute(database.kysely);
      return rows.map((_, n) => String(n + 1));
    },
    async edit(ids, textOf) {
      const column = sql.ref(SQL_FIELDS[field]);
      await database.kysely.transaction().execute(async (trx) => {
        for (const id of ids)
          await sql`update employees set ${column} = ${textOf(id)}, last_day = ${LEFT}, changed_at = ${stamp}
            where id = ${Number(id)}`.execute(trx);
      });
    },
  };
}

/** A company that stamps to the second, and whose clock stands. */
export async function bamboohrStaff(): Promise<Staff> {
  const double = await startBambooDouble();
  onTestFinished(() => double.close());
  const { company, url } = double;
  const options = { url, apiKey: API_KEY, referenceField: REFERENCE_FIELD, readLag: '0ms', allowPrivateAddress: true };
  const hris = await openHris('bamboohr', 'hr', options);
  onTestFinished(() => hris.close());
  const lastChanged = `${new Date().toISOString().slice(0, 19)}+00:00`;
  return {
    kind: 'bamboohr',
    options,
    hris,
    field: 'title',
    tells: 'left',
    async add(count) {
      const ids = addPeople(company, count);
      const before = `${new Date(Date.now() - 60_000).toISOString().slice(0, 19)}+00:00`;
      for (const id of ids) company.changed.set(id, { action: 'Inserted', lastChanged: before });
      return ids;
    },
    async edit(ids, textOf) {
      for (const id of ids) {
        Object.assign(company.employees.get(id) ?? {}, { jobTitle: textOf(id), status: 'Inactive' });
        company.changed.set(id, { action: 'Updated', lastChanged });
      }
    },
  };
}

/** An import past the server, which stamps the records itself. */
export async function trytonStaff(server: TrytonServer): Promise<Staff> {
  const { url, database, company } = server;
  const where = { url, database, company, user: 'admin', password: TRYTON_PASSWORD };
  const options = { ...where, allowPrivateAddress: true };
  const hris = await openHris('tryton', 'hr', options);
  onTestFinished(() => hris.close());
  let stamp: string | undefined;
  // Of the first edit, and not of the beginning: the connector looks back five minutes behind its last reading.
  const stampOnce = async (): Promise<string> => {
    const [now] = await server.sql("select to_char(timezone('UTC', now()), 'YYYY-MM-DD HH24:MI:SS') as at");
    stamp ??= `timestamp '${(now as { at: string }).at}'`;
    return stamp;
  };
  return {
    kind: 'tryton',
    options,
    hris,
    field: 'name',
    tells: 'left',
    add: (count) => addPeopleToTryton(server, count),
    async edit(ids, textOf) {
      const at = await stampOnce();
      const texts = ids.map((id) => `(${Number(id)}, '${textOf(id)}')`).join();
      await server.sql(`update party_party p set name = t.text, write_date = ${at}
        from company_employee e join (values ${texts}) t (id, text) on t.id = e.id where p.id = e.party`);
      await server.sql(`update company_employee set end_date = '${LEFT}', write_date = ${at}
        where id in (${ids.join()})`);
    },
  };
}

/** Rosters have no stamps: each is compared with the one before. Who left is told by no file. */
export async function sftpStaff({ server, job, open }: SftpHris): Promise<Staff> {
  const { port, hostKey, privateKey, passphrase } = server;
  const options = { host: '127.0.0.1', port, user: 'root', hostKey, privateKey, passphrase, allowPrivateAddress: true };
  const hris = await open();
  onTestFinished(() => hris.close());
  return {
    kind: 'sftp',
    options,
    hris,
    field: 'title',
    tells: 'number',
    async add(count) {
      const insert =
        'insert into employee (given_name) select $1 from generate_series(1, $2) returning employee_id as id';
      const rows = await job.sql<{ id: string }>(insert, ['Imported', count]);
      await job.writeRoster();
      return rows.map(({ id }) => id);
    },
    async edit(ids, textOf) {
      const update = `update employee set title = t.text, employee_number = 'N-' || t.id
        from unnest($1::text[], $2::text[]) t (id, text) where employee_id = t.id`;
      await job.sql(update, [ids, ids.map(textOf)]);
      await job.writeRoster();
    },
  };
}
