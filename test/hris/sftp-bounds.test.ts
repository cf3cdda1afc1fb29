import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../../src/free-port.ts';
import { openHris } from '../../src/hris/registry.ts';
import { encrypt } from '../../src/hris/sftp/ready-files.ts';
import { makeOwnKey, OWN_PASSPHRASE } from './counterparts/open-pgp-key.ts';
import { refusal, signal } from './profile.ts';
import { type ServedFile, serveFiles } from './sftp-server.ts';

const MB = 1_000_000;

/** What looking for somebody comes to at a server with these files. */
async function look(files: Record<string, ServedFile>, more: object = {}) {
  const { options, sent } = await serveFiles(files);
  const hris = await openHris('sftp', 'test-hr', { ...options, ...more });
  onTestFinished(() => hris.close());
  const find = (until = signal) => hris.employees.find({ by: 'number', value: '7' }, until);
  return { find, sent };
}

/** What would have ended the process. */
function noteDeath(): { of?: unknown } {
  const died: { of?: unknown } = {};
  const note = (error: unknown) => (died.of = error);
  process.once('uncaughtException', note);
  onTestFinished(() => void process.off('uncaughtException', note));
  return died;
}

const roster = (rows: readonly string[]): ServedFile => ({
  bytes: Buffer.from(`employee_id,employee_number\r\n${rows.join('\r\n')}\r\n`),
});

test('a roster of usual length is read over the wire', async () => {
  const { find } = await look({ 'rosters/one.csv': roster(['a,6', 'b,7']) });
  expect(await find()).toMatchObject({ kind: 'one', ref: { id: 'b', number: '7' } });
});

test('a connection that ends when a file was read, and is not closed yet, ends no process', async () => {
  const { find } = await look({ 'rosters/one.csv': { ...roster(['a,6', 'b,7']), hangsUp: true } });
  const died = noteDeath();
  expect(await refusal(find())).toMatchObject({ action: 'retry' });
  // The library tells of what it was not answered a turn later.
  for (let turn = 0; turn < 10; turn += 1) await new Promise(setImmediate);
  expect(died.of).toBeUndefined();
});

test('a private key that is none is refused, and a server that is away then ends no process', async () => {
  const { options } = await serveFiles({});
  const hris = await openHris('sftp', 'test-hr', { ...options, port: await freePort(), privateKey: 'none' });
  onTestFinished(() => hris.close());
  const died = noteDeath();
  const refused = await refusal(hris.employees.find({ by: 'number', value: '7' }, signal));
  expect(refused).toMatchObject({ code: 'HRIS_AUTH' });
  await pause(100);
  expect(died.of).toBeUndefined();
});

test('a file that may not be read says so', async () => {
  const { find } = await look({ 'rosters/one.csv': { ...roster(['a,6']), isLocked: true } });
  expect(await refusal(find())).toMatchObject({ code: 'HRIS_FORBIDDEN', action: 'reauthorize' });
});

test('a file that claims to be too long is refused before a byte of it is read', async () => {
  const { find, sent } = await look({ 'rosters/one.csv': { claims: 65 * MB, bytes: Buffer.from('x') } });
  const refused = await refusal(find());
  expect(refused).toMatchObject({ code: 'HRIS_UNREADABLE_FILE', action: 'reject' });
  expect(refused.message).toMatch(/rosters\/one\.csv.*longer than 64 MB.*Correct it on the server/);
  expect(sent()).toBe(0);
});

test('a file that goes on behind the length it claims is given up', async () => {
  // Of a file without a length, as a device is, everything would be read.
  const { find, sent } = await look({ 'rosters/one.csv': { claims: 0 } });
  expect(await refusal(find(AbortSignal.timeout(5_000)))).toMatchObject({
    code: 'HRIS_UNREADABLE_FILE',
    action: 'retry',
  });
  expect(sent()).toBeLessThan(MB);
});

test('a roster that ends before the length in the list, as while it is written again, is read again', async () => {
  const { bytes = Buffer.alloc(0) } = roster(['a,6']);
  const { find } = await look({ 'rosters/one.csv': { claims: bytes.length + 5, bytes } });
  expect(await refusal(find())).toMatchObject({
    code: 'HRIS_UNREADABLE_FILE',
    action: 'retry',
    message: expect.stringMatching(/rosters\/one\.csv.*shorter or longer/),
  });
});

test('results that are too long together are refused, with what to do', async () => {
  const claims = 60 * MB;
  const { find, sent } = await look({
    'rosters/one.csv': roster(['a,6']),
    ...Object.fromEntries([1, 2, 3, 4, 5].map((at) => [`results/${at}.csv`, { claims, bytes: Buffer.from('x') }])),
  });
  const refused = await refusal(find());
  expect(refused).toMatchObject({ code: 'HRIS_UNREADABLE_FILE', action: 'reject' });
  expect(refused.message).toMatch(/results.*together.*256 MB/);
  expect(sent()).toBeLessThan(MB);
});

test('a short file of very many records is refused', async () => {
  const { find } = await look({
    'rosters/one.csv': { bytes: Buffer.from(`employee_id\r\n${'1\r\n'.repeat(600_000)}`) },
  });
  expect((await refusal(find())).message).toMatch(/rosters\/one\.csv.*more than 500,000 records/);
});

test('a short encrypted file that is long once it is decrypted is refused', async () => {
  const { publicKey, privateKey } = await makeOwnKey();
  const bytes = await encrypt(Buffer.alloc(80 * MB, 'x'), publicKey, signal);
  expect(bytes.length).toBeLessThan(MB);
  const { find } = await look(
    { 'rosters/one.csv.pgp': { bytes } },
    { decryptWith: privateKey, decryptPassphrase: OWN_PASSPHRASE },
  );
  expect((await refusal(find())).message).toMatch(/rosters\/one\.csv\.pgp.*longer than 64 MB/);
});
