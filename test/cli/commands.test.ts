import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { freePort } from '../../src/free-port.ts';
import { referencePage } from '../docs/reference.ts';
import { runCommand } from '../harness/run-command.ts';
import { scratchDir, startCli, TENANT, tenantDir } from './cli-process.ts';

test.each([
  ['demo', 'hirebridge demo --once'],
  ['up', 'hirebridge up'],
  ['serve', 'hirebridge serve --host'],
  ['worker', 'hirebridge worker'],
  ['console', 'hirebridge console --access'],
  ['hire', 'Commands:'],
  ['hold', 'Commands:'],
  ['status', 'hirebridge status'],
  ['sync', 'hirebridge sync acme candidates'],
  ['tenant', 'Commands:'],
  ['mapping', 'Commands:'],
  ['explain', 'hirebridge explain acme 5012'],
  ['sandbox', 'hirebridge sandbox --jobs 3'],
  ['doctor', 'hirebridge doctor --all --json'],
  ['openapi', 'hirebridge openapi --yaml'],
  ['collection', 'hirebridge collection --environment sandbox'],
])('%s --help shows an example', async (verb, expected) => {
  const { code, stdout } = await runCommand([verb, '--help']);
  expect(code).toBe(0);
  expect(stdout).toContain(expected);
});

test.each([
  ['an unknown verb', ['nonsense'], /unknown command/],
  [
    'a command under a group',
    ['tenant', 'check', 'acme'],
    /\(Did you mean hirebridge check, or hirebridge mapping check\?\)/,
  ],
  ['a command without its group', ['answer', 'x', 'retry'], /\(Did you mean hirebridge hold answer\?\)/],
  ['an unknown option', ['serve', '--nonsense'], /unknown option/],
  ['a port that is none', ['serve', '--port', '70000'], /whole number from 0 to 65535/],
  [
    'a missing tenant directory',
    ['serve', '--tenants', '/nowhere/tenants', '--port', '0', '--health-port', '0'],
    /\/nowhere\/tenants.*--tenants/,
  ],
])('%s is refused with exit code 2 and one clear line', async (_what, args, expected) => {
  const { code, stderr } = await runCommand(args);
  expect(code).toBe(2);
  expect(stderr).toMatch(expected);
  expect(stderr).not.toMatch(/\n\s+at /);
});

test('a tenant file that is wrong is refused with its line and column before anything is written', async () => {
  const [dir, data] = await Promise.all([tenantDir(), scratchDir()]);
  await writeFile(join(dir, 'acme.yaml'), TENANT.replace('environment: sandbox', 'environment: moon'));
  const { code, stderr } = await runCommand([
    'serve',
    '--tenants',
    dir,
    '--data',
    join(data, 'new'),
    '--port',
    '0',
    '--health-port',
    '0',
  ]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/acme\.yaml:4:\d+/);
});

test('a missing secret is refused by its reference, with what to do', async () => {
  const dir = await tenantDir();
  await rm(join(dir, 'webhook.key'));
  const { code, stderr } = await runCommand([
    'serve',
    '--tenants',
    dir,
    '--data',
    await scratchDir(),
    '--port',
    '0',
    '--health-port',
    '0',
  ]);
  expect(code).toBe(2);
  expect(stderr).toMatch(/webhook\.key.*missing or empty/s);
});

test('a Temporal that does not answer is an error with exit code 1 and its address', async () => {
  const [dir, data, port] = await Promise.all([tenantDir(), scratchDir(), freePort()]);
  const args = ['worker', '--tenants', dir, '--data', data, '--health-port', '0'];
  const { code, stderr } = await runCommand(args, { TEMPORAL_ADDRESS: `127.0.0.1:${port}` });
  expect(code).toBe(1);
  expect(stderr).toContain(`127.0.0.1:${port}`);
  expect(stderr).toContain('TEMPORAL_ADDRESS');
});

test('stack traces are shown only when debugging is asked for', async () => {
  const args = ['serve', '--tenants', '/nowhere/tenants', '--port', '0', '--health-port', '0'];
  const [plain, debug] = await Promise.all([runCommand(args), runCommand(args, { LOG_LEVEL: 'debug' })]);
  expect(plain.stderr).not.toMatch(/\n\s+at /);
  expect(debug.stderr).toMatch(/\n\s+at /);
});

test('the sandbox prints where it is and the key to use, and logs each request', async () => {
  const sandbox = startCli(['sandbox', '--port', '0', '--control-port', '0', '--jobs', '2', '--candidates', '5']);
  const { partner = '' } = await sandbox.urls();
  await expect.poll(() => /API key\s+sk_test_\w{22}/.exec(sandbox.out.stdout)?.[0]).toBeTruthy();
  const key = /sk_test_\w{22}/.exec(sandbox.out.stdout)?.[0] ?? '';
  const answer = await fetch(`${partner}/jobs`, { headers: { authorization: `Bearer ${key}` } });
  expect(answer.status).toBe(200);
  sandbox.child.kill('SIGTERM');
  const { code, stderr } = await sandbox.exited;
  expect(code).toBe(0);
  expect(stderr).toContain('"operation":"jobs.list"');
  expect(stderr).not.toContain(key);
});

