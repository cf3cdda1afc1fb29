import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { parseTenant } from '../../src/tenants/load-tenants.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder } from './acme.ts';

// Nothing is written to it.
let store: Store;
beforeAll(async () => {
  store = await openStore('sqlite::memory:');
});
afterAll(() => store.close());

let dir: string;
beforeEach(async () => {
  dir = await makeTenantsFolder();
  vi.stubEnv('TEST_HR_KEY', 'key');
  await writeFile(join(dir, 'users.yaml'), `${NAMES}  userName: { from: employee.email }\n`);
  await writeFile(
    join(dir, 'users-sql.yaml'),
    `${NAMES}  email: { from: employee.email }\n  startDate: { from: employee.startDate }\n`,
  );
});
afterEach(() => removeTenantsFolder(dir));

const SQL = '  kind: sql\n  connection: acme-hr\n  url: sqlite:./hr.sqlite\n  createTable: true\n';
const KINDS = {
  sql: SQL,
  bamboohr:
    '  kind: bamboohr\n  connection: acme-hr\n  url: https://acme.bamboohr.com\n  apiKey: env:TEST_HR_KEY\n' +
    '  referenceField: customField1\n',
  tryton:
    '  kind: tryton\n  connection: acme-hr\n  url: https://tryton.acme.example\n  database: acme\n' +
    '  user: hire\n  password: env:TEST_HR_KEY\n  company: 1\n',
  sftp:
    '  kind: sftp\n  connection: acme-hr\n  host: sftp.acme.example\n  user: hire\n  privateKey: env:TEST_HR_KEY\n' +
    '  hostKey: "SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"\n',
};

/** What `tenant apply` says of acme with these settings, a line a problem; none where it takes them. */
async function problemsOf(kind: keyof typeof KINDS, more: string): Promise<string[]> {
  await writeFile(join(dir, 'acme.yaml'), ACME.replace(SQL, KINDS[kind]) + more);
  try {
    await planApplication(store, dir, { secrets: 'check' });
    return [];
  } catch (error) {
    return (error as Error).message.split('\n').map((line) => line.replaceAll(`${dir}/`, ''));
  }
}

const NAMES = 'fields:\n  givenName: { from: candidate.firstName }\n  familyName: { from: candidate.lastName }\n';
const DIRECTORY =
  '{ kind: scim, connection: directory, url: https://acme.example/, token: env:TEST_HR_KEY, mapping: ./users.yaml }';
const FILLED = 'streams: { accounts: { every: 1m } }\n';

const SCORED = '{ assessment: a, take: score, customField: cf-1 }';
const REQUISITIONS = 'requisitions: { reference: cf-9 }\n';
const HERE = 'landing: { kind: sql, url: sqlite:./lake.sqlite }\n';

