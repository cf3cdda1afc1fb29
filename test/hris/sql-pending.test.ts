import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { HrisConnection } from '../../src/hris/port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { employee, refusal, signal, write } from './profile.ts';

const FIELDS = 'given_name, family_name, email, phone, title, department, location, city, country, employment_type';
const COLUMNS = `id integer primary key, employee_number text, ${FIELDS}, start_date, birth_date,
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
  const job = { errorColumn: 'refused' };
  hris = await openHris('sql', 'test-hr', { url: `sqlite:${file}`, readFrom: 'copy', readLag: '1m', job });
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
