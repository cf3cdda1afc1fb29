import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { applyDefinitions, removeTenant } from '../../src/store/applied-tenants.ts';
import { insertHires } from '../../src/store/hires.ts';
import { loadTenants } from '../../src/tenants/load-tenants.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { linkPerson, who } from '../store/known-people.ts';
import { freshStore } from '../store/stores.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder, SECRET } from './acme.ts';

const BETA = ACME.replace('tenant: acme', 'tenant: beta');
let dir: string;

beforeEach(async () => {
  dir = await makeTenantsFolder();
});
afterEach(() => removeTenantsFolder(dir));

function put(name: string, text: string): Promise<void> {
  return writeFile(join(dir, name), text);
}

test.each([
  ['both take every job', '', ''],
  ['one takes every job', 'scope: { countries: [Germany] }\n', ''],
  ['one value is in both', 'scope: { countries: [Germany, France] }\n', 'scope: { countries: [" france"] }\n'],
  ['they judge by different things', 'scope: { countries: [Germany] }\n', 'scope: { jobs: ["501"] }\n'],
  [
    'they read different custom fields',
    'scope: { customField: { name: Entity, values: [A] } }\n',
    'scope: { customField: { name: Branch, values: [B] } }\n',
  ],
])('is refused when two tenants of its company share its HR system and %s', async (_, own, others) => {
  await put('acme.yaml', `${ACME}${own}`);
  await put('beta.yaml', `${BETA}${others}`);
  await expect(loadTenants(dir)).rejects.toThrow('may take the same jobs. Give both a scope');
});

test('is warned about when two tenants of its company give its HR system two names', async () => {
  const { store } = await freshStore('sqlite');
  const warnings = async () => (await planApplication(store, dir, { secrets: 'skip' })).warnings;
  await put('acme.yaml', `${ACME}scope: { jobs: ["1"] }\n`);
  const renamed = BETA.replace('connection: acme-hr', 'connection: beta-hr');
  await put('beta.yaml', `${renamed}scope: { jobs: ["2"] }\n`);
  expect(await warnings()).toEqual([expect.stringContaining('"beta-hr" and "acme-hr" seem to be one HR system')]);
  await put('beta.yaml', `${renamed.replace('hr.sqlite', 'other.sqlite')}scope: { jobs: ["2"] }\n`);
  expect(await warnings()).toEqual([]);
});

test('is refused when a company of the same number, at another server, shares its HR system', async () => {
  await put('acme.yaml', `${ACME}scope: { jobs: ["1"] }\n`);
  const far = BETA.replace(/baseUrl: .*/, 'baseUrl: https://far.example/v1/partner');
  await put('beta.yaml', `${far}scope: { jobs: ["2"] }\n`);
  await expect(loadTenants(dir)).rejects.toThrow('same company number at another address or environment');
});

test('is accepted when their scopes have nothing in common', async () => {
  const scope = (value: string) => `scope: { customField: { name: Entity, values: [${value}] } }\n`;
  await put('acme.yaml', `${ACME}${scope('GmbH')}`);
  await put('beta.yaml', `${BETA}${scope('Inc')}`);
  expect(await loadTenants(dir)).toHaveLength(2);
});

test('is refused when it shares its HR system and one of the two does not name its company', async () => {
  await put('acme.yaml', ACME.replace('  company: "17"\n', ''));
  await put('beta.yaml', BETA);
  await expect(loadTenants(dir)).rejects.toThrow(
    /beta\.yaml:6:12 "acme-hr" is shared .*acme\.yaml does not: set partner\.company/,
  );
});

test('two HR systems of one company with their ids of requisitions in one field are warned about', async () => {
  const { store } = await freshStore('sqlite');
  const warnings = async () => (await planApplication(store, dir, { secrets: 'skip' })).warnings;
  const section = (field: string) => `requisitions: { reference: "${field}" }\n`;
  const other = BETA.replace('connection: acme-hr', 'connection: beta-hr').replace('hr.sqlite', 'other.sqlite');
  await put('acme.yaml', `${ACME}scope: { jobs: ["1"] }\n${section('7001')}`);
  await put('beta.yaml', `${other}scope: { jobs: ["2"] }\n${section('7001')}`);
  expect(await warnings()).toEqual([expect.stringContaining('in one custom field (7001)')]);
  await put('beta.yaml', `${other}scope: { jobs: ["2"] }\n${section('7002')}`);
  expect(await warnings()).toEqual([]);
});

