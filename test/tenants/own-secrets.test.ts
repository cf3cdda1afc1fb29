import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { applyDefinitions } from '../../src/store/applied-tenants.ts';
import { loadTenants } from '../../src/tenants/load-tenants.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { freshStore } from '../store/stores.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder } from './acme.ts';

let dir: string;
beforeEach(async () => {
  dir = await makeTenantsFolder();
});
afterEach(() => removeTenantsFolder(dir));

/** A tenant of another company, with an HR system and secrets of its own. */
const GLOBEX = ACME.replace('tenant: acme', 'tenant: globex')
  .replace('company: "17"', 'company: "18"')
  .replace('connection: acme-hr', 'connection: globex-hr')
  .replace('hr.sqlite', 'globex.sqlite')
  .replace('env:TEST_PARTNER_KEY', 'env:GLOBEX_KEY')
  .replace('env:TEST_WEBHOOK_KEY', 'file:secrets/globex/hook.key');

async function put(name: string, text: string): Promise<void> {
  await mkdir(dirname(join(dir, name)), { recursive: true });
  await writeFile(join(dir, name), text);
}

const load = () => loadTenants(dir, { secrets: 'skip' });

describe('a tenant file that names a secret of another tenant is refused, at its place', () => {
  test.each([
    ['by the name of a variable', 'apiKey: env:TEST_PARTNER_KEY', 'apiKey: env:GLOBEX_KEY'],
    ['by its folder', 'apiKey: env:TEST_PARTNER_KEY', 'apiKey: file:secrets/globex/hook.key'],
    ['by its file', 'apiKey: env:TEST_PARTNER_KEY', 'apiKey: file:secrets/globex-api.key'],
    ['by a way around', 'apiKey: env:TEST_PARTNER_KEY', 'apiKey: file:secrets/acme/../globex/hook.key'],
    ['in a list', '[env:TEST_WEBHOOK_KEY]', '[env:TEST_WEBHOOK_KEY, env:GLOBEX_OLD]'],
    ['for the HR system', 'url: sqlite:./hr.sqlite', 'url: env:GLOBEX_DATABASE'],
    ['under its company’s number', /apiKey.*\n {2}company: "17"/, 'apiKey: env:GLOBEX_KEY\n  company: "18"'],
  ])('%s', async (_how, from, to) => {
    await put('globex.yaml', GLOBEX.replace('8811', '8822'));
    await put('acme.yaml', ACME.replace(from, to));
    await expect(load()).rejects.toThrow(/acme\.yaml:\d+:\d+ .*is a secret of tenant "globex"/);
  });
});

test('a tenant whose name begins like another’s keeps its own secrets', async () => {
  await put('globex.yaml', GLOBEX);
  const north = GLOBEX.replaceAll('globex', 'globex-north').replaceAll('GLOBEX_', 'GLOBEX_NORTH_').replace('18', '19');
  await put('globex-north.yaml', north);
  expect(await load()).toHaveLength(2);
  await put('globex.yaml', GLOBEX.replace('env:GLOBEX_KEY', 'env:GLOBEX_NORTH_KEY'));
  await expect(load()).rejects.toThrow('is a secret of tenant "globex-north"');
});

test('two tenants of one company share the key of that company, and the secrets of their HR system', async () => {
  const scope = (country: string) => `scope: { countries: [${country}] }\n`;
  await put('globex.yaml', `${GLOBEX}${scope('Germany')}`);
  await put('globex-france.yaml', `${GLOBEX.replace('tenant: globex', 'tenant: globex-france')}${scope('France')}`);
  expect(await load()).toHaveLength(2);
});

test.each(['env:HIREBRIDGE_STORE_URL', 'env:TEMPORAL_API_KEY', 'env:PGPASSWORD'])(
  'a tenant file that names %s is refused',
  async (ref) => {
    await put('acme.yaml', ACME.replace('env:TEST_PARTNER_KEY', ref));
    await expect(load()).rejects.toThrow(/acme\.yaml:5:11 .*is a setting of hirebridge itself/);
  },
);

describe('where HIREBRIDGE_SECRETS names a folder, a file names its own secrets there and nothing else', () => {
  const root = () => join(dir, 'vault');
  const own = (ref: string) =>
    ACME.replace('env:TEST_PARTNER_KEY', ref).replace('[env:TEST_WEBHOOK_KEY]', '[env:ACME_HOOK]');
  beforeEach(() => {
    vi.stubEnv('HIREBRIDGE_SECRETS', root());
    onTestFinished(() => void vi.unstubAllEnvs());
  });

  test.each([
    ['file:vault/acme/api.key', 'sqlite:./hr.sqlite'],
    ['env:ACME_API_KEY', 'file:vault/acme-hr/database.url'],
  ])('%s and %s are taken', async (ref, url) => {
    await put('acme.yaml', own(ref).replace('sqlite:./hr.sqlite', url));
    expect(await load()).toHaveLength(1);
  });

  test.each([
    ['another folder', 'file:secrets/acme/api.key'],
    ['a way out', 'file:vault/acme/../shadow'],
    ['the folder itself', 'file:vault/api.key'],
    ['a variable of any name', 'env:AWS_SECRET_ACCESS_KEY'],
  ])('%s is refused with what is allowed', async (_what, ref) => {
    await put('acme.yaml', own(ref));
    await expect(load()).rejects.toThrow(
      /acme\.yaml:5:11 .*HIREBRIDGE_SECRETS allows env:ACME_\.\.\. or file:.*vault\/acme\//,
    );
  });
});

test('the secrets of tenants that are applied are known, whatever stands in the folder', async () => {
  const { store } = await freshStore('sqlite');
  await put('globex.yaml', GLOBEX);
  const { applications } = await planApplication(store, dir, { secrets: 'skip' });
  await applyDefinitions(store, applications, 'ada');
  await put('more/acme.yaml', ACME.replace('env:TEST_PARTNER_KEY', 'env:GLOBEX_KEY'));
  await expect(planApplication(store, join(dir, 'more'), { secrets: 'skip' })).rejects.toThrow(
    'is a secret of tenant "globex"',
  );
});
