import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { assumptions } from '../../src/partner/contract/assumptions.ts';
import { openStore } from '../../src/store/open-store.ts';
import { noteEvidence } from '../../src/store/tenant-states.ts';
import { runCommand } from '../harness/run-command.ts';
import { scratchDir, TENANT, tenantDir } from './cli-process.ts';

test('openapi writes the same document as JSON and as YAML', async () => {
  const [json, yaml] = await Promise.all([runCommand(['openapi', '--json']), runCommand(['openapi', '--yaml'])]);
  const document = JSON.parse(json.stdout);
  expect(document.openapi).toBe('3.1.0');
  expect(parse(yaml.stdout)).toEqual(document);
});

test('collection writes the collection, and each of its environments', async () => {
  const [collection, production, sandbox] = await Promise.all([
    runCommand(['collection']),
    runCommand(['collection', '--environment', 'production']),
    runCommand(['collection', '--environment', 'sandbox']),
  ]);
  expect(JSON.parse(collection.stdout).info.schema).toContain('/v2.1.0/');
  expect(production.stdout).toContain('sk_live_');
  expect(sandbox.stdout).toContain('sk_test_');
});

test('doctor lists every assumption with what overrides it, and what a tenant has set there', async () => {
  const [tenants, data] = await Promise.all([tenantDir(), scratchDir()]);
  const overridden = TENANT.replace(
    'environment: sandbox',
    'environment: sandbox\n  overrides: { emailConflict: "409" }',
  );
  await writeFile(join(tenants, 'acme.yaml'), overridden);
  const { code, stdout } = await runCommand(['doctor', '--all', '--json', '--tenants', tenants, '--data', data]);
  const { assumptions: listed, checks } = JSON.parse(stdout);
  expect(code).toBe(0);
  expect(listed.map((one: { key: string }) => one.key)).toEqual(Object.keys(assumptions));
  expect(listed.find((one: { key: string }) => one.key === 'C3')).toMatchObject({
    override: 'partner.overrides.emailConflict',
    setBy: { acme: '409' },
  });
  expect(listed.filter((one: { setBy: object }) => Object.keys(one.setBy).length > 0)).toHaveLength(1);
  expect(checks).toContainEqual(expect.objectContaining({ check: 'tenants', state: 'good' }));
});

test('doctor ends with 2 and names the line when a tenant file cannot be meant', async () => {
  const [tenants, data] = await Promise.all([tenantDir(), scratchDir()]);
  await writeFile(join(tenants, 'acme.yaml'), TENANT.replace('environment: sandbox', 'environment: moon'));
  const { code, stdout } = await runCommand(['doctor', '--tenants', tenants, '--data', data]);
  expect(code).toBe(2);
  expect(stdout).toMatch(/wrong +tenants +.*acme\.yaml:4:\d+/);
  expect(stdout).toMatch(/\d+ of \d+ assumptions .*: hirebridge doctor --all/);
});

test('doctor says of a folder where nothing is set up yet what makes each missing thing', async () => {
  const [tenants, data] = await Promise.all([scratchDir(), scratchDir()]);
  const { code, stdout } = await runCommand(['doctor', '--tenants', tenants, '--data', data]);
  expect(code).toBe(0);
  expect(stdout).toMatch(/^open +tenants .*hirebridge init TENANT/m);
  expect(stdout).toMatch(/^open +store .*store\.db is not there yet: the first hirebridge up makes it$/m);
  expect(stdout).toMatch(/^open +processes +nothing was started yet: hirebridge up$/m);
});

test('doctor shows what answers contradict or have not shown yet, and the rest on --all', async () => {
  const [tenants, data] = await Promise.all([tenantDir(), scratchDir()]);
  const store = await openStore(`sqlite:${join(data, 'store.db')}`);
  await noteEvidence(store, { tenantId: 'acme', assumption: 'J5', verdict: 'confirmed' });
  for (const verdict of ['confirmed', 'contradicted'] as const)
    await noteEvidence(store, { tenantId: 'acme', assumption: 'STAGE', verdict });
  await noteEvidence(store, { tenantId: 'a-tenant-that-is-gone', assumption: 'J3', verdict: 'contradicted' });
  await store.close();
  const doctor = async (...args: string[]) =>
    (await runCommand(['doctor', ...args, '--tenants', tenants, '--data', data])).stdout;
  const [shown, all] = [await doctor(), await doctor('--all')];
  expect(shown).toMatch(/^STAGE +2\.4 +contradicted by acme .*jobCandidateStageField/m);
  expect(shown).toMatch(/^J3 +4\.2 +not seen yet /m);
  expect(shown).not.toMatch(/^(J5|C1) /m);
  expect(all).toMatch(/^J5 +2\.2 +confirmed /m);
  expect(all).toMatch(/^C1 +4\.3 +cannot be observed /m);
});
