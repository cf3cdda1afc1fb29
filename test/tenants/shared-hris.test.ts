import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { loadTenants } from '../../src/tenants/load-tenants.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { freshStore } from '../store/stores.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder } from './acme.ts';

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

test('two tenants of one company with HR systems of their own may overlap, with a warning', async () => {
  const { store } = await freshStore('sqlite');
  const own = BETA.replace('acme-hr', 'beta-hr').replace('hr.sqlite', 'beta.sqlite');
  await put('acme.yaml', ACME);
  await put('beta.yaml', own);
  const { warnings } = await planApplication(store, dir, { secrets: 'skip' });
  expect(warnings).toEqual([expect.stringContaining('"beta" and "acme" are of one company')]);
  await put('acme.yaml', `${ACME}scope: { jobs: ["1"] }\n`);
  await put('beta.yaml', `${own}scope: { jobs: ["2"] }\n`);
  expect((await planApplication(store, dir, { secrets: 'skip' })).warnings).toEqual([]);
});
