import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { isConnectorError } from '../../src/errors.ts';
import { loadTenants } from '../../src/tenants/load-tenants.ts';
import { unknownNames } from '../../src/tenants/sections.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder, SECRET } from './acme.ts';

let dir: string;

beforeEach(async () => {
  dir = await makeTenantsFolder();
});

afterEach(() => removeTenantsFolder(dir));

const put = (name: string, content: string) => writeFile(join(dir, name), content);

/** Loads the directory and gives its refusal, one line a problem, without the directory's name. */
async function refused(options?: Parameters<typeof loadTenants>[1]): Promise<string[]> {
  const error: unknown = await loadTenants(dir, options).catch((reason: unknown) => reason);
  if (!isConnectorError(error)) throw new Error('expected a refusal');
  expect(error.action).toBe('reject');
  expect(JSON.stringify([error.message, error.details])).not.toContain(SECRET);
  return error.message.split('\n').map((line) => line.replaceAll(`${dir}/`, ''));
}

describe('a file is refused', () => {
  const change = (from: string | RegExp, to: string) => ACME.replace(from, to);
  test.each<[string, string, string]>([
    [
      'for an unknown key, with a suggestion',
      change('  company:', '  compnay:'),
      'acme.yaml:6:3 "partner.compnay" is not a known key. Did you mean "company"?',
    ],
    [
      'for an unknown key of the HRIS',
      change('createTable', 'createTabel'),
      'acme.yaml:13:3 "hris.createTabel" is not a known key. Did you mean "createTable"?',
    ],
    [
      'for an unknown key of a policy',
      change('deadline: 30d', 'dedline: 30d'),
      'acme.yaml:15:31 "policies.onboarding.dedline" is not a known key. Did you mean "deadline"?',
    ],
    [
      'for an unknown reading',
      change('  company:', '  overrides: { valueBulkKey: x }\n  company:'),
      'acme.yaml:6:16 "partner.overrides.valueBulkKey" is not a known key. Did you mean "valuesBulkKey"?',
    ],
    [
      'for a query name of no operation',
      change('  company:', '  overrides: { queryNames: { jobCandidates.byStage: { jobId: job } } }\n  company:'),
      'acme.yaml:6:30 "partner.overrides.queryNames.jobCandidates.byStage" is not right: expected an operation ' +
        'that has a query',
    ],
    [
      'for the first page of no list',
      change('  company:', '  overrides: { firstPages: { pipelines.get: 0 } }\n  company:'),
      'acme.yaml:6:45 "partner.overrides.firstPages.pipelines.get" is not right: expected a list: ' + 'pipelines.list',
    ],
    [
      'for a query name that its operation has not',
      change(
        '  company:',
        '  overrides: { queryNames: { jobCandidates.listByStageType: { stagetype: type } } }\n  company:',
      ),
      'acme.yaml:6:74 "partner.overrides.queryNames.jobCandidates.listByStageType.stagetype" is not right: ' +
        'expected one of stageType, jobId',
    ],
    [
      'for a name that no body has',
      change('  company:', '  overrides: { bodyNames: { campaigns.addLeads: { telephone: tel } } }\n  company:'),
      'acme.yaml:6:62 "partner.overrides.bodyNames.campaigns.addLeads.telephone" is not right: expected one of ' +
        'leads, firstName',
    ],
    [
      'for a field name that its list has not',
      change('  company:', '  overrides: { fieldNames: { onboarding.listOffers: { signed: x } } }\n  company:'),
      'acme.yaml:6:63 "partner.overrides.fieldNames.onboarding.listOffers.signed" is not right: expected one of ' +
        'offerId, status',
    ],
    [
      'for a missing key',
      change('  environment: sandbox\n', ''),
      'acme.yaml:2:1 "partner.environment" is missing: expected production or sandbox. Add it.',
    ],
    ['for a missing section', change(/policies:\n.*\n/, ''), 'acme.yaml:1:1 "policies" is missing'],
    [
      'for a secret in the file',
      change('env:TEST_PARTNER_KEY', SECRET),
      'acme.yaml:5:11 "partner.apiKey" is not right: a secret itself must not stand in this file',
    ],
    [
      'for a password in the HRIS address',
      change('sqlite:./hr.sqlite', `postgres://me:${SECRET}@db/hr`),
      'acme.yaml:12:8 "hris.url" holds a password',
    ],
    [
      'for a password of the HRIS beside its address',
      change(
        /hris:[^]*?\n(?=\w)/,
        `hris: { kind: tryton, connection: hr, url: "https://hr.example", password: ${SECRET} }\n`,
      ),
      '"hris.password" is a secret. Put it into the environment',
    ],
    [
      'for a missing secret, by its reference',
      change('TEST_WEBHOOK_KEY', 'TEST_NOT_SET'),
      'acme.yaml:7:17 The secret env:TEST_NOT_SET is missing or empty. Set the environment variable TEST_NOT_SET',
    ],
    [
      'for a missing secret file',
      change('env:TEST_PARTNER_KEY', 'file:./nowhere'),
      'acme.yaml:5:11 The secret file:nowhere is missing or empty. Create the file',
    ],
    [
      'without a webhook key',
      change(/  webhookKeys.*\n/, ''),
      'acme.yaml:2:1 "partner.webhookKeys" is missing: expected one or two webhook keys',
    ],
    [
      'for three webhook keys',
      change('[env:TEST_WEBHOOK_KEY]', '[env:A, env:B, env:C]'),
      'acme.yaml:7:16 "partner.webhookKeys" is not right: expected at most two keys',
    ],
    [
      'for a number where text is due',
      change('"17"', '17'),
      'acme.yaml:6:12 "partner.company" is not right: expected text; write a number in quotes',
    ],
    [
      'for an address that is not the partner’s',
      change('/v1/partner', '/v2'),
      'acme.yaml:3:12 "partner.baseUrl" is not right: expected an address that ends in /v1/partner',
    ],
    [
      'for a password in the partner’s address',
      change('http://127', 'http://ann:TOPSECRET@127'),
      'acme.yaml:3:12 "partner.baseUrl" is not right: expected an address without a user or password',
    ],
    [
      'for a duration that ends after all time',
      change('30d', '99999999d'),
      'acme.yaml:15:41 "policies.onboarding.deadline" is not right: expected at most 36500d',
    ],
    [
      'for a key that would travel in clear',
      change(/  allowPrivate.*\n/, ''),
      'acme.yaml:3:12 "partner.baseUrl" is not right: expected https',
    ],
    [
      'for an unknown HRIS kind',
      change('kind: sql', 'kind: slq'),
      'acme.yaml:10:9 "slq" is not a kind of HRIS. Did you mean "sql"?',
    ],
    [
      'for an HRIS address of no kind',
      change('sqlite:./hr.sqlite', 'mysql://db'),
      'acme.yaml:12:8 "hris.url" is not right: expected sqlite:PATH',
    ],
    [
      'for a duration without a unit',
      change('30d', '30'),
      'acme.yaml:15:41 "policies.onboarding.deadline" is not right: expected a duration such as 30d',
    ],
    [
      'for an unknown onboarding state',
      change('flow-1,', 'flow-1, readyAt: [done],'),
      'acme.yaml:15:41 "policies.onboarding.readyAt.0" is not right: expected one of not_started',
    ],
    [
      'for waiting for an onboarding that failed',
      change('flow-1,', 'flow-1, readyAt: [rejected],'),
      'acme.yaml:15:41 "policies.onboarding.readyAt.0" is not right: expected one of not_started',
    ],
    [
      'for a stage type that does not exist',
      change('policies:', 'policies:\n  createAt: [HIRD]'),
      'acme.yaml:15:14 "policies.createAt.0" is not right: expected a stage id or one of SOURCED',
    ],
    [
      'for a reconcile without pause',
      change('policies:', 'policies:\n  reconcile: { every: 0s }'),
      'acme.yaml:15:23 "policies.reconcile.every" is not right: expected a duration above zero',
    ],
    [
      'for an onboarding policy of no shape',
      change('{ flow: flow-1, deadline: 30d }', 'never'),
      'acme.yaml:15:15 "policies.onboarding" is not right: expected "skip" or',
    ],
    [
      'for skipping onboarding without a place for the Employee ID',
      change('{ flow: flow-1, deadline: 30d }', 'skip'),
      '"writeBack.customField" is missing: expected the id of a candidate custom field',
    ],
    [
      'for writing back a field that is not mapped',
      `${ACME}writeBack:\n  values: [{ customFieldId: c1, field: titel }]\n`,
      'acme.yaml:17:40 "titel" is not a mapped field. Did you mean "title"?',
    ],
    [
      'for a mapping file that is not there',
      `${ACME}mapping: ./gone.yaml\n`,
      'acme.yaml:16:10 gone.yaml: there is no such file',
    ],
    ['for a key given twice', `${ACME}tenant: again\n`, 'acme.yaml:16:1 is not valid YAML (this key is here twice)'],
    ['for no content at all', '', 'acme.yaml:1:1 "the file" is'],
  ])('%s', async (_why, content, expected) => {
    await put('acme.yaml', content);
    expect(await refused()).toEqual(expect.arrayContaining([expect.stringContaining(expected)]));
  });

  test('with every problem of every file at once', async () => {
    await put('acme.yaml', change('sandbox', 'test').replace('acme-hr', 'Acme HR').replace('30d', 'soon'));
    await put('beta.yml', change('tenant: acme', 'tenant: Beta'));
    expect((await refused()).map((line) => line.split(' ')[0])).toEqual([
      'acme.yaml:4:16',
      'acme.yaml:11:15',
      'acme.yaml:15:41',
      'beta.yml:1:9',
    ]);
  });

  test('with the mapping’s own problems at the mapping’s own lines', async () => {
    await put('acme.yaml', `${ACME}mapping: ./acme-mapping.yaml\n`);
    await put('acme-mapping.yaml', 'fields:\n  title: { from: job.titel }\n');
    expect(await refused()).toEqual(['acme-mapping.yaml:2:18 "titel" is not a field of job. Did you mean "title"?']);
  });

  test('when it writes back a custom field that its mapping writes too', async () => {
    const values = 'writeBack:\n  customField: c2\n  values: [{ customFieldId: c1, field: title }]\n';
    await put('acme.yaml', `${ACME}mapping: ./acme-mapping.yaml\n${values}`);
    const rule = (id: string) => `{ from: "candidate.customFields[${id}]", direction: toPartner }`;
    await put('acme-mapping.yaml', `fields:\n  location: ${rule('c1')}\n  city: ${rule('c2')}\n`);
    expect(await refused()).toEqual([
      'acme.yaml:18:16 the mapping of "city" writes c2 as well. Keep one of the two.',
      'acme.yaml:19:12 the mapping of "location" writes c1 as well. Keep one of the two.',
    ]);
  });

  test('when its tenant name is taken', async () => {
    await put('acme.yaml', ACME);
    await put('copy.yaml', ACME);
    expect(await refused()).toEqual([
      expect.stringContaining('copy.yaml:1:9 "acme" is already the tenant of acme.yaml'),
    ]);
  });

  test('when its connection name means another HRIS, because one person could be created in both', async () => {
    await put('acme.yaml', ACME);
    await put('beta.yaml', change('tenant: acme', 'tenant: beta').replace('hr.sqlite', 'other.sqlite'));
    expect(await refused()).toEqual([
      expect.stringContaining(
        'beta.yaml:11:15 "acme-hr" already names another HR system in acme.yaml:11:15, which differs in url. Give',
      ),
    ]);
  });

  test('when its scope names no criterion, or two', async () => {
    await put('acme.yaml', `${ACME}scope: {}\n`);
    expect(await refused()).toEqual([expect.stringContaining('expected exactly one of jobs')]);
    await put('acme.yaml', `${ACME}scope: { jobs: ["1"], countries: [Germany] }\n`);
    expect(await refused()).toEqual([expect.stringContaining('expected exactly one of jobs')]);
  });
});

test('a directory that is missing or empty is refused with what to do', async () => {
  const next = 'Write the first with hirebridge init TENANT, or name another directory with --tenants DIR.';
  expect(await refused()).toEqual([expect.stringContaining(`holds no tenant file (*.yaml). ${next}`)]);
  await expect(loadTenants(join(dir, 'gone'))).rejects.toMatchObject({
    code: 'TENANTS_UNREADABLE',
    message: expect.stringContaining(`there is no such directory of tenant files. ${next}`),
  });
});

test('the pages of a list that is shown without pages may be named', () => {
  const queryNames = {
    'bookings.list': { page: 'pageNumber', perPage: 'take' },
    'campaigns.listLeads': { limit: 'n' },
  };
  expect(unknownNames({ queryNames, firstPages: { 'bookings.list': 0 } })).toEqual([]);
});
