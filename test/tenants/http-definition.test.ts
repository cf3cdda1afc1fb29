import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { loadDefinition } from '../../src/hris/http/load-definition.ts';
import { loadTenants, parseTenant } from '../../src/tenants/load-tenants.ts';
import { loadTenantMapping, openTenantHris } from '../../src/tenants/open-hris.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder } from './acme.ts';

const DEFINITION = await readFile(new URL('../hris/definitions/acme.yaml', import.meta.url), 'utf8');
const HRIS = `hris:
  kind: http
  connection: acme-hr
  definition: ./systems/acme-hr.yaml
  url: https://hr.example/api
  user: hirebridge
  password: env:TEST_HR_PASSWORD
  readLag: 5s
`;

let dir: string;

beforeEach(async () => {
  dir = await makeTenantsFolder();
  vi.stubEnv('TEST_HR_PASSWORD', 'not to be seen');
  await put('acme.yaml', ACME.replace(/hris:\n(?: {2}.*\n)+/, `${HRIS}mapping: acme-mapping.yaml\n`));
  await put(
    'acme-mapping.yaml',
    'fields:\n  startDate: { from: "candidate.customFields[Start date]", transform: [date] }\n',
  );
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await removeTenantsFolder(dir);
});

async function put(name: string, text: string): Promise<void> {
  await writeFile(join(dir, name), text);
}

test('a tenant names its definition, and is the same wherever its applied files are read', async () => {
  // It may stand beside the tenant files, too.
  await put('acme-hr.yaml', DEFINITION);
  await put('acme.yaml', (await readFile(join(dir, 'acme.yaml'), 'utf8')).replace('systems/', ''));
  const [tenant] = await loadTenants(dir);
  expect(tenant?.hris).toMatchObject({ kind: 'http', options: { url: 'https://hr.example/api', user: 'hirebridge' } });
  expect(Object.keys(tenant?.files ?? {})).toContain(join(dir, 'acme-hr.yaml'));
  await rm(join(dir, 'acme-hr.yaml'));
  await rm(join(dir, 'acme-mapping.yaml'));
  const applied = await parseTenant(tenant as NonNullable<typeof tenant>);
  expect(applied.configHash).toBe(tenant?.configHash);
  const mapping = await loadTenantMapping(applied);
  expect(mapping.fields.map(({ target }) => target)).toEqual(
    expect.arrayContaining(['givenName', 'familyName', 'email', 'title', 'startDate']),
  );
  const hris = await openTenantHris(applied);
  expect(hris.capabilities).toEqual({ storesReference: true, readLagMs: 5_000 });
  expect(hris.pending).toBeDefined();
  await hris.close();
});

test('another text of the definition is another configuration', async () => {
  await put('acme-hr.yaml', DEFINITION);
  await put('acme.yaml', (await readFile(join(dir, 'acme.yaml'), 'utf8')).replace('systems/', ''));
  const [before] = await loadTenants(dir);
  await put('acme-hr.yaml', DEFINITION.replace('size: 50', 'size: 25'));
  const [after] = await loadTenants(dir);
  expect(after?.configHash).not.toBe(before?.configHash);
});

test.for([
  ['no file', (text: string) => text, undefined, /systems\/acme-hr\.yaml: there is no such file/],
  [
    'none named',
    (text: string) => text.replace(/ {2}definition.*\n/, ''),
    undefined,
    /acme\.yaml:\d+:\d+ "hris\.definition" is missing/,
  ],
  [
    'a broken one',
    (text: string) => text.replace('systems/', ''),
    DEFINITION.replace('at: job.title', 'at: job title'),
    /acme-hr\.yaml:25:\d+ "job title" is not a place/,
  ],
  [
    'an option of it left out',
    (text: string) => text.replace('systems/', '').replace(/ {2}user.*\n/, ''),
    DEFINITION,
    /"hris\.user" is missing: expected text: the name of the API user/,
  ],
  [
    'an option that it does not have',
    (text: string) => text.replace('systems/', '').replace('user:', 'usr:'),
    DEFINITION,
    /"hris\.usr" is not a known key\. Did you mean "user"/,
  ],
  [
    'its secret in the open',
    (text: string) => text.replace('systems/', '').replace('env:TEST_HR_PASSWORD', 'not to be seen'),
    DEFINITION,
    /"hris\.password" is a secret/,
  ],
] as const)('%s: refused with file and line', async ([, edit, definition, says]) => {
  if (definition !== undefined) await put('acme-hr.yaml', definition);
  await put('acme.yaml', edit(await readFile(join(dir, 'acme.yaml'), 'utf8')));
  const error: unknown = await loadTenants(dir).catch((reason: unknown) => reason);
  expect(String((error as Error).message)).toMatch(says);
  expect(String((error as Error).message)).not.toContain('not to be seen');
});

test('the definition of the page is a good one', async () => {
  const page = await readFile(new URL('../../docs/http-definitions.md', import.meta.url), 'utf8');
  const [, definition = ''] = [...page.matchAll(/```yaml\n(.*?)```/gs)].map(([, block]) => block ?? '');
  expect(loadDefinition('acme-hr.yaml', definition).problems).toEqual([]);
});
