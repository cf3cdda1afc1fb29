import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { parse } from 'yaml';
import { runCommand } from '../harness/run-command.ts';
import { scratchFolder } from '../harness/scratch-folder.ts';
import { ACME, type AcmeServer, startAcmeServer } from '../hris/acme-server.ts';
import { startCli } from './cli-process.ts';

const definition = fileURLToPath(new URL('../hris/definitions/acme.yaml', import.meta.url));
let acme: string;
let server: AcmeServer;
let people: NodeJS.Timeout;

beforeAll(async () => {
  acme = join(await mkdtemp(join(tmpdir(), 'hirebridge-hris-')), 'acme.yaml');
  await writeFile(acme, (await readFile(definition, 'utf8')).replace('every: 1s', 'every: 20ms'));
  server = await startAcmeServer();
  // Somebody there finishes what is pending.
  people = setInterval(() => {
    for (const ticket of server.tasks.keys()) server.finish(ticket);
  }, 10);
  vi.stubEnv('ACME_PASSWORD', ACME.password);
});
afterAll(async () => {
  clearInterval(people);
  await server?.close();
});

const account = () => ['--url', server.url, '--option', `user=${ACME.user}`, '--allow-private-address'];
const play = (file: string, ...more: string[]) =>
  runCommand(['hris', 'test', file, ...account(), '--option', 'password=env:ACME_PASSWORD', ...more]);

test('the whole suite is played on an account, and nobody is left at work there', async () => {
  const { code, stdout, stderr } = await play(acme);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^37 passed, 12 impossible, 0 failed$/m);
  expect(stdout).toMatch(/^\(\d+\) impossible: how a file is read back: a definition does not say$/m);
  expect(stdout).toMatch(/^\d+ test employees were ended, and stay: the definition has no "remove"\./m);
  expect([...server.staff.values()].filter(({ status }) => status !== 'left')).toEqual([]);
  expect(server.staff.size).toBeGreaterThan(40);
});

test('a suite that is stopped removes its test employees as well', async () => {
  const before = server.staff.size;
  const options = ['--option', 'password=env:ACME_PASSWORD'];
  const { child, exited } = startCli(['hris', 'test', acme, ...account(), ...options]);
  await vi.waitUntil(() => server.staff.size > before, { timeout: 60_000 });
  child.kill('SIGINT');
  const { code, stdout, stderr } = await exited;
  expect({ code, stderr }).toEqual({ code: 130, stderr: expect.stringMatching(/^Stopping: the case under way ends/) });
  expect(stdout).toMatch(/^\d+ test employees? .*ended/m);
  expect([...server.staff.values()].filter(({ status }) => status !== 'left')).toEqual([]);
});

test('a failed cell shows the requests without a value, and the line of the definition', async () => {
  const file = join(await scratchFolder(), 'acme.yaml');
  const text = await readFile(acme, 'utf8');
  await writeFile(file, text.replace('get: "/staff/{id}"', 'get: "/staff/of/{id}"'));
  const line = text.split('\n').findIndex((one) => one.startsWith('read: ')) + 1;
  const { code, stdout } = await play(file, '--only', 'every field as it was sent');
  expect(code).toBe(1);
  expect(stdout).toContain(`GET /staff/of/{id} (read) -> 404  ${file}:${line}:1`);
  expect(stdout).not.toMatch(/example\.org|Hirebridge/);
});

test('an account whose search cannot be read is reported case by case, and not by its first error alone', async () => {
  const file = join(await scratchFolder(), 'acme.yaml');
  await writeFile(file, (await readFile(acme, 'utf8')).replaceAll('items: staff', 'items: stuff'));
  const { code, stdout } = await play(file, '--only', 'create: an id');
  expect(code).toBe(1);
  expect(stdout).toContain('FAILED: create: an id');
  expect(stdout).toContain(`(find.reference) -> 200  ${file}:`);
  expect(stdout).toMatch(/Whether other test employees are left there is not known: .*"find\.reference\.items"/);
});

test.each([
  [['--option', 'password=secret'], /password is a secret: write env:NAME or file:PATH/],
  [['--option', 'password'], /Expected name=value/],
  [
    ['--option', 'password=env:ACME_PASSWORD', '--option', 'passwort=env:ACME_PASSWORD'],
    /passwort.*--option name=value/,
  ],
  [
    ['--url', 'https://hr.example/api?tenant=1', '--option', 'password=env:ACME_PASSWORD'],
    /expected an address alone.*belong in "auth"/,
  ],
  [
    ['--url', 'https://me:pw@hr.example/api', '--option', 'password=env:ACME_PASSWORD'],
    /expected an address alone.*belong in "auth"/,
  ],
  [
    ['--option', 'password=env:ACME_PASSWORD', '--value', 'shoes=44'],
    /--value names no field of the definition: shoes/,
  ],
])('%j is refused, and nothing is sent', async (more, message) => {
  const before = server.logins;
  const { code, stderr } = await runCommand(['hris', 'test', acme, ...account(), ...more]);
  expect(code).toBe(2);
  expect(stderr).toMatch(message);
  expect(server.logins).toBe(before);
});

test('the schema for editors knows each key of a definition', async () => {
  const { code, stdout } = await runCommand(['hris', 'schema']);
  const { properties, required } = JSON.parse(stdout) as { properties: object; required: string[] };
  const { hrisDefinition, ...keys } = parse(await readFile(acme, 'utf8')) as Record<string, unknown>;
  expect({ code, hrisDefinition }).toEqual({ code: 0, hrisDefinition: 1 });
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(keys)));
  expect(required).toContain('create');
});