test('a taken port is one clear error', async () => {
  const first = startCli(['sandbox', '--port', '0', '--control-port', '0']);
  const { partner = '' } = await first.urls();
  const second = await runCommand(['sandbox', '--port', new URL(partner).port, '--control-port', '0']);
  expect(second.code).toBe(1);
  expect(second.stderr).toMatch(/choose another port/);
});

test('an unusable variable of the environment is named, not its value', async () => {
  const { code, stderr } = await runCommand(['serve'], { HIREBRIDGE_PORT: 'eighty' });
  expect(code).toBe(2);
  expect(stderr).toContain('HIREBRIDGE_PORT');
  expect(stderr).not.toContain('eighty');
});

test('output whose reader stops early ends the command quietly', async () => {
  const { child, exited } = startCli(['openapi']);
  child.stdout?.once('data', () => child.stdout?.destroy());
  expect(await exited).toMatchObject({ code: 0, stderr: '' });
});

test('hirebridge alone names the three commands that come next, with tenants and without', async () => {
  const empty = await runCommand([], { HIREBRIDGE_TENANTS: join(await scratchDir(), 'tenants') });
  const begun = await runCommand([], { HIREBRIDGE_TENANTS: await tenantDir() });
  const named = ({ stdout }: { stdout: string }) =>
    [...stdout.matchAll(/^ {2}(hirebridge \w+)/gm)].map(([, name]) => name);
  expect([empty.code, named(empty)]).toEqual([0, ['hirebridge demo', 'hirebridge sandbox', 'hirebridge init']]);
  expect([begun.code, named(begun)]).toEqual([0, ['hirebridge check', 'hirebridge up', 'hirebridge status']]);
});

test('--help lists the commands in groups, one line of 80 columns for each', async () => {
  const { stdout } = await runCommand(['--help']);
  const groups = stdout.match(/^[A-Z][\w ]*:$/gm) ?? [];
  expect(groups).toEqual([
    'Options:',
    'Set up:',
    'Run:',
    'Look:',
    'Decide:',
    'Change:',
    'Repair:',
    'Build:',
    'Examples:',
  ]);
  const commands = stdout.slice(stdout.indexOf('Set up:'), stdout.indexOf('Exit codes:')).split('\n');
  expect(commands.filter((line) => line.length > 80 || /^ {6}/.test(line))).toEqual([]);
});

test.each(['', 'hold', 'sync'])('help of hirebridge %s fits 80 columns, but for lines to copy', async (name) => {
  const { stdout } = await runCommand(name === '' ? ['--help'] : [name, '--help']);
  expect(stdout.split('\n').filter((line) => line.length > 80 && !line.startsWith('  $ '))).toEqual([]);
});

/** They run until they are stopped, or print a document or script. */
const WITHOUT_JSON = new RegExp(
  '^hirebridge (demo|up|serve|worker|console|codec|sandbox|collection|completion|init|' +
    '(mapping|events|hris) schema|audit export)\\b',
);

test('every other command has --json', async () => {
  const [, commands = ''] = (await referencePage()).split('\n## Commands\n');
  const sections = commands.split('\n### `').slice(1);
  const lacking = sections.filter((section) => !WITHOUT_JSON.test(section) && !section.includes('- `--json`'));
  expect(lacking.map((section) => section.slice(0, section.indexOf('`')))).toEqual([]);
});

test("the store's address may stand in a file, and one that cannot be read is refused by name", async () => {
  const data = await scratchDir();
  const [file, store] = [join(data, 'store.url'), join(data, 'elsewhere.db')];
  vi.stubEnv('HIREBRIDGE_STORE_URL', `file:${file}`);
  onTestFinished(() => void vi.unstubAllEnvs());
  const missing = await runCommand(['status', '--data', data]);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining(`names ${file}, and that file cannot`)]);
  await writeFile(file, `sqlite:${store}\n`);
  const read = await runCommand(['status', '--data', data]);
  expect([read.code, read.stderr]).toEqual([2, expect.stringContaining(`no store at ${store}`)]);
});

test.each([
  ['a tenant', ['pause', 'acmee'], 'No tenant'],
  ['a stream', ['pause', 'acme', 'candidate'], 'Did you mean "candidates"?'],
])('%s that is misspelt is refused, and the one that may be meant is named', async (_what, args, expected) => {
  const [dir, data] = await Promise.all([tenantDir(), scratchDir()]);
  const places = ['--tenants', dir, '--data', data];
  await runCommand([...places, 'tenant', 'apply', '--yes', '--unchecked']);
  const { code, stderr } = await runCommand([...places, ...args]);
  expect([code, stderr]).toEqual([2, expect.stringContaining(expected)]);
});