test('two tenants of one company with HR systems of their own may overlap, with a warning', async () => {
  const { store } = await freshStore('sqlite');
  const own = BETA.replace('acme-hr', 'beta-hr').replace('hr.sqlite', 'beta.sqlite');
  await put('acme.yaml', ACME);
  await put('beta.yaml', own);
  const { warnings } = await planApplication(store, dir, { secrets: 'skip' });
  expect(warnings).toEqual([expect.stringContaining('"beta" and "acme" belong to one company')]);
  await put('acme.yaml', `${ACME}scope: { jobs: ["1"] }\n`);
  await put('beta.yaml', `${own}scope: { jobs: ["2"] }\n`);
  expect((await planApplication(store, dir, { secrets: 'skip' })).warnings).toEqual([]);
});

test('is refused when another HR system files documents in its folder', async () => {
  const filed = (text: string, folder: string) =>
    text.replace('policies:', `  files: { folder: ${folder} }\npolicies:`);
  await put('acme.yaml', filed(ACME, '/srv/files'));
  const beta = BETA.replace('acme-hr', 'beta-hr').replace('hr.sqlite', 'beta.sqlite').replace('"17"', '"18"');
  await put('beta.yaml', filed(beta, '/srv/beta'));
  expect(await loadTenants(dir)).toHaveLength(2);
  await put('beta.yaml', filed(beta, '/srv/other/../files/'));
  await expect(loadTenants(dir)).rejects.toThrow(
    /beta\.yaml:\d+:\d+ documents of .*acme\.yaml also go into this folder/,
  );
  for (const within of ['/srv/files/12', '/srv']) {
    await put('beta.yaml', filed(beta, within));
    await expect(loadTenants(dir)).rejects.toThrow(
      /documents of .*acme\.yaml also go into this folder, a parent of it or a/,
    );
  }
  await put('beta.yaml', filed(beta, 'files'));
  await expect(loadTenants(dir)).rejects.toThrow(/expected the absolute path of a folder/);
});

/** A tenant of a company of its own, with the section `hris` as given. */
function ofCompany(tenant: string, company: string, hris: string): string {
  return ACME.replace('tenant: acme', `tenant: ${tenant}`)
    .replace('company: "17"', `company: "${company}"`)
    .replace(/hris:\n[\s\S]*?policies:/, `hris: { connection: shared-hr, ${hris} }\npolicies:`);
}

const SFTP =
  'kind: sftp, host: files.acme.example, user: acme, privateKey: env:TEST_HR_KEY, ' +
  `hostKey: "SHA256:${'A'.repeat(43)}"`;
const TRYTON =
  'kind: tryton, url: "https://hr.example", database: acme, company: 1, user: u, password: env:TEST_HR_KEY';
const BAMBOO = 'kind: bamboohr, url: "https://acme.bamboohr.com", apiKey: env:TEST_HR_KEY, referenceField: none';
const SCIM = 'kind: scim, url: "https://hr.example/scim/acme", token: env:TEST_HR_KEY';
const SQL = `kind: sql, url: "env:TEST_HR_URL"`;

test.each([
  ['two SFTP hosts', SFTP, SFTP.replace('files.acme', 'files.beta'), 'host'],
  ['two ports of an SFTP host', SFTP, `${SFTP}, port: 2022`, 'port'],
  ['two accounts of an SFTP host', SFTP, SFTP.replace('user: acme', 'user: beta'), 'user'],
  ['two folders of an SFTP host', SFTP, `${SFTP}, folders: { rosters: beta }`, 'folders.rosters'],
  ['two databases of a Tryton', TRYTON, TRYTON.replace('database: acme', 'database: beta'), 'database'],
  ['two companies in a Tryton', TRYTON, TRYTON.replace('company: 1', 'company: 2'), 'company'],
  ['two companies at BambooHR', BAMBOO, BAMBOO.replace('//acme', '//beta'), 'url'],
  ['two addresses of a described kind', SCIM, SCIM.replace('scim/acme', 'scim/beta'), 'url'],
  ['two databases behind two secrets', SQL, SQL.replace('HR_URL', 'OTHER_URL'), 'host, database'],
  ['two tables of a database', SQL, `${SQL}, table: beta`, 'table'],
  ['two kinds', BAMBOO, SCIM, 'kind'],
])('%s under one connection name are refused, naming both files', async (_, own, others, differs) => {
  stubHrSecrets();
  await put('acme.yaml', ofCompany('acme', '17', own));
  await put('beta.yaml', ofCompany('beta', '18', others));
  const error = await loadTenants(dir).catch((reason: Error) => reason as Error);
  expect(String(error)).toMatch(
    /beta\.yaml:9:21 "shared-hr" already names another HR system in \S+acme\.yaml:9:21, which differs in (.*?)\. Give/,
  );
  expect(/differs in (.*?)\. Give/.exec(String(error))?.[1]).toBe(differs);
  for (const secret of [SECRET, 'pa55', 'db.example']) expect(JSON.stringify(error)).not.toContain(secret);
});

