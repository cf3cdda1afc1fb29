import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EmployeeFields } from '../../../src/hire/hire.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { describeHris } from '../conformance.ts';
import { created, employee, refusal, signal, write } from '../profile.ts';
import { sftpUnderTest, startedSftpHris } from '../sftp-under-test.ts';

describeHris('sftp', sftpUnderTest);

const at = startedSftpHris();
const requestsOf = async (id: string) => (await at().list('requests')).filter((name) => name.startsWith(`${id}.`));

describe('a hire by files', () => {
  let hris: HrisConnection;
  beforeAll(async () => {
    hris = await at().open();
  });
  afterAll(() => hris.close());
  const create = (tag: string, reference: string, changes: EmployeeFields = {}) =>
    hris.employees.create(employee(tag, changes), reference, write);
  const resolve = (ticket: string) => hris.pending?.resolve(ticket, signal);

  test('is pending for as long as the customer takes, and resolved with the number', async () => {
    at().job.decide = () => 'wait';
    const ticket = 'hire-acme~3A1-1';
    expect(await create('days', 'acme:1')).toEqual({ kind: 'pending', ticket, nextCheckMs: 900_000 });
    await at().run();
    expect(await resolve(ticket)).toMatchObject({ kind: 'pending' });
    at().job.decide = () => 'create';
    await at().run();
    const ref = { id: expect.stringMatching(/^E\d+$/), number: expect.stringMatching(/^0\d{5}$/) };
    expect(await resolve(ticket)).toEqual({ kind: 'created', ref });
    expect(await hris.employees.find({ by: 'reference', value: 'acme:1' }, signal)).toMatchObject({ kind: 'one', ref });
  });

  test('is handed over once, whoever asks again and however often, even after the file was taken', async () => {
    at().job.decide = (id) => (id.startsWith('hire-acme~3A2') ? 'wait' : 'create');
    const first = await create('again', 'acme:2');
    expect(await create('again', 'acme:2')).toEqual(first);
    const ours = await requestsOf('hire-acme~3A2-1');
    expect(ours).toEqual([expect.stringMatching(/\.csv$/), expect.stringMatching(/\.csv\.ready$/)]);
    for (const name of ours) await rename(join(at().server.root, 'requests', name), join(at().server.root, name));
    expect(await create('again', 'acme:2')).toEqual(first);
    expect(await requestsOf('hire-acme~3A2-1')).toEqual([]);
    for (const name of ours) await rename(join(at().server.root, name), join(at().server.root, 'requests', name));
    at().job.decide = () => 'create';
    await at().run();
    expect(await refusal(create('again', 'acme:2'))).toMatchObject({ code: 'ALREADY_EXISTS', action: 'ignore' });
  });

  test('of concurrent attempts one is handed over', async () => {
    at().job.decide = () => 'wait';
    const second = await at().open();
    const all = await Promise.all(
      [hris, second, hris, second].map((one, n) =>
        one.employees.create(employee('race', { title: `Cook ${n}` }), 'acme:3', write),
      ),
    );
    expect(new Set(all.map((result) => JSON.stringify(result))).size).toBe(1);
    const [file, ready] = await requestsOf('hire-acme~3A3-1');
    expect(ready).toBe(`${file}.ready`);
    expect(await requestsOf('hire-acme~3A3-1')).toHaveLength(2);
    await second.close();
    at().job.decide = () => 'create';
    await at().run();
  });

  test('that was rejected says why, and makes room for a corrected one', async () => {
    at().job.decide = () => ({ reject: 'cost centre unknown' });
    await create('rejected', 'acme:4');
    await at().run();
    const rejected = await refusal(resolve('hire-acme~3A4-1') as Promise<unknown>);
    expect(rejected).toMatchObject({ code: 'HIRE_REJECTED', action: 'reject' });
    expect(rejected.message).toMatch(/hire-acme~3A4-1.*cost centre unknown/);
    at().job.decide = () => 'create';
    expect(await create('rejected', 'acme:4')).toMatchObject({ kind: 'pending', ticket: 'hire-acme~3A4-2' });
    await at().run();
    created((await resolve('hire-acme~3A4-2'))!);
  });

  test('that ended before its ready file is no hire, and is written anew', async () => {
    const late = new Error('the deadline has passed');
    const beforeSend = () => {
      throw late;
    };
    const stopped = hris.employees.create(employee('half'), 'acme:5', { ...write, beforeSend });
    await expect(stopped).rejects.toBe(late);
    expect(await requestsOf('hire-acme~3A5-1')).toEqual([expect.stringMatching(/\.csv$/)]);
    const before = await at().count();
    await at().run();
    expect(await at().count()).toBe(before);
    await create('half', 'acme:5', { title: 'Chef' });
    await at().run();
    expect(await at().job.sql("select title from employee where reference = 'acme:5'")).toEqual([{ title: 'Chef' }]);
    expect(await requestsOf('hire-acme~3A5-1')).toEqual([]);
  });

  test('two employees for one request are for a person to settle', async () => {
    at().job.decide = () => 'wait';
    await create('twice', 'acme:6');
    await at().put(
      'results',
      'results-900000.csv',
      'request_id,status,employee_id\r\nhire-acme~3A6-1,created,E1\r\nhire-acme~3A6-1,created,E2\r\n',
    );
    const contradiction = await refusal(resolve('hire-acme~3A6-1') as Promise<unknown>);
    expect(contradiction).toMatchObject({ code: 'CREATED_TWICE', action: 'reject' });
    await at().takeAway('results', 'results-900000.csv');
    at().job.decide = () => 'create';
    await at().run();
  });
});

