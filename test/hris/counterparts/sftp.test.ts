import { readdir, readFile, rename, rm, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { EmployeeFields } from '../../../src/hire/employee.ts';
import type { EmployeeRecord, HrisConnection } from '../../../src/hris/port.ts';
import { openHris } from '../../../src/hris/registry.ts';
import { describeHris } from '../conformance.ts';
import {
  created,
  employee,
  type HrisProfile,
  type HrisUnderTest,
  refusal,
  signal,
  sqlProfile,
  write,
} from '../profile.ts';
import { type CustomerJob, startCustomerJob } from './customer-job.ts';
import { makeOwnKey, OWN_PASSPHRASE } from './open-pgp-key.ts';
import { startSshWire } from './ssh-wire.ts';
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
const requestsOf = async (id: string) =>
  (await inFolder('requests')).filter((name) => name.startsWith(`${id}.`)).toSorted();

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
    const ours = await requestsOf('hire-acme~3A2-1');
    expect(ours).toEqual([expect.stringMatching(/\.csv$/), expect.stringMatching(/\.csv\.ready$/)]);
    for (const name of ours) await rename(join(server.root, 'requests', name), join(server.root, name));
    expect(await create('again', 'acme:2')).toEqual(first);
    expect(await requestsOf('hire-acme~3A2-1')).toEqual([]);
    for (const name of ours) await rename(join(server.root, name), join(server.root, 'requests', name));
    job.decide = () => 'create';
    await job.run();
    expect(await refusal(create('again', 'acme:2'))).toMatchObject({ code: 'ALREADY_EXISTS', action: 'ignore' });
  });

  test('of concurrent attempts one is handed over', async () => {
    job.decide = () => 'wait';
    const second = await open();
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
    expect(await requestsOf('hire-acme~3A5-1')).toEqual([expect.stringMatching(/\.csv$/)]);
    const before = await count();
    await job.run();
    expect(await count()).toBe(before);
    await create('half', 'acme:5', { title: 'Chef' });
    await job.run();
    expect(await job.sql("select title from employee where reference = 'acme:5'")).toEqual([{ title: 'Chef' }]);
    expect(await requestsOf('hire-acme~3A5-1')).toEqual([]);
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
    const sealed = await open({ encryptTo: job.publicKey, decryptWith: privateKey, decryptPassphrase: OWN_PASSPHRASE });
    job.decide = () => 'wait';
    const result = await sealed.employees.create(employee('sealed'), 'pgp:1', write);
    const [name = ''] = await requestsOf('hire-pgp~3A1-1');
    expect(name).toMatch(/\.csv\.pgp$/);
    expect((await readFile(join(server.root, 'requests', name))).includes('Reyes')).toBe(false);
    job.decide = () => 'create';
    job.encryptTo = publicKey;
    await job.run();
    if (result.kind === 'pending') created((await sealed.pending?.resolve(result.ticket, signal))!);
    expect(await refusal(hris.employees.find({ by: 'reference', value: 'pgp:1' }, signal))).toMatchObject({
      code: 'HRIS_OPENPGP',
    });
    await sealed.close();
    for (const folder of ['results', 'rosters'])
      for (const name of await inFolder(folder)) if (name.endsWith('.gpg')) await takeAway(folder, name);
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

describe('rosters', () => {
  let hris: HrisConnection;
  beforeAll(async () => {
    hris = await open();
  });
  afterAll(() => hris.close());

  test('an employee who was there before go-live is found by e-mail, and an unfinished roster does not count', async () => {
    await job.sql(
      "insert into employee (given_name, family_name, email) values ('Old', 'Hand', 'Old.Hand@example.org')",
    );
    const find = () => hris.employees.find({ by: 'email', value: 'old.hand@EXAMPLE.org' }, signal);
    expect(await find()).toEqual({ kind: 'none', trusted: true });
    const file = await job.writeRoster();
    await rename(`${file}.ready`, `${file}.later`);
    expect(await find()).toEqual({ kind: 'none', trusted: true });
    await rename(`${file}.later`, `${file}.ready`);
    expect(await find()).toMatchObject({ kind: 'one', by: 'email' });
  });

  test('an old roster proves nothing, and the probe says how old it is; ten minutes of skew do no harm', async () => {
    const file = await job.writeRoster();
    const setAge = (seconds: number) => utimes(file, Date.now() / 1_000 - seconds, Date.now() / 1_000 - seconds);
    const nobody = () => hris.employees.find({ by: 'email', value: 'nobody@example.org' }, signal);
    await setAge(-600);
    expect(await nobody()).toEqual({ kind: 'none', trusted: true });
    expect(await hris.probe(signal)).toEqual({ ok: true });
    await setAge(100 * 3_600);
    expect(await nobody()).toEqual({ kind: 'none', trusted: false });
    expect(await hris.probe(signal)).toMatchObject({
      ok: false,
      error: { code: 'HRIS_STALE_ROSTER', message: expect.stringMatching(/100 hours old.*allows 72/) },
    });
    await job.writeRoster();
  });

  test.each([
    ['not UTF-8', Buffer.from('employee_id\r\nE\xFC\r\n', 'latin1'), /it is not UTF-8/],
    ['cut in the middle of a quoted value', 'employee_id,email\r\nE1,"a@exam', /quote not closed/],
    ['with a column too few', 'employee_id,email\r\nE1\r\n', /line 2/],
    ['with a column twice', 'employee_id,employee_id\r\n', /twice/],
    ['with an employee twice', 'employee_id\r\nE1\r\nE1\r\n', /employee E1 stands in it twice/],
    ['without the id', 'email\r\na@example.org\r\n', /has no employee_id/],
  ])('a roster %s is not believed, and its name and the reason are told', async (_what, text, why) => {
    await putFile('rosters', 'rosters-900000.csv', text);
    const error = await refusal(hris.employees.find({ by: 'number', value: '1' }, signal));
    expect(error).toMatchObject({ code: 'HRIS_UNREADABLE_FILE', message: expect.stringMatching(why) });
    expect(error.message).toMatch(/rosters\/rosters-900000\.csv/);
    expect(error.message).not.toMatch(/@exam/);
    await takeAway('rosters', 'rosters-900000.csv');
  });

  test('a byte order mark, semicolons and leading zeros are read as they are meant', async () => {
    const excel = await open({ delimiter: ';' });
    await putFile(
      'rosters',
      'rosters-900001.csv',
      '\uFEFFemployee_id;employee_number;email\r\nX1;007;"a;b@example.org"',
    );
    const results = await inFolder('results');
    for (const name of results) await rename(join(server.root, 'results', name), join(server.root, name));
    expect(await excel.employees.read('X1', signal)).toEqual({
      ref: { id: 'X1', number: '007' },
      fields: { email: 'a;b@example.org' },
    });
    for (const name of results) await rename(join(server.root, name), join(server.root, 'results', name));
    await takeAway('rosters', 'rosters-900001.csv');
    await excel.close();
  });

  test('changes are what differs from the roster before, across pages, and who is gone', async () => {
    await job.sql("delete from employee where reference like 'bulk:%'");
    await job.writeRoster();
    const all = await changesSince(undefined);
    expect(all.employees).toHaveLength(await count());
    await job.sql(`insert into employee (reference, email) select 'bulk:' || n, n || '@bulk.example' from
      generate_series(1, 450) n`);
    await job.writeRoster();
    const more = await changesSince(all.next);
    expect(more.pages).toBe(3);
    expect(new Set(more.employees.map(({ reference }) => reference)).size).toBe(450);
    await job.sql("update employee set title = 'Chef' where reference = 'bulk:7'");
    const [gone] = await job.sql<{ employee_id: string }>(
      "delete from employee where reference = 'bulk:8' returning *",
    );
    await job.writeRoster();
    const last = await changesSince(more.next);
    expect(last.employees).toMatchObject([{ reference: 'bulk:7', fields: { title: 'Chef' } }]);
    expect(last.gone).toEqual([gone?.employee_id]);
    expect(await changesSince(last.next)).toMatchObject({ employees: [], gone: [], pages: 1 });
  });

  test('a roster that comes in the middle of a comparison is compared after it', async () => {
    await job.sql("update employee set title = 'One' where reference like 'bulk:%'");
    const before = (await changesSince(undefined)).next;
    await job.sql("update employee set title = 'Two' where reference like 'bulk:%'");
    await job.writeRoster();
    const first = await hris.changes?.since(before, signal);
    expect(first?.more).toBe(true);
    await job.sql("update employee set title = 'Three' where reference = 'bulk:1'");
    await job.writeRoster();
    const rest = await changesSince(first?.next);
    expect(rest.employees.filter(({ fields }) => fields['title'] === 'Two')).toHaveLength(449 - 200);
    expect((await changesSince(rest.next)).employees).toMatchObject([{ fields: { title: 'Three' } }]);
  });

  async function changesSince(cursor: string | undefined) {
    const employees: EmployeeRecord[] = [];
    const gone: string[] = [];
    for (let pages = 1; ; pages += 1) {
      const page = await hris.changes?.since(cursor, signal);
      if (page === undefined) throw new Error('this kind has no changes');
      employees.push(...page.employees);
      gone.push(...page.gone);
      cursor = page.next;
      if (!page.more) return { employees, gone, next: page.next, pages };
    }
  }
});

describe('the columns', () => {
  test('are described where the customer does so, required ones first of all', async () => {
    const hris = await open();
    expect(await hris.describe?.('employee', signal)).toEqual([]);
    await writeFile(
      join(server.root, 'requests', 'columns.csv'),
      'column,type,required,options,max_length\r\nfamily_name,text,yes,,40\r\nshirt,text,no,S|M|L,\r\n',
    );
    expect(await hris.describe?.('employee', signal)).toEqual([
      { key: 'familyName', label: 'family_name', isField: true, type: 'text', required: true, maxLength: 40 },
      { key: 'shirt', label: 'shirt', isField: false, type: 'text', required: false, options: ['S', 'M', 'L'] },
    ]);
    await rm(join(server.root, 'requests', 'columns.csv'));
    await hris.close();
  });
});

describe('the wire', () => {
  test('a host key that is not the pinned one is refused with both fingerprints, before any login', async () => {
    const pinned = 'SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
    const hris = await open({ hostKey: pinned });
    const error = await refusal(hris.employees.create(employee('host'), 'wire:1', write));
    expect(error).toMatchObject({ code: 'HRIS_HOST_KEY', action: 'reauthorize' });
    expect(error.message).toContain(pinned);
    expect(error.message).toContain(server.hostKey);
    await hris.close();
    const both = await open({ hostKey: [pinned, server.hostKey] });
    expect(await both.probe(signal)).toEqual({ ok: true });
    await both.close();
  });

  test.each([
    ['a wrong passphrase', { passphrase: 'wrong' }],
    ['no passphrase', { passphrase: undefined }],
    ['another user', { user: 'nobody-here' }],
    ['a key that is none', { privateKey: 'none' }],
  ])('%s pauses the HR system, and shows no secret', async (_what, changes) => {
    const hris = await open(changes);
    const result = await hris.probe(signal);
    expect(result).toMatchObject({ ok: false, error: { code: 'HRIS_AUTH', action: 'reauthorize' } });
    expect(JSON.stringify(result)).not.toMatch(/wrong|OPENSSH/);
    await hris.close();
  });

  test('a folder that is missing is named', async () => {
    for (const name of ['requests', 'sent', 'results', 'rosters']) {
      const hris = await open({ folders: { [name]: 'elsewhere' } });
      const result = await hris.probe(signal);
      expect(result).toMatchObject({ ok: false, error: { code: 'HRIS_MISCONFIGURED' } });
      expect(JSON.stringify(result)).not.toMatch(/undefined/);
      await hris.close();
    }
  });

  test('a private address is not spoken to unless it is allowed', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const hris = await open({ host, allowPrivateAddress: false });
      expect(await hris.probe(signal)).toMatchObject({ ok: false, error: { code: 'HRIS_PRIVATE_ADDRESS' } });
      await hris.close();
    }
  });

  test('a server that is killed and comes back has what it had answered', async () => {
    const hris = await open();
    job.decide = () => 'wait';
    const first = await hris.employees.create(employee('restart'), 'wire:2', write);
    await server.restart();
    const again = () => hris.employees.create(employee('restart'), 'wire:2', write).catch(() => undefined);
    await expect.poll(again, { timeout: 60_000 }).toEqual(first);
    job.decide = () => 'create';
    await job.run();
    await hris.close();
  });

  test.each([
    ['answer-lost', true],
    ['reset-before', false],
  ] as const)('%s on the ready file: unknown, and the same request is handed over once', async (kind, arrives) => {
    const wire = await startSshWire(server.port);
    const hris = await open({ port: wire.port });
    expect(await hris.probe(signal)).toEqual({ ok: true });
    job.decide = () => 'wait';
    const reference = `wire:${kind}`;
    // The note is guarded as well; the ready file comes after it.
    let guarded = 0;
    const beforeSend = () => {
      guarded += 1;
      if (guarded === 2) wire.strike(kind);
    };
    const lost = await refusal(hris.employees.create(employee(kind), reference, { ...write, beforeSend }));
    expect(lost).toMatchObject({ action: 'unknown' });
    const ready = (await inFolder('requests')).filter((name) => name.endsWith('.ready'));
    expect(ready).toHaveLength(arrives ? 1 : 0);
    expect(await hris.employees.find({ by: 'reference', value: reference }, signal)).toEqual({
      kind: 'none',
      trusted: true,
    });
    expect(await hris.employees.create(employee(kind), reference, write)).toMatchObject({ kind: 'pending' });
    const before = await count();
    job.decide = () => 'create';
    await job.run();
    expect(await count()).toBe(before + 1);
    await hris.close();
    await wire.close();
  });

  test('a folder that may only be read refuses before anything is handed over', async () => {
    const hris = await open({ folders: { requests: '/proc/self' } });
    const error = await refusal(hris.employees.create(employee('readonly'), 'wire:3', write));
    expect(error.action).not.toBe('unknown');
    expect(error.code).toMatch(/^HRIS_/);
    await hris.close();
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