test.each([
  ['an SFTP server', SFTP, SFTP.replace('files.acme', 'FILES.acme').replace('HR_KEY', 'OTHER_KEY')],
  ['a Tryton', TRYTON, TRYTON.replace('user: u', 'user: another')],
  ['a company at BambooHR', BAMBOO, BAMBOO.replace('.com"', '.com/"')],
  ['a database behind two secrets', SQL, SQL.replace('HR_URL', 'SAME_URL')],
])('%s that two companies really share is accepted', async (_, own, others) => {
  stubHrSecrets();
  await put('acme.yaml', ofCompany('acme', '17', own));
  await put('beta.yaml', ofCompany('beta', '18', others));
  expect(await loadTenants(dir)).toHaveLength(2);
});

test('what stands behind secrets of another machine is compared by its reference', async () => {
  await put('acme.yaml', ofCompany('acme', '17', SQL));
  await put('beta.yaml', ofCompany('beta', '18', SQL));
  expect(await loadTenants(dir, { secrets: 'skip' })).toHaveLength(2);
  await put('beta.yaml', ofCompany('beta', '18', SQL.replace('HR_URL', 'SAME_URL')));
  await expect(loadTenants(dir, { secrets: 'skip' })).rejects.toThrow(
    'differs in url. The values behind env:TEST_SAME_URL, env:TEST_HR_URL cannot be read here',
  );
});

test('the name of a removed tenant whose people are known is not given to another HR system', async () => {
  stubHrSecrets();
  const { store } = await freshStore('sqlite');
  const plan = () => planApplication(store, dir, { secrets: 'skip' });
  await put('acme.yaml', ofCompany('acme', '17', SFTP));
  await applyDefinitions(store, (await plan()).applications, 'ada');
  await removeTenant(store, { tenantId: 'acme', by: 'ada' });
  const [own, anew] = [join(dir, 'acme.yaml'), ofCompany('beta', '18', SFTP.replace('files.acme', 'files.beta'))];
  await rm(own);
  await put('beta.yaml', anew);
  expect((await plan()).applications).toHaveLength(1);
  const ref = { tenantId: 'acme', jobCandidateId: '1', period: 1 };
  await insertHires(store, [{ ...ref, state: 'open' }]);
  await linkPerson(store, who('88', 'shared-hr'), ref, { id: '7' });
  await expect(plan()).rejects.toThrow(/beta\.yaml:9:21 "shared-hr" already names another HR system in \S+acme\.yaml/);
});

function stubHrSecrets(): void {
  vi.stubEnv('TEST_HR_KEY', SECRET);
  vi.stubEnv('TEST_OTHER_KEY', `${SECRET}-other`);
  vi.stubEnv('TEST_HR_URL', 'postgres://acme:pa55@db.example/people');
  vi.stubEnv('TEST_SAME_URL', 'postgresql://beta:pa55@DB.example:5432/people?sslmode=verify-full');
  vi.stubEnv('TEST_OTHER_URL', 'postgres://beta:pa55@db2.example/others');
}

const directoryAt = (url: string) => `streams: { accounts: { every: 1m } }
destinations: [{ kind: scim, connection: directory, url: "${url}", token: env:TEST_WEBHOOK_KEY, mapping: ./users.yaml }]
`;
const USERS = `fields:
  givenName: { from: candidate.firstName }
  familyName: { from: candidate.lastName }
  userName: { from: employee.email }
`;

test('a destination is one system under its name, for each tenant and from one apply to the next', async () => {
  await put('users.yaml', USERS);
  const own = BETA.replace('connection: acme-hr', 'connection: beta-hr').replace('hr.sqlite', 'beta.sqlite');
  await put('acme.yaml', `${ACME}${directoryAt('https://one.example/scim')}`);
  await put('beta.yaml', `${own}${directoryAt('https://two.example/scim')}`);
  const named = /beta\.yaml:\d+:\d+ "directory" already names another HR system in .*acme\.yaml:\d+:\d+, .* url/;
  await expect(loadTenants(dir)).rejects.toThrow(named);
  await put('beta.yaml', `${own}${directoryAt('https://one.example/scim')}`);
  expect(await loadTenants(dir)).toHaveLength(2);
  await put('beta.yaml', `${own}${directoryAt('https://one.example/scim')}`.replace(':8811', ':8822'));
  await expect(loadTenants(dir)).rejects.toThrow(/has the same company number at another address/);
  await rm(join(dir, 'beta.yaml'));
  const { store } = await freshStore('sqlite');
  const { applications } = await planApplication(store, dir, { secrets: 'check' });
  await applyDefinitions(store, applications, 'ada');
  await put('acme.yaml', `${ACME}${directoryAt('https://two.example/scim')}`);
  const moved = planApplication(store, dir, { secrets: 'check' });
  await expect(moved).rejects.toThrow(/acme\.yaml:\d+:\d+ "directory" was another system .* differs in url/);
});