describe('a change by files', () => {
  let hris: HrisConnection;
  beforeAll(async () => {
    hris = await at().open();
  });
  afterAll(() => hris.close());
  const waiting = async (id: string) =>
    (await at().list('requests')).filter((name) => name.startsWith(`change-${id}`) && name.endsWith('.ready')).length;

  test('is asked for again once another stands between: after A, B and A it is A', async () => {
    const [id = ''] = (await at().job.sql<{ id: string }>(HIRE)).map((row) => row.id);
    await at().job.writeRoster();
    const asked: number[] = [];
    for (const title of ['Cook', 'Cook', 'Chef', 'Chef', 'Cook', 'Cook']) {
      await hris.employees.update(id, { title }, write);
      asked.push(await waiting(id));
    }
    expect(asked).toEqual([1, 1, 2, 2, 3, 3]);
    await at().run();
    expect(await waiting(id)).toBe(0);
    expect(await at().job.sql('select title from employee where employee_id = $1', [id])).toEqual([{ title: 'Cook' }]);
  });
});

test('changes of one employee from two connections at once have a place each, and are carried out', async () => {
  const [{ id } = { id: '' }] = await at().job.sql<{ id: string }>(HIRE);
  await at().job.writeRoster();
  const connections = await Promise.all([at().open(), at().open()]);
  const titles = Array.from({ length: 6 }, (_, n) => `Cook ${n}`);
  await Promise.all(titles.map(async (title, n) => connections[n % 2]?.employees.update(id, { title }, write)));
  const names = (await at().list('requests')).filter((name) => name.startsWith(`change-${id}`));
  const rows = names.filter((name) => name.endsWith('.csv')).map((name) => name.split('.')[0] ?? '');
  expect(new Set(rows).size).toBe(6);
  expect(names.filter((name) => name.endsWith('.ready'))).toHaveLength(6);
  expect(names.filter((name) => name.endsWith('.claim'))).toEqual([]);
  await at().run();
  await Promise.all(connections.map((connection) => connection.close()));
});

const HIRE = "insert into employee (given_name) values ('Ana') returning employee_id as id";
