import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HrisConnection } from '../../../src/hris/port.ts';
import { created, employee, refusal, signal, write } from '../profile.ts';
import { startedSftpHris } from '../sftp-under-test.ts';
import { makeOwnKey, OWN_PASSPHRASE } from './open-pgp-key.ts';

const at = startedSftpHris();
const requestsOf = async (id: string) => (await at().list('requests')).filter((name) => name.startsWith(`${id}.`));

describe('the file itself', () => {
  let hris: HrisConnection;
  beforeAll(async () => {
    hris = await at().open();
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
    ['a title behind a hyphen', '- Cook (part-time)'],
    ['a sum', '=1+1'],
    ['NULL', 'NULL'],
  ])("%s are read by Postgres' COPY as they were meant", async (what, text) => {
    const reference = `csv:${what}`;
    await hris.employees.create(employee(`csv-${what.replaceAll(' ', '-')}`, { title: text }), reference, write);
    await at().run();
    expect(await at().job.sql('select title, phone from employee where reference = $1', [reference])).toEqual([
      { title: text, phone: null },
    ]);
  });

  test.each([
    ['=cmd|/c calc', 'is a formula that a spreadsheet would run'],
    ['\t@SUM(A1)', 'is a formula that a spreadsheet would run'],
    ['a\0b', 'holds a NUL character'],
    ['\uD800', 'holds half a character'],
  ])('%j is refused by field, and nothing is written', async (title, why) => {
    const before = await at().list('requests');
    expect(await refusal(hris.employees.create(employee('bad', { title }), 'csv:bad', write))).toMatchObject({
      code: 'INVALID_VALUE',
      details: { title: why },
    });
    expect(await at().list('requests')).toEqual(before);
  });

  test('a phone in its international form is no formula', async () => {
    await hris.employees.create(employee('phone', { phone: '+61491570006' }), 'csv:phone', write);
    await at().run();
    expect(await at().job.sql("select phone from employee where reference = 'csv:phone'")).toEqual([
      { phone: '+61491570006' },
    ]);
  });

  test.each([
    ['application/pdf', 'application/pdf'],
    ['=HYPERLINK("x")', 'application/octet-stream'],
    ['text/plain\r\nE2', 'application/octet-stream'],
  ])('a document of the type %j is one of %s in its row', async (mediaType, told) => {
    const [{ id } = { id: '' }] = await at().job.sql<{ id: string }>(
      "insert into employee (given_name) values ('Ana') returning employee_id as id",
    );
    await at().job.writeRoster();
    await hris.files?.deliver(
      id,
      { name: 'Offer.pdf', document: 'offer:8', mediaType, bytes: Buffer.from('%PDF') },
      write,
    );
    const [row = ''] = (await at().list('requests')).filter((name) => /^file-.*\.csv$/.test(name));
    expect(await readFile(join(at().server.root, 'requests', row), 'utf8')).toContain(`"${told}"`);
    await at().run();
  });

  test('encrypted both ways, only the customer and we can read it', async () => {
    const { publicKey, privateKey } = await makeOwnKey();
    const sealed = await at().open({
      encryptTo: at().job.publicKey,
      decryptWith: privateKey,
      decryptPassphrase: OWN_PASSPHRASE,
    });
    at().job.decide = () => 'wait';
    const result = await sealed.employees.create(employee('sealed'), 'pgp:1', write);
    const [name = ''] = await requestsOf('hire-pgp~3A1-1');
    expect(name).toMatch(/\.csv\.pgp$/);
    expect((await readFile(join(at().server.root, 'requests', name))).includes('Reyes')).toBe(false);
    at().job.decide = () => 'create';
    at().job.encryptTo = publicKey;
    await at().run();
    if (result.kind === 'pending') created((await sealed.pending?.resolve(result.ticket, signal))!);
    expect(await refusal(hris.employees.find({ by: 'reference', value: 'pgp:1' }, signal))).toMatchObject({
      code: 'HRIS_OPENPGP',
    });
    await sealed.close();
    for (const folder of ['results', 'rosters'])
      for (const name of await at().list(folder)) if (name.endsWith('.gpg')) await at().takeAway(folder, name);
  });

  test('a public key that cannot encrypt is told by the probe', async () => {
    const signing = await at().open({ encryptTo: (await makeOwnKey('rsa2048')).publicKey });
    expect(await signing.probe(signal)).toMatchObject({
      ok: false,
      error: { code: 'HRIS_OPENPGP', message: expect.stringMatching(/hris\.encryptTo/) },
    });
    await signing.close();
  });
});