test.each<[keyof typeof KINDS, string, RegExp]>([
  ['bamboohr', 'streams: { candidates: { every: 1h } }\n', /no table where candidates .*landing: \{ kind: sql/],
  ['tryton', 'streams: { jobs: { every: 1h } }\n', /no table where jobs .*landing: \{ kind: sql/],
  ['sftp', 'streams: { applications: { every: 1h } }\n', /no table where applications .*landing: \{ kind: sql/],
  ['bamboohr', 'streams: { onboarding: { every: 1h } }\n', /no table where onboarding .*landing: \{ kind: sql/],
  ['bamboohr', `streams: { requisitions: { every: 1h } }\n${REQUISITIONS}`, /provides no open positions .*landing: \{/],
  [
    'sql',
    `streams: { requisitions: { every: 1h } }\n${REQUISITIONS}`,
    /provides no open positions .*hris\.requisitions/,
  ],
  ['bamboohr', `streams: { requisitions: { every: 1h } }\n${HERE.replace(' }', ', requisitions: {} }')}`, /reference:/],
  ['bamboohr', 'streams: { employees: { every: 1h } }\n', /which fields it exchanges\. Name a mapping file/],
  ['sql', 'streams: { employees: { every: 1h } }\n', /which fields it exchanges\. Name a mapping file/],
  ['sftp', 'streams: { amendments: { every: 1h } }\n', /kind sftp cannot be amended\. .*These kinds can: sql/],
  ['bamboohr', 'documents: [resume]\n', /takes no documents .*hris\.fileCategory/],
  ['sql', 'documents: [resume]\n', /takes no documents .*hris\.files\.folder.*These kinds take them: bamboohr/],
  ['tryton', 'streams: { documents: { every: 1h } }\n', /does not say which\. Add "documents/],
  ['tryton', 'options: [{ customField: cf-1, list: sites }]\n', /provides no lists .*These kinds provide some: sql/],
  ['sql', `results: [${SCORED}, { assessment: b, take: score, customField: cf-1 }]\n`, /each custom field once/],
  ['sql', `results: [${SCORED}]\nwriteBack: { customField: cf-1 }\n`, /also writes cf-1 elsewhere/],
  ['sftp', 'writeBack: { employeeUrl: cf-1 }\n', /where people see an employee of kind sftp.* bamboohr, odoo, tryton/],
  ['sql', 'streams: { options: { every: 1h } }\n', /does not say which\. Add "options/],
  ['sql', FILLED, /does not say where accounts are made\. Add "destinations: \[\{ kind: scim/],
  ['sql', `destinations: [${DIRECTORY}]\n`, /nothing fills them\. Add "streams: \{ accounts/],
  ['sql', `${FILLED}destinations: [${DIRECTORY.replace('directory', 'acme-hr')}]\n`, /"acme-hr" is used above already/],
  ['sql', `${FILLED}destinations: [${DIRECTORY}, ${DIRECTORY}]\n`, /"directory" is used above already/],
  ['sql', `${FILLED}destinations: [${DIRECTORY.replace('env:TEST_HR_KEY', 'hunter2')}]\n`, /token" is a secret/],
  ['sql', `${FILLED}destinations: [${DIRECTORY.replace(', mapping: ./users.yaml', '')}]\n`, /mapping" is missing/],
  ['sql', `${FILLED}destinations: [${DIRECTORY.replace('users', 'nobody')}]\n`, /nobody\.yaml: there is no such file/],
  ['sql', `${FILLED}destinations: [${DIRECTORY.replace('scim,', 'skim,')}]\n`, /"skim" is not a kind of HRIS/],
  [
    'sql',
    `${FILLED}destinations: [{ kind: sql, connection: two, url: "sqlite:two", job: {}, mapping: ./users-sql.yaml }]\n`,
    /does not answer at once.* Leave out job.*These kinds can: scim/,
  ],
  ['bamboohr', 'landing: { kind: csv, url: sqlite:./lake.sqlite }\n', /expected sql/],
  ['bamboohr', 'landing: { kind: sql, url: "postgres://me:hunter2@db.example/lake" }\n', /holds a password/],
  ['bamboohr', 'landing: { kind: sql, url: env:TEST_LANDING_URL_NOT_SET }\n', /is missing or empty/],
])('%s with %j is refused with its place and what would work', async (kind, more, text) => {
  const problems = await problemsOf(kind, more);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(/^acme\.yaml:\d+:\d+ /);
  expect(problems[0]).toMatch(text);
  expect(problems[0]).not.toContain('hunter2');
});

test('what an account is made of is checked where it stands, and no default adds to it', async () => {
  expect(await problemsOf('sql', `${FILLED}destinations: [${DIRECTORY}]\n`)).toEqual([]);
  await writeFile(join(dir, 'users.yaml'), `${NAMES}  title: { from: employee.sallary }\n`);
  expect(await problemsOf('sql', `${FILLED}destinations: [${DIRECTORY}]\n`)).toEqual([
    expect.stringMatching(/^users\.yaml:4:\d+ "sallary" is not a field of employee\./),
    expect.stringMatching(/^users\.yaml:\d+:\d+ "userName" \(User name\) is required .* nothing fills it/),
  ]);
});

test('tables that are named beside the landing database are refused, because nothing would land in them', async () => {
  await writeFile(
    join(dir, 'acme.yaml'),
    `${ACME}${HERE}`.replace('  createTable: true\n', '  landing: { jobs: {} }\n'),
  );
  const refused = planApplication(store, dir, { secrets: 'check' });
  await expect(refused).rejects.toThrow(/acme\.yaml:13:\d+ .*these tables stay empty. Name them in landing\.tables/);
});

test.each(Object.keys(KINDS) as (keyof typeof KINDS)[])('beside %s everything that lands may be set', async (kind) => {
  const streams = 'streams: { jobs: { every: 1h }, candidates: { every: 1h }, requisitions: { every: 1h } }\n';
  const landing = 'landing: { kind: sql, url: sqlite:./lake.sqlite, requisitions: {} }\n';
  expect(await problemsOf(kind, streams + REQUISITIONS + landing)).toEqual([]);
});

test('what was applied before such settings were refused goes on', async () => {
  const file = join(dir, 'acme.yaml');
  const text = `${ACME.replace(SQL, KINDS.bamboohr)}streams: { candidates: { every: 1h } }\n`;
  expect((await parseTenant({ file, files: { [file]: text } })).tenant).toBe('acme');
});
