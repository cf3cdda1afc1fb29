import { rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { isConnectorError } from '../../src/errors.ts';
import { applyDefinitions, listAppliedTenants } from '../../src/store/applied-tenants.ts';
import { loadTenants, parseTenant } from '../../src/tenants/load-tenants.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { freshStore } from '../store/stores.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder, SECRET } from './acme.ts';

const HEALTHY = ACME.replace('tenant: acme', 'tenant: healthy').replace('acme-hr', 'h-hr');

let dir: string;

beforeEach(async () => {
  dir = await makeTenantsFolder();
  await writeFile(join(dir, 'healthy.yaml'), HEALTHY);
});

afterEach(() => removeTenantsFolder(dir));

const tenant = (from: string | RegExp, to: string) => ({ 'acme.yaml': ACME.replace(from, to) });
const mapped = (rules: string, more: Record<string, string | Buffer> = {}) => ({
  'acme.yaml': `${ACME}mapping: ./m.yaml\n`,
  'm.yaml': rules,
  ...more,
});
const rule = (line: string, more: Record<string, string | Buffer> = {}) => mapped(`fields:\n  ${line}\n`, more);
const bounded = (line: string, field: string) => ({
  ...rule(line),
  'acme.yaml': ACME.replace(
    'policies:',
    `  fields: { title: { column: title, ${field} } }\nmapping: ./m.yaml\npolicies:`,
  ),
});
const BOMB = `a: &a [x, x, x, x, x, x, x, x, x]\n${['b', 'c', 'd', 'e', 'f']
  .map((name, index) => `${name}: &${name} [${Array.from({ length: 9 }, () => `*${'abcdef'[index]}`).join(', ')}]`)
  .join('\n')}\n`;

type Files = Record<string, string | Buffer>;

