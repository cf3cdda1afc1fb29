import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { asAdmin } from '../../src/counterparts/start-postgres.ts';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { ensureHrisSchema } from '../harness/ensure-hris-schema.ts';
import { createDatabase } from '../harness/postgres.ts';
import { employee, refusal, signal, write } from './profile.ts';
import { leaveNumbersToJob } from './sql-job.ts';

const FIELDS =
  "given_name, family_name, email, phone, title not null default 'none', " +
  'department, location, city, country, employment_type';
const COLUMNS = `id integer primary key, employee_number text, ${FIELDS}, start_date, birth_date, last_day,
  external_ref text unique, refused text`;

let folder: string;
let table: DatabaseSync;
let hris: HrisConnection;

/** The customer's table, and a copy for reading that is as old as its last refresh. */
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hirebridge-hris-'));
  const file = join(folder, 'hr.sqlite');
  table = new DatabaseSync(file);
  table.exec(`create table employees (${COLUMNS}); create table copy (${COLUMNS})`);
  const reads = { readFrom: 'copy', readLag: '1m', endColumn: 'last_day' };
  const job = { errorColumn: 'refused' };
  const fields = { endedOn: { column: 'last_day', type: 'date' } };
  hris = await openHris('sql', 'test-hr', { url: `sqlite:${file}`, ...reads, job, fields });
});

afterEach(async () => {
  await hris.close();
  table.close();
  await rm(folder, { recursive: true });
});

function refreshCopy(): void {
  table.exec('delete from copy; insert into copy select * from employees');
}

/** A create that the job has refused, which the copy shows. */
async function refusedTicket(reference: string, fields = employee(reference)): Promise<string> {
  const result = await hris.employees.create(fields, reference, write);
  table.exec("update employees set refused = 'no such cost centre'");
  refreshCopy();
  return result.kind === 'pending' ? result.ticket : '';
}

test('a corrected create waits for the job while a lagging copy still shows the old refusal', async () => {
  const ticket = await refusedTicket('17:1');
  expect(await refusal(Promise.resolve(hris.pending?.resolve(ticket, signal)))).toMatchObject({
    code: 'HIRE_REJECTED',
  });
  await hris.employees.create(employee('17:1', { title: 'Chef' }), '17:1', write);
  expect(await hris.pending?.resolve(ticket, signal)).toMatchObject({ kind: 'pending', ticket });
  table.exec("update employees set employee_number = '000123'");
  expect(await hris.pending?.resolve(ticket, signal)).toEqual({
    kind: 'created',
    ref: { id: ticket, number: '000123' },
  });
});

test('a refusal that the copy does not show yet is corrected all the same', async () => {
  const ticket = await refusedTicket('17:2');
  table.exec('delete from copy');
  const again = await hris.employees.create(employee('17:2', { title: 'Chef' }), '17:2', write);
  expect(again).toMatchObject({ kind: 'pending', ticket });
});

test.each([
  ['before the correction', 1],
  ['just before the correction is written', 2],
])('a row that was numbered over there %s is never written over', async (_when, atCall) => {
  await refusedTicket('17:3');
  let calls = 0;
  const beforeSend = () => {
    calls += 1;
    if (calls === atCall) table.exec("update employees set employee_number = '000123', title = 'Head cook'");
  };
  const corrected = employee('17:3', { title: 'Chef' });
  const again = await refusal(hris.employees.create(corrected, '17:3', { ...write, beforeSend }));
  expect(again).toMatchObject({ code: 'ALREADY_EXISTS' });
  expect({ calls, ...table.prepare('select title, refused from employees').get() }).toEqual({
    calls: atCall,
    title: 'Head cook',
    refused: 'no such cost centre',
  });
});

test('a value that the corrected create leaves out goes back to what a new row would have', async () => {
  const { title: _title, ...untitled } = employee('17:4');
  await refusedTicket('17:4', employee('17:4', { phone: 'no number', endedOn: '2027-01-01' }));
  await hris.employees.create(untitled, '17:4', write);
  const row = table.prepare('select phone, title, last_day, external_ref, family_name from employees').get();
  expect(row).toEqual({
    phone: null,
    title: 'none',
    last_day: '2027-01-01',
    external_ref: '17:4',
    family_name: 'Reyes 17:4',
  });
});

test('in Postgres a value is taken away only where this user may update its column', async () => {
  const { url, drop } = await createDatabase();
  const role = `hr_${new URL(url).pathname.slice(-12)}`;
  onTestFinished(async () => {
    await asAdmin(url, `drop owned by ${role}; drop role ${role}`);
    await drop();
  });
  await ensureHrisSchema(url);
  await leaveNumbersToJob(url);
  await asAdmin(url, `create role ${role} login; grant select, insert on employees to ${role}`);
  await asAdmin(
    url,
    `grant update (given_name, family_name, email, title, start_date, birth_date, phone, refused)
    on employees to ${role}`,
  );
  const as = Object.assign(new URL(url), { username: role }).href;
  const limited = await openHris('sql', 'test-hr', { url: as, job: { errorColumn: 'refused' } });
  onTestFinished(() => limited.close());
  const first = employee('17:5', { phone: 'no number', city: 'Lima' });
  const result = await limited.employees.create(first, '17:5', write);
  await asAdmin(url, "update employees set refused = 'no such number'");
  expect(await limited.employees.create(employee('17:5'), '17:5', write)).toEqual(result);
  const row = await limited.employees.read(result.kind === 'pending' ? result.ticket : '', signal);
  expect(row?.fields).toMatchObject({ ...employee('17:5'), phone: null, city: 'Lima' });
});
