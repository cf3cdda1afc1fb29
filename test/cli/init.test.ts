import { existsSync } from 'node:fs';
import { readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { runCommand } from '../harness/run-command.ts';
import { ACME, startAcmeServer } from '../hris/acme-server.ts';
import { type SeenRequest, scriptedPartner, testKey } from '../partner/client/scripted-partner.ts';
import { scratchDir } from './cli-process.ts';

const FLOW = { flowId: 'flow-1', name: 'Standard', status: 'ACTIVE' };
const OLD_FLOW = { flowId: 'flow-0', name: 'Old', status: 'INACTIVE' };
const dateField = (fieldLabel: string) => ({
  id: `cf_${fieldLabel}`,
  entityType: 'candidate',
  fieldLabel,
  fieldType: 'date',
});

interface Partner {
  flows?: object[];
  fields?: object[];
}

/** A partner that shows these flows and candidate custom fields, and a folder for the tenant's files. */
async function setUp({
  flows = [OLD_FLOW, FLOW],
  fields = [dateField('Available from'), dateField('Start Date')],
}: Partner = {}) {
  const answer = ({ method, path, query }: SeenRequest): object => {
    if (method === 'POST') return { status: 'success', data: dateField('Start date') };
    if (Number(query['page'] ?? 1) > 1) return { status: 'success', data: [] };
    if (path.endsWith('/custom-fields')) return { status: 'success', data: fields };
    return { status: 'success', data: path.includes('flow') && path.includes('onboarding') ? flows : [] };
  };
  const { baseUrl, seen } = await scriptedPartner((request) => ({ json: answer(request) }));
  const dir = join(await scratchDir(), 'tenants');
  const init = (...more: string[]) =>
    runCommand(['--tenants', dir, 'init', 'acme', '--partner', baseUrl, '--api-key', testKey, ...more]);
  return { dir, init, seen };
}

const SQLITE = ['--hris', 'sqlite:hr.db'];

test('init writes files that pass the checks, and the key where only its owner can read it', async () => {
  const { dir, init } = await setUp();
  const { code, stdout } = await init(...SQLITE, '--webhook-key', 'whk_initInitInit');
  expect([code, stdout]).toEqual([0, expect.stringContaining('acme-mapping.yaml')]);
  expect(stdout).toContain('set the webhook URL to https://YOUR_HOST/webhooks/acme; on this machine that is http');
  expect(stdout).toContain('start date candidate.customFields[Start Date]: by its name');
  expect(stdout).toContain('onboarding flow flow-1: "Standard", the only one that is active');
  expect(await runCommand(['--tenants', dir, 'mapping', 'check', 'acme'])).toMatchObject({ code: 0 });
  const tenant = await readFile(join(dir, 'acme.yaml'), 'utf8');
  expect(tenant).toContain('onboarding: { flow: "flow-1" }');
  expect(tenant).not.toContain(testKey);
  expect(await readFile(join(dir, 'acme-mapping.yaml'), 'utf8')).toContain('candidate.customFields[Start Date]');
  const key = join(dir, 'secrets/acme-partner.key');
  expect([await readFile(key, 'utf8'), (await stat(key)).mode & 0o777]).toEqual([`${testKey}\n`, 0o600]);
});

test('a database password does not stand in the tenant file', async () => {
  const { dir, init } = await setUp();
  await writeFile(join(dirname(dir), 'hr.url'), 'postgres://hr:hunter2@db.example/hr');
  expect(await init('--hris', `file:${join(dirname(dir), 'hr.url')}`)).toMatchObject({ code: 0 });
  expect(await readFile(join(dir, 'acme.yaml'), 'utf8')).not.toContain('hunter2');
});

test.each([
  ['a database address with its password', ['--hris', 'postgres://hr:hunter2@db.example/hr'], 'hunter2'],
  ['a key of no sandbox', ['--hris', 'sqlite:hr.db', '--api-key', 'sk_live_0123456789'], 'sk_live_0123456789'],
])('%s is not taken as an argument, which everybody on the machine sees', async (_what, more, secret) => {
  const { dir, init } = await setUp();
  const { code, stderr } = await init(...more);
  expect([code, stderr]).toEqual([2, expect.stringContaining('SECRET_IN_ARGUMENT')]);
  expect(stderr).not.toContain(secret);
  expect(existsSync(join(dir, 'acme.yaml'))).toBe(false);
});

test('init overwrites nothing', async () => {
  const { dir, init } = await setUp();
  await init(...SQLITE);
  await writeFile(join(dir, 'acme.yaml'), 'mine');
  expect(await init(...SQLITE)).toMatchObject({ code: 2, stderr: expect.stringContaining('nothing is overwritten') });
  expect(await readFile(join(dir, 'acme.yaml'), 'utf8')).toBe('mine');
});

test.each<[string, Partner, string[], string]>([
  ['no database, and nobody to ask', {}, [], 'There is no terminal to ask on. Give --hris as well'],
  ['two active flows', { flows: [FLOW, { ...FLOW, flowId: 'flow-2' }] }, SQLITE, 'Name one with --flow'],
  ['no active flow', { flows: [OLD_FLOW] }, SQLITE, 'no active onboarding flow'],
  ['no field for the start date', { fields: [] }, SQLITE, 'define it with --define'],
  ['another start date field', {}, [...SQLITE, '--start-date', 'First day'], 'it has Available from, Start Date'],
  [
    'the only date field is called otherwise',
    { fields: [dateField('Available from')] },
    SQLITE,
    'Name one with --start',
  ],
  ['an address without its path', {}, [...SQLITE, '--partner', 'http://127.0.0.1:1'], 'that ends in /v1/partner'],
  ['an option of nothing', {}, [...SQLITE, '--option', 'a=b'], '--option belongs to --definition'],
  [
    'a definition with a table',
    {},
    ['--definition', 'x.yaml', '--create-table', '--hris', 'https://hr.example'],
    'belong to a',
  ],
  ['a database of no known kind', {}, ['--hris', 'mysql:hr'], 'acme.yaml:13:8 "hris.url" is not right'],
])('init is refused, says why and writes nothing: %s', async (_what, partner, flags, why) => {
  const { dir, init } = await setUp(partner);
  const { code, stderr } = await init(...flags);
  expect([code, stderr]).toEqual([2, expect.stringContaining(why)]);
  expect(existsSync(dir)).toBe(false);
});

test.each([
  ['a title and a carriage return', '\u001b]0;taken\u0007\r\u001b[2K'],
  ['a control character before what looks like a colour', '\r[0m\u0090[1m'],
  ['text that is hidden or turned around', '\u001b[8m\u202e'],
])('what the hiring platform calls its flows gives the terminal no orders: %s', async (_, orders) => {
  const { init } = await setUp({ flows: [FLOW, { ...FLOW, flowId: 'flow-2', name: `Interns${orders}X` }] });
  const { code, stderr } = await init(...SQLITE);
  expect([code, stderr]).toEqual([2, expect.stringMatching(/flow-2 \(Interns\?+.*X\)/)]);
  const left = (await init(...SQLITE, '--flow', 'flow-1', '--start-date', `No${orders}`)).stderr;
  expect(stderr + left).not.toMatch(/(?!\n)\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u);
});

test('an id that no tenant can have is refused before anybody is asked', async () => {
  const nobody = ['--partner', 'http://127.0.0.1:1/v1/partner', '--api-key', testKey, ...SQLITE];
  const { code, stderr } = await runCommand(['--tenants', await scratchDir(), 'init', 'Acme_GmbH', ...nobody]);
  expect([code, stderr]).toEqual([2, expect.stringContaining('The id of a tenant has 1 to 40 characters, a to z')]);
});

test('init defines the field of the start date only where it is told to', async () => {
  const { dir, init, seen } = await setUp({ fields: [] });
  expect(await init(...SQLITE, '--define')).toMatchObject({ code: 0 });
  const written = seen.filter(({ method }) => method !== 'GET').map(({ body }) => body);
  expect(written).toEqual([expect.objectContaining({ fieldLabel: 'Start date', fieldType: 'date' })]);
  expect(await readFile(join(dir, 'acme-mapping.yaml'), 'utf8')).toContain('candidate.customFields[Start date]');
});

test('an HR system without a start date is set up without one', async () => {
  const { dir, init } = await setUp();
  const definition = join(dirname(dir), 'acme-hr.yaml');
  const acme = await readFile(fileURLToPath(new URL('../hris/definitions/acme.yaml', import.meta.url)), 'utf8');
  await writeFile(definition, acme.replaceAll(/^ {2}startDate: .*\n|, from: "\{fields.startDate\}"/gm, ''));
  const options = ['user=x', 'password=env:ACME_HR_PASSWORD'].flatMap((option) => ['--option', option]);
  const { stderr } = await init('--definition', definition, '--hris', 'https://hr.example', ...options);
  expect(stderr).not.toContain('TENANT_FILE_INVALID');
  expect(await readFile(join(dir, 'acme-mapping.yaml'), 'utf8')).not.toContain('startDate');
});

test('an HR system that a file describes is a tenant, which is taken up as it was written', async () => {
  const { dir, init } = await setUp();
  const server = await startAcmeServer();
  onTestFinished(() => server.close());
  const definition = join(dirname(dir), 'acme-hr.yaml');
  const acme = fileURLToPath(new URL('../hris/definitions/acme.yaml', import.meta.url));
  await writeFile(definition, await readFile(acme, 'utf8'));
  const password = join(dirname(dir), 'hr.key');
  await writeFile(password, ACME.password);
  const described = ['--definition', definition, '--hris', server.url, '--option', `user=${ACME.user}`];
  const open = await init(...described, '--option', 'password=open-secret');
  expect([open.code, existsSync(dir)]).toEqual([2, false]);
  expect(open.stderr).toMatch(/acme\.yaml:\d+:\d+ "hris\.password"/);
  expect(open.stderr).not.toContain('open-secret');
  const { stdout } = await init(...described, '--option', `password=file:${password}`);
  expect(stdout).toContain('acme-mapping.yaml');
  expect(await readFile(join(dir, 'acme.yaml'), 'utf8')).toContain(
    `  kind: http\n  connection: acme-hr\n  definition: ../acme-hr.yaml\n  url: "${server.url}"\n`,
  );
  const places = ['--tenants', dir, '--data', await scratchDir()];
  const applied = await runCommand([...places, 'tenant', 'apply', '--yes', '--unchecked']);
  expect(applied, applied.stderr).toMatchObject({ code: 0, stdout: expect.stringContaining('acme') });
  expect(server.logins, stdout).toBeGreaterThan(0);
});