const broken: Record<string, [files: Files, place: string, cause: string, next: string]> = {
  'a number for text': [tenant('"17"', '17'), 'acme.yaml:6:12', 'expected text', 'write a number in quotes'],
  'an unknown key': [
    tenant('  company:', '  compnay:'),
    'acme.yaml:6:3',
    'is not a known key',
    'Did you mean "company"?',
  ],
  'an unknown kind of HR system': [
    tenant('kind: sql', 'kind: slq'),
    'acme.yaml:10:9',
    'is not a kind of HRIS',
    'Did you mean "sql"?',
  ],
  'a password in an address': [
    tenant('sqlite:./hr.sqlite', `postgres://me:${SECRET}@db/hr`),
    'acme.yaml:12:8',
    'holds a password',
    'write env:NAME or file:/path here',
  ],
  'a password behind an address': [
    tenant('sqlite:./hr.sqlite', `postgres://me@db/hr?sslmode=disable&password=${SECRET}`),
    'acme.yaml:12:8',
    'holds a password',
    'write env:NAME or file:/path here',
  ],
  'a password with a slash, with which no address can be read': [
    tenant('sqlite:./hr.sqlite', `mariadb://me:a/${SECRET}@db/hr`),
    'acme.yaml:12:8',
    'holds a password',
    'write env:NAME or file:/path here',
  ],
  'a misspelt path': [
    rule('title: { from: job.titel }'),
    'm.yaml:2:18',
    '"titel" is not a field of job',
    'Did you mean "title"?',
  ],
  'a misspelt field': [
    rule('titel: { from: job.title }'),
    'm.yaml:2:3',
    '"titel" is not a field of the HR system',
    'Did you mean "title"?',
  ],
  'an unknown transform': [
    rule('title: { from: job.title, transform: [titelcase] }'),
    'm.yaml:2:41',
    '"fields.title.transform.0" is not right',
    'expected one of trim, lower',
  ],
  'a value that is none of the field': [
    bounded('title: { constant: Itnern }', 'options: [Intern, Cook]'),
    'm.yaml:2:22',
    'is not one of the values of "title"',
    'Did you mean "Intern"?',
  ],
  'a value too long for the field': [
    bounded('title: { constant: Head of kitchens }', 'maxLength: 5'),
    'm.yaml:2:22',
    'is 16 characters long, and "title" holds 5',
    'Shorten it',
  ],
  'a required field that nothing fills': [
    rule('familyName: null'),
    'm.yaml:1:1',
    'is required by the HR system and nothing fills it',
    'Add a rule',
  ],
  'a required field, and no mapping file to fill it': [
    tenant('policies:', '  fields: { badge: { column: badge, required: true } }\npolicies:'),
    'acme.yaml:9:1',
    '"badge" (badge) is required by the HR system and nothing fills it',
    'name it here: "mapping: ./acme-mapping.yaml"',
  ],
  'two origins of one field': [
    rule('title: { from: job.title, constant: Cook }'),
    'm.yaml:2:3',
    'no two of them',
    'needs one of from, constant and template',
  ],
  'two rules for one field': [
    mapped('fields:\n  title: { from: job.title }\n  title: { constant: Cook }\n'),
    'm.yaml:3:3',
    'this key is here twice',
    'Correct the line',
  ],
  'a two-way table that cannot be read backwards': [
    rule('city: { from: "candidate.customFields[City]", lookup: { Berlin: BER, Bonn: BER }, direction: both }'),
    'm.yaml:2:72',
    '"Berlin" and "Bonn" both become "BER"',
    'remove direction',
  ],
  'a file that extends itself': [
    mapped('extends: m.yaml\nfields: {}\n'),
    'm.yaml:1:10',
    'leads back to this file',
    'Remove one "extends"',
  ],
  'a lookup file that is not there': [
    rule('city: { from: candidate.city, lookup: gone.csv }'),
    'm.yaml:2:41',
    '"gone.csv" does not exist',
    'Correct the path',
  ],
  'a lookup file with a key twice': [
    rule('city: { from: candidate.city, lookup: c.csv }', { 'c.csv': 'city,code\nBonn,BN\nBonn,BO\n' }),
    'c.csv:3:1',
    'gives "Bonn" a second time',
    'Keep one of the two',
  ],
  'a mapping file that is not there': [
    { 'acme.yaml': `${ACME}mapping: ./gone.yaml\n` },
    'acme.yaml:16:10',
    'there is no such file',
    'Check the path',
  ],
  "another tenant's file as the mapping": [
    { 'acme.yaml': `${ACME}mapping: ./healthy.yaml\n` },
    'healthy.yaml:1:1',
    '"tenant" is not a known key',
    'Known here: $schema, extends, fields',
  ],
  'a secret that is missing': [
    tenant('TEST_WEBHOOK_KEY', 'TEST_NOT_SET'),
    'acme.yaml:7:17',
    'env:TEST_NOT_SET is missing or empty',
    'Set the environment variable',
  ],
  'the name of another tenant': [
    tenant('tenant: acme', 'tenant: healthy'),
    'healthy.yaml:1:9',
    '"healthy" is already the tenant of acme.yaml',
    'Give each file its own name',
  ],
  'an interval without a unit': [
    tenant('policies:', 'policies:\n  reconcile: { every: 5 }'),
    'acme.yaml:15:23',
    '"policies.reconcile.every" is not right',
    'expected a duration such as 30d',
  ],
  'a time zone that does not exist': [
    { 'acme.yaml': `${ACME}notify: { url: "https://h.example", digest: "08:00", timezone: Europe/Atlantis }\n` },
    'acme.yaml:16:64',
    '"notify.timezone" is not right',
    'expected a time zone such as Europe/Berlin',
  ],
  'a tab as indentation': [tenant('  company:', '\tcompany:'), 'acme.yaml:6:1', 'a tab indents it', 'use spaces'],
  'a key that stands twice': [
    { 'acme.yaml': `${ACME}tenant: again\n` },
    'acme.yaml:16:1',
    'this key is here twice',
    'Correct the line',
  ],
  'a line that is indented too far': [
    tenant('  company: "17"', '    company: "17"'),
    'acme.yaml:5:11',
    'this text needs quotes, or the line below it is indented too far',
    'Correct the line',
  ],
  'a no-break space as indentation': [
    tenant('  company:', '\u00A0\u00A0company:'),
    'acme.yaml:6:1',
    'a no-break space indents it',
    'use plain spaces',
  ],
  'two tenants in one file': [
    { 'acme.yaml': `${ACME}---\n${HEALTHY}` },
    'acme.yaml:16:1',
    'a second document begins here',
    'write it to a file of its own',
  ],
  'a Windows path within double quotes': [
    tenant('sqlite:./hr.sqlite', String.raw`"sqlite:C:\hr.db"`),
    'acme.yaml:12:18',
    'a backslash within "..."',
    'use single quotes',
  ],
  'text that begins with a percent sign': [
    tenant('"17"', '%17'),
    'acme.yaml:6:12',
    'text that begins with @, ` or % needs quotes',
    'Correct the line',
  ],
  'a tenant that is a number': [tenant('tenant: acme', 'tenant: 0815'), 'acme.yaml:1:9', 'a to z', 'number in quotes'],
  'braces of a template without quotes': [
    rule('city: { template: {job.city} }'),
    'm.yaml:2:11',
    '"fields.city.template" is not right',
    'expected text in quotes, such as "{job.city}, {job.country}"',
  ],
  'a lookup file with semicolons': [
    rule('city: { from: candidate.city, lookup: c.csv }', { 'c.csv': 'city;code\nBonn;BN\n' }),
    'c.csv:2:1',
    'needs two cells',
    'with a comma between them',
  ],
  'a lookup file whose first value stands where the header line belongs': [
    rule('city: { from: candidate.city, lookup: c.csv }', { 'c.csv': 'Beuel,BN\nBonn,BN\nKiel,KI\n' }),
    'c.csv:1:1',
    'holds "BN", as line 2 does',
    'Write a header line above it',
  ],
  'a lookup file without a header line, of numbers': [
    rule('city: { from: candidate.city, lookup: c.csv }', { 'c.csv': '\nBonn,4711\nKiel,4712\n' }),
    'c.csv:2:1',
    'holds the number "4711"',
    'Write a header line above it',
  ],
  'an anchor bomb': [{ 'acme.yaml': BOMB }, 'acme.yaml:2:8', 'grow without end', 'Write the values out'],
  'a file of 10 MB': [
    { 'acme.yaml': 'x'.repeat(10_000_000) },
    'acme.yaml:1:1',
    'is 10 MB long',
    'Is this the right file?',
  ],
  'a binary file': [
    { 'acme.yaml': Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff]) },
    'acme.yaml:1:1',
    'is not text in UTF-8',
    'save it as UTF-8',
  ],
};

