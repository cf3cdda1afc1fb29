import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { everyStream, isLookup } from '../../src/streams/streams.ts';
import { loadTenants } from '../../src/tenants/load-tenants.ts';
import { loadTenantMapping, openTenantHris } from '../../src/tenants/open-hris.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder } from './acme.ts';

let dir: string;

beforeEach(async () => {
  dir = await makeTenantsFolder();
});

afterEach(() => removeTenantsFolder(dir));

const put = (name: string, content: string) => writeFile(join(dir, name), content);

describe('a good file', () => {
  test('renames fields of documents and offers, which are read and land nowhere', async () => {
    const fieldNames = {
      'onboarding.listDocuments': { stepKey: 'step.key', status: 'state' },
      'onboarding.listOffers': { signedPdfUrl: 'signed.url' },
    };
    await put('acme.yaml', ACME.replace('  company:', `  overrides: ${JSON.stringify({ fieldNames })}\n  company:`));
    const [tenant] = await loadTenants(dir);
    expect(tenant?.partner.overrides).toMatchObject({ fieldNames });
  });

  test('becomes a tenant with defaults filled in, durations in ms and paths made absolute', async () => {
    await put('acme.yaml', ACME);
    expect(await loadTenants(dir)).toEqual([
      {
        tenant: 'acme',
        mode: 'live',
        partner: {
          baseUrl: 'http://127.0.0.1:8811/v1/partner',
          environment: 'sandbox',
          apiKey: 'env:TEST_PARTNER_KEY',
          company: '17',
          webhookKeys: ['env:TEST_WEBHOOK_KEY'],
          webhooks: 'on',
          allowPrivateAddress: true,
          overrides: {},
        },
        hris: {
          kind: 'sql',
          connection: 'acme-hr',
          options: { url: `sqlite:${join(dir, 'hr.sqlite')}`, createTable: true },
        },
        policies: {
          enrolAt: ['HIRED'],
          createAt: ['HIRED'],
          onboarding: { flow: 'flow-1', readyAt: ['final_handoff', 'completed'], deadline: 2_592_000_000 },
          pendingDeadline: 1_209_600_000,
          identity: { sameName: 'ask' },
          startDate: { past: 2_592_000_000 },
          noShow: { within: 259_200_000 },
          reconcile: { every: 300_000 },
          cancel: { grace: 3_600_000 },
          changeLimits: { cancellationsPerHour: 3, erasuresPerHour: 10 },
          credits: { canaryEvery: 900_000 },
          retention: { plans: 2_592_000_000, writes: 15_552_000_000 },
          privacy: { gone: 'mark', withdrawn: 'mark', expired: 'mark' },
        },
        streams: everyStream((name) => ({ ...(isLookup(name) && { deletion: 'delete' }), wholeWithin: 86_400_000 })),
        writeBack: { employeeId: 'number', status: 'hired', leftStatus: 'left', values: [] },
        resumes: { atOnce: 200 },
        file: join(dir, 'acme.yaml'),
        files: { [join(dir, 'acme.yaml')]: ACME },
        configHash: expect.stringMatching(/^[0-9a-f]{64}$/),
      },
    ]);
  });

  test('names stages by type in any case, or by id', async () => {
    await put('acme.yaml', ACME.replace('policies:', 'policies:\n  enrolAt: [offer, 4711]\n  createAt: [Hired]'));
    expect((await loadTenants(dir))[0]?.policies).toMatchObject({ enrolAt: ['OFFER', '4711'], createAt: ['HIRED'] });
  });

  test('opens its HRIS and its mapping, with secrets from references', async () => {
    vi.stubEnv('TEST_HR_URL', `sqlite:${join(dir, 'secret.sqlite')}`);
    await put('acme.yaml', ACME.replace('sqlite:./hr.sqlite', 'env:TEST_HR_URL'));
    const [acme] = await loadTenants(dir);
    expect(JSON.stringify(acme)).not.toContain('secret.sqlite');
    expect((await loadTenantMapping(acme!)).kind).toBe('sql');
    const hris = await openTenantHris(acme!);
    expect(await hris.probe(AbortSignal.timeout(120_000))).toMatchObject({ ok: true });
    await hris.close();
  });

  test('may have its mapping file beside it, and its hash changes with the mapping’s meaning', async () => {
    await put('acme.yaml', `${ACME}mapping: ./acme-mapping.yaml\n`);
    const hashWith = async (mapping: string) => {
      await put('acme-mapping.yaml', mapping);
      const tenants = await loadTenants(dir);
      expect(tenants).toHaveLength(1);
      return tenants[0]?.configHash;
    };
    const first = await hashWith('fields:\n  employmentType: { constant: permanent }\n');
    expect(await hashWith('# a comment\nfields:\n  employmentType: { constant: permanent }\n')).toBe(first);
    expect(await hashWith('fields:\n  employmentType: { constant: fixed }\n')).not.toBe(first);
  });
});

test('two tenants of two companies may share one HRIS', async () => {
  await put('acme.yaml', ACME);
  await put('beta.yaml', ACME.replace('tenant: acme', 'tenant: beta').replace('company: "17"', 'company: "18"'));
  expect((await loadTenants(dir)).map((tenant) => tenant.tenant)).toEqual(['acme', 'beta']);
});

test('secrets need not be there when only the files are looked at', async () => {
  await put('acme.yaml', ACME.replaceAll('TEST_', 'TEST_NOT_SET_'));
  expect(await loadTenants(dir, { secrets: 'skip' })).toHaveLength(1);
});
