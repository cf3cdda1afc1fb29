import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, onTestFinished, test, vi } from 'vitest';
import { startHttpProxy } from '../../../src/hris-kit/http-proxy.ts';
import { checkTenant } from '../../../src/operator/check-tenant.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { openDatabase } from '../../../src/sql/open-database.ts';
import { landings } from '../../../src/streams/streams.ts';
import { parseTenant } from '../../../src/tenants/load-tenants.ts';
import { ensureHrisSchema } from '../../harness/ensure-hris-schema.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { writeTenant } from '../../harness/world-tenant.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';

interface Setup {
  /** What is wrong in the tenant file of a healthy tenant. */
  spoil?: (file: string) => string;
  /** What is done to the HR system's database. */
  alter?: string[];
  /** The partner has no custom field of the start date. */
  noStartDate?: boolean;
  /** The address at which the tenant finds the partner, where something stands between. */
  between?: (url: string) => Promise<string>;
}

/** A tenant with a mapping of its own, checked against a real partner and a real table. */
async function check(
  mapping: string,
  { spoil, alter = [], noStartDate, between }: Setup = {},
): Promise<Record<string, string>> {
  const sandbox = await openSandbox({ jobs: 1, candidates: 1 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const dir = await scratchFolder();
  const hrisUrl = `sqlite:${join(dir, 'hr.db')}`;
  await ensureHrisSchema(hrisUrl, {}, landings);
  const { items } = await sandbox.partner.readAll(contract.onboarding.listFlows);
  const facts = {
    partnerUrl: (await between?.(sandbox.url)) ?? sandbox.url,
    apiKey: sandbox.key,
    webhookKey: 'whk',
    company: String(sandbox.companyId),
    hrisUrl,
  };
  await writeTenant(dir, { ...facts, flowId: items[0]?.flowId ?? '' });
  const level = { entityType: 'candidate', fieldLabel: 'Start date', fieldType: 'date' } as const;
  if (noStartDate !== true) await sandbox.partner.customFields.create({ body: level });
  const hr = openDatabase(hrisUrl);
  for (const statement of alter) await sql.raw(statement).execute(hr.kysely);
  await hr.close();
  await writeFile(join(dir, 'other.key'), `sk_test_${'0'.repeat(22)}\n`);
  const file = join(dir, 'acme.yaml');
  const text = await readFile(file, 'utf8');
  const files = {
    [file]: `${spoil?.(text) ?? text}mapping: acme-mapping.yaml\n`,
    [join(dir, 'acme-mapping.yaml')]: `fields:\n${mapping}`,
  };
  // As it was applied once: a folder with a setting that can never work is refused before anything is asked.
  const tenant = await parseTenant({ file, files });
  const lines = await checkTenant(tenant, undefined);
  return Object.fromEntries(lines.map((line) => [line.check, `${line.state} ${line.message}`]));
}

test('a tenant that fits both sides has a line for each thing looked at, and none of them fails', async () => {
  const lines = await check('  city: null\n');
  expect(Object.values(lines).filter((line) => line.startsWith('fail'))).toEqual([]);
  expect(lines).toMatchObject({
    'custom-fields': 'ok The custom fields that the files name exist.',
    clock: expect.stringMatching(/^ok /),
    'rate-limit': 'ok No call was counted yet.',
    state: expect.stringMatching(/^warn No hire starts .* \(hirebridge up, or hirebridge worker\)\.$/),
    'hris-fields': expect.stringMatching(/^ok The mapping fits \d+ fields and fills the 4 required ones\.$/),
  });
});

test('a partner that knows the lists by stage by other query names is named at once, with each list', async () => {
  const between = async (url: string) => {
    const proxy = await startHttpProxy(url);
    onTestFinished(() => proxy.close());
    for (const name of ['jobId=', 'stageType=HIRED'])
      void proxy.strike({
        kind: 'answer',
        on: ({ path }) => path.includes('stageType=HIRED') && path.includes(name),
        answer: { status: 400, body: JSON.stringify({ success: false, error: `unknown query ${name}` }) },
      });
    return `${proxy.url}/v1/partner`;
  };
  const lines = await check('  city: null\n', { between });
  expect(lines['stages']).toMatch(/^fail .*400/);
  expect((await check('  city: null\n'))['stages']).toBe(
    'ok The lists by hiring stage can be read, of all jobs and of one.',
  );
});

test('a tenant that follows amendments fails no check: their mapping is that of employees', async () => {
  const lines = await check('  city: null\n', { spoil: (file) => `${file}streams: { amendments: { every: 15m } }\n` });
  expect(lines['streams']).toBe('ok The HR system supports the 1 stream of the tenant.');
});

const stream = (text: string) => (file: string) => `${file}streams: ${text}\n`;

/** What is wrong, the mapping, the setup, the line of `check` that says it, and how. */
const brokenSetups: [string, string, Setup, string, RegExp][] = [
  [
    'a misspelt custom field',
    '  city: { from: "candidate.customFields[Strat date]" }\n',
    {},
    'custom-fields',
    /^fail .*no such candidate custom field\. Did you mean "Start date"\?/,
  ],
  [
    'a key that the hiring platform does not take',
    '  city: null\n',
    { spoil: (file) => file.replace(/apiKey: .*/, 'apiKey: file:other.key') },
    'key',
    /^fail .*the key is not accepted: check it/,
  ],
  [
    'a key that is nowhere',
    '  city: null\n',
    { spoil: (file) => file.replace(/apiKey: .*/, 'apiKey: env:NO_SUCH_KEY_IS_SET') },
    'key',
    /^fail The secret env:NO_SUCH_KEY_IS_SET is missing or empty\. Set the environment variable/,
  ],
  [
    'a hiring platform that does not answer',
    '  city: null\n',
    { spoil: (file) => file.replace(/baseUrl: .*/, 'baseUrl: http://127.0.0.1:1/v1/partner') },
    'key',
    /^fail .*127\.0\.0\.1:1.*(?:[Cc]heck|Correct|Start)/,
  ],
  [
    'the key of another company',
    '  city: null\n',
    { spoil: (file) => file.replace(/company: .*/, 'company: "999999"') },
    'company',
    /^fail The key is of company \d+, and partner\.company says 999999\. Correct partner\.company/,
  ],
  [
    'an onboarding flow that is not there',
    '  city: null\n',
    { spoil: (file) => file.replace(/flow: [^,}\n]+/, 'flow: no-such-flow') },
    'flow',
    /^fail flow no-such-flow does not exist.*active: .*Correct policies\.onboarding\.flow/,
  ],
  [
    'a custom field of the Employee ID that is not there',
    '  city: null\n',
    { spoil: (file) => `${file}writeBack: { customField: cf_nowhere }\n` },
    'write-back',
    /^fail .*cf_nowhere.*(?:Correct|Create|Name|name)/,
  ],
  [
    'a database that does not answer',
    '  city: null\n',
    { spoil: (file) => file.replace(/url: .*/, 'url: postgres://nobody@127.0.0.1:1/hr') },
    'hris',
    /^fail The HRIS database cannot be reached\. Check that it runs.*ECONNREFUSED, 127\.0\.0\.1:1/,
  ],
  [
    'a table that is not there',
    '  city: null\n',
    { alter: ['alter table employees rename to employee'] },
    'hris',
    /^fail The HRIS database has no table or view employees.*Did you mean "employee".*hirebridge ddl/,
  ],
  [
    'a column that is not there',
    '  city: null\n',
    { spoil: (file) => file.replace('hris:', 'hris:\n  fields: { title: { column: job_titel } }') },
    'hris',
    /^fail The HRIS table employees has no column job_titel.*Name the right one under hris\.fields/,
  ],
  [
    'a column that must be filled and that nothing fills',
    '  city: null\n',
    {
      alter: [
        'drop table employees',
        `create table employees (id integer primary key, employee_number text default 'x', external_ref text,
          given_name text, family_name text, email text, phone text, title text, department text, country text,
          start_date text, location text, employment_type text, birth_date text, cost_centre text not null)`,
      ],
    },
    'hris-fields',
    /^fail cost_centre is required by the HR system, and nothing fills it\. Name it under hris\.fields/,
  ],
  [
    'a landing table without a column',
    '  city: null\n',
    {
      spoil: stream('{ candidates: { every: 1h } }'),
      alter: ['alter table partner_candidates drop column email'],
    },
    'streams',
    /^fail The landing table of candidates lacks \S*email\. Add what `hirebridge ddl acme --stream candidates`/,
  ],
  [
    'a default rule reads a custom field that is not there',
    '  city: null\n',
    { noStartDate: true },
    'custom-fields',
    /^fail "startDate" is required.*customFields\[Start date\].*Define it there, or write a rule of your own/,
  ],
  [
    'documents for an HR system that takes none',
    '  city: null\n',
    { spoil: (file) => `${file}documents: [resume]\n` },
    'streams',
    /^fail documents: an HR system of kind sql takes no documents as configured\. Name a folder/,
  ],
  [
    'requisitions of a table that has none',
    '  city: null\n',
    { spoil: stream('{ requisitions: { every: 1h } }') },
    'streams',
    /^fail streams\.requisitions: an HR system of kind sql provides no open positions .*Set hris\.requisitions/,
  ],
  [
    'a landing table that is not there',
    '  city: null\n',
    { spoil: stream('{ candidates: { every: 1h } }'), alter: ['drop table partner_candidates'] },
    'streams',
    /^fail The landing table partner_candidates .*needs the columns tenant, partner_id/,
  ],
  [
    'a label where an id belongs',
    '  city: null\n',
    { spoil: (file) => file.replace('policies:', 'scope: { jobs: ["Backend Engineer"] }\npolicies:') },
    'ids',
    /^fail "scope\.jobs\.0" has the label "Backend Engineer"; the id of.*discover acme --write/,
  ],
  [
    'an id that is not there',
    '  city: null\n',
    { spoil: (file) => file.replace('policies:', 'policies:\n  enrolAt: ["987654"]') },
    'ids',
    /^fail "policies\.enrolAt\.0" is "987654"/,
  ],
  [
    'a number column that nothing fills',
    '  city: null\n',
    {
      spoil: (file) => file.replace('hris:', 'hris:\n  numberColumn: payroll_number'),
      alter: ['alter table employees add column payroll_number text'],
    },
    'employee-id',
    /^fail No new employee of \S+ gets a number: .*writeBack\.employeeId: id/,
  ],
  [
    'text into a column of numbers',
    '  salary: { from: "candidate.customFields[Start date]" }\n',
    {
      spoil: (file) => file.replace('hris:', 'hris:\n  fields: { salary: { column: salary } }'),
      alter: ['alter table employees add column salary numeric'],
    },
    'hris-fields',
    /^fail .*"salary" is of type text.*Write its type there \(number\) under hris\.fields/,
  ],
];

test('there are twenty broken setups', () => {
  expect(brokenSetups).toHaveLength(20);
});

test.each(brokenSetups)(
  'what can never work fails with its cause and the next step: %s',
  async (_what, mapping, setup, line, says) => {
    const lines = await check(mapping, setup);
    expect(lines[line]).toMatch(says);
    const failing = Object.entries(lines).filter(([, text]) => text.startsWith('fail'));
    // What does not exist at all is missed by each look that names it.
    const missed = ['ids', 'custom-fields', ...(line === 'ids' ? ['stages'] : [])];
    const others = failing.map(([name]) => name).filter((name) => !missed.includes(name));
    expect(others).toEqual(line === 'ids' || line === 'custom-fields' ? [] : [line]);
  },
);

test('a landing table without the column for rows that are gone works, and is named', async () => {
  const alter = ['alter table partner_candidates drop column gone_at'];
  const checked = (settings: string) =>
    check('  city: null\n', { spoil: stream(`{ candidates: { every: 1h${settings} } }`), alter });
  expect((await checked(''))['streams']).toMatch(
    /^warn .*Rows of candidates .*no column gone_at\. Add what `hirebridge ddl acme --stream candidates`.*: ignore/,
  );
  expect((await checked(', deletion: ignore'))['streams']).toMatch(/^ok /);
});

test('addresses of notify and events are asked whether they take connections, and get nothing', async () => {
  let heard = 0;
  const receiver = createServer((socket) => void socket.once('data', () => (heard += 1))).listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  onTestFinished(() => void receiver.close());
  const { port } = receiver.address() as AddressInfo;
  const told = (events: string) => (file: string) => `${file}notify: http://127.0.0.1:${port}/a\nevents: ${events}\n`;
  const url = `http://127.0.0.1:${port}/e`;
  vi.stubEnv('TEST_EVENTS_SECRET', `whsec_${'QUJD'.repeat(8)}`);
  vi.stubEnv('TEST_EVENTS_SHORT', 'QUJD');
  onTestFinished(() => void vi.unstubAllEnvs());
  const checked = (events: string) => check('  city: null\n', { spoil: told(events) });
  expect(await checked(`{ url: "${url}", secret: env:TEST_EVENTS_SECRET }`)).toMatchObject({
    notify: 'ok The address of notify accepts connections.',
    events: 'ok The address of events accepts connections, and its secret is there.',
  });
  expect((await checked(`{ url: "${url}", secret: env:TEST_EVENTS_NONE }`))['events']).toMatch(
    /^fail .*TEST_EVENTS_NONE is missing or empty\. Set the environment variable/,
  );
  expect((await checked(`{ url: "${url}", secret: env:TEST_EVENTS_SHORT }`))['events']).toMatch(
    /^fail .*openssl rand -base64 32/,
  );
  const nobody = await checked('{ url: "http://127.0.0.1:1/e", secret: env:TEST_EVENTS_SECRET }');
  expect(nobody['events']).toMatch(/^fail .*ECONNREFUSED.*Correct events\.url/);
  expect(heard).toBe(0);
  expect(await check('  city: null\n')).not.toHaveProperty('notify');
});