const put = async (files: Files) => {
  for (const [name, content] of Object.entries(files)) await writeFile(join(dir, name), content);
};

test.each(Object.entries(broken))('%s: place, cause and next step are named', async (_name, row) => {
  const [files, place, cause, next] = row;
  await put(files);
  const error: unknown = await loadTenants(dir).catch((reason: unknown) => reason);
  if (!isConnectorError(error, 'TENANT_FILE_INVALID')) throw new Error('expected a refusal');
  const lines = error.message.split('\n').map((line) => line.replaceAll(`${dir}/`, ''));
  const told = lines.filter((line) => line.startsWith(`${place} `) && line.includes(cause) && line.includes(next));
  expect({ told: told.length, lines }).toEqual({ told: 1, lines });
  expect(error.message).not.toContain(SECRET);
});

test('the tenants that are applied live on, whatever stands in the folder by then', async () => {
  const { store } = await freshStore('sqlite');
  const { applications } = await planApplication(store, dir, { secrets: 'skip' });
  await applyDefinitions(store, applications, 'ada');
  for (const [files] of Object.values(broken)) {
    await put(files);
    const refused = planApplication(store, dir, { secrets: 'check' });
    await expect(refused).rejects.toMatchObject({ code: 'TENANT_FILE_INVALID' });
    for (const name of Object.keys(files)) await rm(join(dir, name));
  }
  const [healthy] = await listAppliedTenants(store);
  expect(healthy).toMatchObject({ tenantId: 'healthy', state: 'active' });
  if (healthy !== undefined) expect(await parseTenant(healthy)).toMatchObject({ tenant: 'healthy' });
});

test('an applied definition with a key that this version does not know says that a newer one is needed', async () => {
  const { store } = await freshStore('sqlite');
  const { applications } = await planApplication(store, dir, { secrets: 'skip' });
  await applyDefinitions(store, applications, 'ada');
  const [healthy] = await listAppliedTenants(store);
  if (healthy === undefined) throw new Error('nothing is applied');
  const texts = Object.entries(healthy.files).map(([path, text]) => [path, `${text}\nofTheNextRelease: true\n`]);
  const read = parseTenant({ ...healthy, files: Object.fromEntries(texts) as Record<string, string> });
  await expect(read).rejects.toMatchObject({
    action: 'reauthorize',
    message: expect.stringMatching(/ofTheNextRelease[\s\S]*If a newer hirebridge applied this definition, run that/),
  });
});

test('a file whose name ends in capitals is a tenant file as well', async () => {
  await writeFile(join(dir, 'acme.YAML'), ACME.replace('"17"', '17'));
  await expect(loadTenants(dir)).rejects.toMatchObject({ message: expect.stringContaining('acme.YAML:6:12 ') });
});

test('one value of the wrong kind is one problem', async () => {
  await put(tenant('[env:TEST_WEBHOOK_KEY]', 'env:TEST_WEBHOOK_KEY'));
  const error: unknown = await loadTenants(dir).catch((reason: unknown) => reason);
  const place = join(dir, 'acme.yaml:7:16');
  const told = `${place} "partner.webhookKeys" is not right: expected a list such as [env:ACME_WEBHOOK_KEY].`;
  expect(error).toMatchObject({ message: told });
});

test('a mapping file that a tenant names is not told to be a tenant file', async () => {
  await put(mapped('city: { from: candidate.city }\n'));
  const error: unknown = await loadTenants(dir).catch((reason: unknown) => reason);
  if (!isConnectorError(error, 'TENANT_FILE_INVALID')) throw new Error('expected a refusal');
  const lines = error.message.split('\n').map((line) => line.replaceAll(`${dir}/`, ''));
  expect(lines).toEqual([
    'm.yaml:1:1 "fields" is missing: expected keys with values, as in { key: value }. Add it.',
    'm.yaml:1:1 "city" is not a known key. Known here: $schema, extends, fields.',
  ]);
});

test('a file that cannot be read is one problem beside those of the other files', async () => {
  await symlink('nowhere.yaml', join(dir, 'gone.yaml'));
  await writeFile(join(dir, 'bad.yaml'), ACME.replace('hris:', 'hrs:'));
  const read = loadTenants(dir, { secrets: 'skip' });
  await expect(read).rejects.toMatchObject({
    code: 'TENANT_FILE_INVALID',
    message: expect.stringMatching(/bad\.yaml:[\d:]+ "hrs"[\s\S]*gone\.yaml: there is no such file/),
  });
});
