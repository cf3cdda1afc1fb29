import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ensureHrisSchema } from '../../../src/hris/sql/ensure-hris-schema.ts';
import { checkTenant } from '../../../src/operator/checks/check-tenant.ts';
import { contract } from '../../../src/partner/contract/index.ts';
import { landings } from '../../../src/streams/streams.ts';
import { loadTenants } from '../../../src/tenants/load-tenants.ts';
import { scratchFolder } from '../../harness/scratch-folder.ts';
import { writeTenant } from '../../harness/world-tenant.ts';
import { openSandbox } from '../../sandbox/open-sandbox.ts';

/** A tenant with a mapping of its own, checked against a real partner and a real table. */
async function check(mapping: string): Promise<Record<string, string>> {
  const sandbox = await openSandbox({ jobs: 1, candidates: 1 });
  onTestFinished(() => sandbox[Symbol.asyncDispose]());
  const dir = await scratchFolder();
  const hrisUrl = `sqlite:${join(dir, 'hr.db')}`;
  await ensureHrisSchema(hrisUrl, {}, landings);
  const { items } = await sandbox.partner.readAll(contract.onboarding.listFlows);
  const facts = { partnerUrl: sandbox.url, apiKey: sandbox.key, webhookKey: 'whk', company: 'x', hrisUrl };
  await writeTenant(dir, { ...facts, flowId: items[0]?.flowId ?? '' });
  const level = { entityType: 'candidate', fieldLabel: 'Start date', fieldType: 'date' } as const;
  await sandbox.partner.customFields.create({ body: level });
  await writeFile(join(dir, 'acme-mapping.yaml'), `fields:\n${mapping}`);
  const file = join(dir, 'acme.yaml');
  await writeFile(file, `${await readFile(file, 'utf8')}mapping: acme-mapping.yaml\n`);
  const [tenant] = await loadTenants(dir);
  if (tenant === undefined) throw new Error('no tenant');
  const lines = await checkTenant(tenant, undefined);
  return Object.fromEntries(lines.map((line) => [line.check, `${line.state} ${line.message}`]));
}

test('a tenant that fits both sides has a line for each thing looked at', async () => {
  const lines = await check('  city: null\n');
  expect(lines).toMatchObject({
    'custom-fields': 'ok The custom fields that the files name are there.',
    clock: expect.stringMatching(/^ok /),
    'rate-limit': 'ok No call was counted yet.',
    'hris-fields': expect.stringMatching(/^ok The mapping fits \d+ fields, the 4 required ones filled\.$/),
  });
});

test('a misspelt custom field fails with what is near', async () => {
  const lines = await check('  city: { from: "candidate.customFields[Strat date]" }\n');
  expect(lines['custom-fields']).toMatch(/^fail .*no such candidate custom field\. Did you mean "Start date"\?/);
});
