import { readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmployeeFields } from '../../../src/hire/employee.ts';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { openHris } from '../../../src/hris/registry.ts';
import { describeHris } from '../conformance.ts';
import { created, employee, type HrisProfile, type HrisUnderTest, refusal, signal, sqlProfile, write } from '../profile.ts';
import { type CustomerJob, startCustomerJob } from './customer-job.ts';
import { type SftpServer, startSftp } from './start-sftp.ts';

const profile: HrisProfile = { ...sqlProfile, refuses: ['a formula'], foldsEveryLetter: true };

let server: SftpServer;
let job: CustomerJob;
beforeAll(async () => {
  server = await startSftp();
  job = await startCustomerJob(server.root);
  await job.writeRoster();
});
afterAll(async () => {
  await job?.stop();
  await server?.stop();
});
beforeEach(() => {
  job.decide = () => 'create';
  delete job.encryptTo;
});

function open(changes: Record<string, unknown> = {}): Promise<HrisConnection> {
  const { port, hostKey, privateKey, passphrase } = server;
  const where = { host: '127.0.0.1', port, user: 'root', allowPrivateAddress: true };
  return openHris('sftp', 'test-hr', { ...where, hostKey, privateKey, passphrase, ...changes });
}

/** The customer's job runs as soon as something was handed over, so that nothing stays pending. */
function answered(adapter: HrisConnection): HrisConnection {
  const { employees, pending } = adapter;
  return {
    ...adapter,
    employees: {
      ...employees,
      async create(...args) {
        const result = await employees.create(...args);
        if (result.kind === 'created') return result;
        await once(() => job.run());
        return (await pending?.resolve(result.ticket, signal)) ?? result;
      },
      async update(...args) {
        await employees.update(...args);
        await once(() => job.run());
      },
    },
  };
}

/** One run of the job at a time. */
let running = Promise.resolve();
function once(work: () => Promise<void>): Promise<void> {
  running = running.then(work);
  return running;
}

const count = async () => Number((await job.sql<{ n: string }>('select count(*) as n from employee'))[0]?.n);
const inFolder = (name: string) => readdir(join(server.root, name));

describeHris('SFTP', async (): Promise<HrisUnderTest> => {
  const [adapter, second] = await Promise.all([open(), open()]);
  return {
    profile,
    adapter: answered(adapter),
    second: answered(second),
    count,
    stop: async () => void (await Promise.all([adapter.close(), second.close()])),
  };
});

describe('a hire by files', () => {
  let hris: HrisConnection;
  beforeAll(async () => {
    hris = await open();
  });
  afterAll(() => hris.close());
  const create = (tag: string, reference: string, changes: EmployeeFields = {}) =>
    hris.employees.create(employee(tag, changes), reference, write);
  const resolve = (ticket: string) => hris.pending?.resolve(ticket, signal);

  test('is pending for as long as the customer takes, and resolved with the number', async () => {
    job.decide = () => 'wait';
    const ticket = 'hire-acme~3A1-1';
    expect(await create('days', 'acme:1')).toEqual({ kind: 'pending', ticket, nextCheckMs: 900_000 });
    await job.run();
    expect(await resolve(ticket)).toMatchObject({ kind: 'pending' });
    job.decide = () => 'create';
    await job.run();
    const ref = { id: expect.stringMatching(/^E\d+$/), number: expect.stringMatching(/^0\d{5}$/) };
    expect(await resolve(ticket)).toEqual({ kind: 'created', ref });
    expect(await hris.employees.find({ by: 'reference', value: 'acme:1' }, signal)).toMatchObject({ kind: 'one', ref });
  });

  test('is handed over once, whoever asks again and however often, even after the file was taken', async () => {
    job.decide = (id) => (id.startsWith('hire-acme~3A2') ? 'wait' : 'create');
    const first = await create('again', 'acme:2');
    expect(await create('again', 'acme:2')).toEqual(first);
    const ours = (await inFolder('requests')).filter((name) => name.startsWith('hire-acme~3A2'));
    expect(ours.toSorted()).toEqual(['hire-acme~3A2-1.csv', 'hire-acme~3A2-1.csv.ready']);
    for (const name of ours) await rename(join(server.root, 'requests', name), join(server.root, name));
    expect(await create('again', 'acme:2')).toEqual(first);
    expect(await inFolder('requests')).not.toContain('hire-acme~3A2-1.csv');
    for (const name of ours) await rename(join(server.root, name), join(server.root, 'requests', name));
    job.decide = () => 'create';
    await job.run();
    expect(await refusal(create('again', 'acme:2'))).toMatchObject({ code: 'ALREADY_EXISTS', action: 'ignore' });
  });

  test('of concurrent attempts one is handed over', async () => {
    job.decide = () => 'wait';
    const second = await open();
    const before = (await inFolder('requests')).length;
    const all = await Promise.all(
      [hris, second, hris, second].map((one) =>
        one.employees.create(employee('race'), 'acme:3', write).catch((error: unknown) => error),
      ),
    );
    expect(all).toContainEqual(expect.objectContaining({ kind: 'pending', ticket: 'hire-acme~3A3-1' }));
    const names = await inFolder('requests');
    expect(names.filter((name) => name.endsWith('.ready')).length).toBe(
      names.filter((name) => name.endsWith('.csv')).length,
    );
    expect(names.length).toBe(before + 2);
    await second.close();
    job.decide = () => 'create';
    await job.run();
  });

  test('that was rejected says why, and makes room for a corrected one', async () => {
    job.decide = () => ({ reject: 'cost centre unknown' });
    await create('rejected', 'acme:4');
    await job.run();
    const rejected = await refusal(resolve('hire-acme~3A4-1') as Promise<unknown>);
    expect(rejected).toMatchObject({ code: 'HIRE_REJECTED', action: 'reject' });
    expect(rejected.message).toMatch(/hire-acme~3A4-1.*cost centre unknown/);
    job.decide = () => 'create';
    expect(await create('rejected', 'acme:4')).toMatchObject({ kind: 'pending', ticket: 'hire-acme~3A4-2' });
    await job.run();
    created((await resolve('hire-acme~3A4-2'))!);
  });

  test('that ended before its ready file is no hire, and is written anew', async () => {
    const late = new Error('the deadline has passed');
    const beforeSend = () => {
      throw late;
    };
    const stopped = hris.employees.create(employee('half'), 'acme:5', { ...write, beforeSend });
    await expect(stopped).rejects.toBe(late);
    const before = await count();
    await job.run();
    expect(await count()).toBe(before);
    await create('half', 'acme:5', { title: 'Chef' });
    await job.run();
    expect(await job.sql("select title from employee where reference = 'acme:5'")).toEqual([{ title: 'Chef' }]);
    expect(await inFolder('requests')).toEqual([]);
  });

  test('two employees for one request are for a person to settle', async () => {
    job.decide = () => 'wait';
    await create('twice', 'acme:6');
    await putFile(
      'results',
      'results-900000.csv',
      'request_id,status,employee_id\r\nhire-acme~3A6-1,created,E1\r\nhire-acme~3A6-1,created,E2\r\n',
    );
    const contradiction = await refusal(resolve('hire-acme~3A6-1') as Promise<unknown>);
    expect(contradiction).toMatchObject({ code: 'CREATED_TWICE', action: 'reject' });
    await takeAway('results', 'results-900000.csv');
    job.decide = () => 'create';
    await job.run();
  });
});

