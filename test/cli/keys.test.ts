import { randomBytes } from 'node:crypto';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { expect, test } from 'vitest';
import { systemUser } from '../../src/places.ts';
import { payloadCodec } from '../../src/temporal/hire-client.ts';
import { openKeys } from '../../src/vault/keys.ts';
import { runCommand } from '../harness/run-command.ts';
import { onFullDisk, scratchDir, startCli, tenantDir } from './cli-process.ts';

const payload = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const base64 = (bytes: Uint8Array | null | undefined): string => Buffer.from(bytes ?? []).toString('base64');
/** As JSON has it. */
const wire = ({ metadata, data }: Payload): object => ({
  metadata: Object.fromEntries(Object.entries(metadata ?? {}).map(([name, value]) => [name, base64(value)])),
  data: base64(data),
});

test('keys new makes a file that this user alone can read, adds to it, and shows no key', async () => {
  const file = join(await scratchDir(), 'keys');
  const env = { HIREBRIDGE_KEYS: `file:${file}` };
  const first = await runCommand(['keys', 'new'], env);
  expect(first).toMatchObject({ code: 0, stdout: expect.stringContaining('Keep a copy of it') });
  const second = await runCommand(['keys', 'new', '--json'], env);
  const lines = (await readFile(file, 'utf8')).trim().split('\n');
  expect(lines[1]).toMatch(new RegExp(`^${(JSON.parse(second.stdout) as { key: string }).key} `));
  for (const line of lines) expect(first.stdout + second.stdout).not.toContain(line.split(' ')[1]);
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await runCommand(['keys', 'new'], {})).stderr).toMatch(/file:PATH.*KEYS_INVALID/s);
});

test('keys new on a full disk leaves the file as it was, and an empty file is none', async () => {
  const file = join(await scratchDir(), 'keys');
  const env = { HIREBRIDGE_KEYS: `file:${file}` };
  const lines = Array.from(
    { length: 17 },
    (_, nth) => `earlier-key-${nth + 10} ${randomBytes(32).toString('base64')}\n`,
  );
  await writeFile(file, lines.join(''));
  const { stderr } = await onFullDisk(['keys', 'new'], env);
  expect(stderr).toContain('EFBIG');
  expect(await readFile(file, 'utf8')).toBe(lines.join(''));
  await writeFile(file, '');
  expect(await runCommand(['keys', 'new'], env)).toMatchObject({ code: 0, stderr: '' });
  expect(await runCommand(['keys', 'new'], env)).toMatchObject({ code: 0, stderr: '' });
});

test('codec prints an address with a token, asks for keys and a store, and writes down what it decrypts', async () => {
  const [data, tenants] = [await scratchDir(), await tenantDir()];
  const ref = `file:${join(await scratchDir(), 'keys')}`;
  const env = { HIREBRIDGE_KEYS: ref };
  const places = ['--data', data, '--tenants', tenants];
  const codecArgs = ['codec', '--port', '0', '--as', 'eve', ...places];
  const refused = await runCommand(codecArgs, env);
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('hirebridge keys new') });
  await runCommand(['keys', 'new'], env);
  expect((await runCommand(codecArgs, env)).stderr).toContain('STORE_MISSING');
  await runCommand(['tenant', 'apply', '--yes', '--unchecked', ...places], env);
  const { child, out, exited, urls } = startCli(codecArgs, env);
  const { codec = '' } = await urls();
  await expect.poll(() => out.stdout).toContain(`codec  ${codec}/`);
  const address = out.stdout.trim().split('  ')[1] ?? '';
  const sealed = await payloadCodec(openKeys(ref)).encode([payload({ tenantId: 'acme', note: 'Canary' })]);
  const body = JSON.stringify({ payloads: sealed.map(wire) });
  for (let times = 0; times < 3; times += 1)
    expect(await (await fetch(`${address}/decode`, { method: 'POST', body })).json()).toEqual({
      payloads: [wire(payload({ tenantId: 'acme', note: 'Canary' }))],
    });
  child.kill('SIGTERM');
  expect((await exited).code).toBe(0);
  const { stdout } = await runCommand(['audit', 'export', 'acme', ...places], env);
  const looks = stdout.split('\n').filter((line) => line.includes('"looked"'));
  expect(looks.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ details: 'payloads of Temporal: 1', by: `${systemUser()} for eve` }),
    expect.objectContaining({ details: 'payloads of Temporal: 2 more' }),
  ]);
  expect(stdout).not.toContain('Canary');
  expect((await runCommand(['audit', 'verify', ...places], env)).code).toBe(0);
});

test('keys rotate makes a data key of a tenant, status names it, and without keys no store is opened', async () => {
  const [data, tenants, keys] = [await scratchDir(), await tenantDir(), join(await scratchDir(), 'keys')];
  const env = { HIREBRIDGE_KEYS: `file:${keys}` };
  const places = ['--data', data, '--tenants', tenants];
  await runCommand(['tenant', 'apply', '--yes', '--unchecked', ...places]);
  expect((await runCommand(['keys', 'status', ...places])).stderr).toContain('HIREBRIDGE_KEYS is not set');
  const { key } = JSON.parse((await runCommand(['keys', 'new', '--json'], env)).stdout) as { key: string };
  expect((await runCommand(['keys', 'rotate', 'acm', ...places], env)).stderr).toContain('TENANT_UNKNOWN');
  const rotated = await runCommand(['keys', 'rotate', 'acme', '--json', ...places], env);
  const { dataKey } = JSON.parse(rotated.stdout) as { dataKey: string };
  const status = await runCommand(['keys', 'status', '--json', ...places], env);
  expect(JSON.parse(status.stdout)).toEqual([
    { tenant: 'acme', dataKey, madeAt: expect.any(String), under: key, sweptAt: null },
  ]);
  expect((await runCommand(['audit', 'verify', ...places], env)).code).toBe(0);
  expect((await runCommand(['tenant', 'list', ...places])).stderr).toMatch(/HIREBRIDGE_KEYS is not set.*KEY_MISSING/s);
});

test('keys rotate is in the audit trail whichever of its two files it dies before it writes', async () => {
  const [data, tenants] = [await scratchDir(), await tenantDir()];
  const env = { HIREBRIDGE_KEYS: `file:${join(await scratchDir(), 'keys')}` };
  const places = ['--data', data, '--tenants', tenants];
  await runCommand(['keys', 'new'], env);
  await runCommand(['tenant', 'apply', '--yes', '--unchecked', ...places], env);
  const rotate = () => runCommand(['keys', 'rotate', 'acme', ...places], env);
  const keys = async () =>
    JSON.parse((await runCommand(['keys', 'status', '--json', ...places], env)).stdout) as object[];
  const rows = async () => {
    const { stdout } = await runCommand(['audit', 'export', 'acme', ...places], env);
    return stdout.split('\n').filter((line) => line.includes('"key-rotated"')).length;
  };
  expect([await keys(), await rows()]).toEqual([[], 0]);
  const dies = async (file: string, table: string): Promise<void> => {
    const database = new DatabaseSync(join(data, file));
    database.exec(`create trigger dies before insert on ${table} begin select raise(abort, 'dies'); end`);
    expect((await rotate()).code).not.toBe(0);
    database.exec('drop trigger dies');
    database.close();
  };
  await dies('store.db', 'audit');
  expect([await keys(), await rows()]).toEqual([[], 0]);
  await dies('keys.db', 'data_keys');
  expect([await keys(), await rows()]).toEqual([[], 1]);
  expect((await rotate()).code).toBe(0);
  expect([(await keys()).length, await rows()]).toEqual([1, 2]);
});