describe('the file itself', () => {
  let hris: HrisConnection;
  beforeAll(async () => {
    hris = await open();
  });
  afterAll(() => hris.close());

  test.each([
    ['quotes', `O'Brien "Bob" ""\\"`],
    ['delimiters', 'a,b;c\td|e'],
    ['line breaks', 'a\r\nb\nc\rd'],
    ['the end of a COPY', '\\.'],
    ['emoji', '👩🏽‍🍳'],
    ['right to left', 'مرحبا \u202Eabc'],
    ['a very long text', 'ü'.repeat(200_000)],
    ['leading zeros', '000123'],
    ['blanks at the ends', '  x  '],
    ['a sign before a number', '-12.50'],
    ['NULL', 'NULL'],
  ])("%s are read by Postgres' COPY as they were meant", async (what, text) => {
    const reference = `csv:${what}`;
    await hris.employees.create(employee(`csv-${what.replaceAll(' ', '-')}`, { title: text }), reference, write);
    await job.run();
    expect(await job.sql('select title, phone from employee where reference = $1', [reference])).toEqual([
      { title: text, phone: null },
    ]);
  });

  test.each([
    ['=cmd|/c calc', 'begins like a formula'],
    ['@SUM(A1)', 'begins like a formula'],
    ['+1+cmd', 'begins like a formula'],
    ['\t=1', 'begins like a formula'],
    ['a\0b', 'holds a zero character'],
    ['\uD800', 'holds half a character'],
  ])('%j is refused by field, and nothing is written', async (title, why) => {
    const before = await inFolder('requests');
    expect(await refusal(hris.employees.create(employee('bad', { title }), 'csv:bad', write))).toMatchObject({
      code: 'INVALID_VALUE',
      details: { title: why },
    });
    expect(await inFolder('requests')).toEqual(before);
  });

  test('a phone in its international form is no formula', async () => {
    await hris.employees.create(employee('phone', { phone: '+61491570006' }), 'csv:phone', write);
    await job.run();
    expect(await job.sql("select phone from employee where reference = 'csv:phone'")).toEqual([
      { phone: '+61491570006' },
    ]);
  });

  test('encrypted both ways, only the customer and we can read it', async () => {
    const { publicKey, privateKey } = await makeOwnKey();
    const sealed = await open({ encryptTo: job.publicKey, decryptWith: privateKey, decryptPassphrase: 'ours' });
    job.decide = () => 'wait';
    const result = await sealed.employees.create(employee('sealed'), 'pgp:1', write);
    const file = await readFile(join(server.root, 'requests', 'hire-pgp~3A1-1.csv.pgp'));
    expect(file.includes('Reyes')).toBe(false);
    job.decide = () => 'create';
    job.encryptTo = publicKey;
    await job.run();
    if (result.kind === 'pending') created((await sealed.pending?.resolve(result.ticket, signal))!);
    expect(await refusal(hris.employees.find({ by: 'reference', value: 'pgp:1' }, signal))).toMatchObject({
      code: 'HRIS_OPENPGP',
    });
    await sealed.close();
    await unsealAll();
  });

  test('a public key that cannot encrypt is told by the probe', async () => {
    const signing = await open({ encryptTo: (await makeOwnKey('rsa2048')).publicKey });
    expect(await signing.probe(signal)).toMatchObject({
      ok: false,
      error: { code: 'HRIS_OPENPGP', message: expect.stringMatching(/hris\.encryptTo/) },
    });
    await signing.close();
  });
});

async function putFile(folder: string, name: string, text: string | Buffer): Promise<void> {
  await writeFile(join(server.root, folder, name), text);
  await writeFile(join(server.root, folder, `${name}.ready`), '');
}

async function takeAway(folder: string, name: string): Promise<void> {
  await rm(join(server.root, folder, name));
  await rm(join(server.root, folder, `${name}.ready`));
}
