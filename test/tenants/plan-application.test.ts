import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { evaluateMapping } from '../../src/mapping/evaluate.ts';
import { applyDefinitions, listAppliedTenants, removeTenant } from '../../src/store/applied-tenants.ts';
import { askTenantErasure, type ErasureReceipt } from '../../src/store/erasures.ts';
import { insertHires } from '../../src/store/hires.ts';
import { linkRequisition } from '../../src/store/jobs.ts';
import type { Store } from '../../src/store/open-store.ts';
import { refuseResume } from '../../src/store/resumes.ts';
import { endTenantErasure } from '../../src/store/tenant-rows.ts';
import { startWithFolder } from '../../src/tenants/current-tenants.ts';
import { createKnownTenants } from '../../src/tenants/known-tenants.ts';
import { loadTenants, parseTenant } from '../../src/tenants/load-tenants.ts';
import { loadStreamMapping, loadTenantMapping } from '../../src/tenants/open-hris.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { linkPerson, who } from '../store/known-people.ts';
import { freshStore, kinds } from '../store/stores.ts';
import { ACME, makeTenantsFolder, removeTenantsFolder } from './acme.ts';

let dir: string;

beforeEach(async () => {
  dir = await makeTenantsFolder();
  await put('acme.yaml', ACME);
});
afterEach(() => removeTenantsFolder(dir));

function put(name: string, text: string): Promise<void> {
  return writeFile(join(dir, name), text);
}

function plan(store: Store) {
  return planApplication(store, dir, { secrets: 'skip' });
}

async function apply(store: Store): Promise<void> {
  expect(await applyDefinitions(store, (await plan(store)).applications, 'ada')).toBe(true);
}

async function refused(store: Store): Promise<string> {
  const error: unknown = await plan(store).catch((reason: unknown) => reason);
  return error instanceof Error ? error.message : 'not refused';
}

describe.each(kinds)('a folder against what is applied in %s', (kind) => {
  test('is applied at the first start, and nothing of it at later ones', async () => {
    const { store, other } = await freshStore(kind);
    await Promise.all([startWithFolder(store, dir), startWithFolder(other, dir)]);
    expect(await listAppliedTenants(store)).toMatchObject([{ tenantId: 'acme', appliedBy: 'first start' }]);
    await put('acme.yaml', ACME.replace('deadline: 30d', 'deadline: 9d'));
    await startWithFolder(store, join(dir, 'gone'));
    expect((await listAppliedTenants(store))[0]?.files[join(dir, 'acme.yaml')]).toContain('deadline: 30d');
  });

  test('says that people are known in another HR system, and applies nothing without a word', async () => {
    const { store } = await freshStore(kind);
    await apply(store);
    const [before] = await listAppliedTenants(store);
    const [, connection = ''] = /connection: ([\w-]+)/.exec(Object.values(before?.files ?? {}).join()) ?? [];
    await put('acme.yaml', ACME.replace(`connection: ${connection}`, 'connection: another'));
    expect((await plan(store)).applications).toEqual([expect.not.objectContaining({ hris: expect.anything() })]);
    // The ids of requisitions mean other positions there, and their jobs would get the values of those.
    await linkRequisition(store, { tenant_id: 'acme', requisition_id: 'R-1' }, '501');
    const [moved] = (await plan(store)).applications;
    expect(moved).toMatchObject({ hris: { from: connection, to: 'another', people: 0, requisitions: 1 } });
    await store.kysely.deleteFrom('requisitions').execute();
    await refuseResume(
      store,
      'acme',
      { resumeId: 'a', jobId: '501', before: undefined },
      { code: 'NO_PDF', connection },
    );
    expect((await plan(store)).applications).toMatchObject([{ hris: { people: 0, requisitions: 0, resumes: 1 } }]);
    const ref = { tenantId: 'acme', jobCandidateId: '1', period: 1 };
    await insertHires(store, [{ ...ref, state: 'open' }]);
    await linkPerson(store, who('88', connection), ref, { id: '7' });
    const { applications } = await plan(store);
    expect(applications).toMatchObject([{ hris: { from: connection, to: 'another', people: 1, sharedWith: [] } }]);
    await expect(applyDefinitions(store, applications, 'ada')).rejects.toMatchObject({ code: 'HRIS_CHANGED' });
    expect((await listAppliedTenants(store))[0]?.files).toEqual(before?.files);
  });

  test('is what it was before: the applied tenant means what its file meant, mapping included', async () => {
    const { store } = await freshStore(kind);
    await put('acme.yaml', `${ACME}mapping: map.yaml\n`);
    await put('map.yaml', 'fields:\n  department: { constant: People }\n');
    const [loaded] = await loadTenants(dir);
    await apply(store);
    await put('map.yaml', 'no longer a mapping');
    const known = createKnownTenants();
    await known.take(await listAppliedTenants(store));
    expect(known.get('acme')).toEqual(loaded);
  });

  test('is all that a mapping is made of: where no folder is, layers, tables and streams mean the same', async () => {
    const { store } = await freshStore(kind);
    const shared = await mkdtemp(join(tmpdir(), 'hirebridge-shared-'));
    await writeFile(join(shared, 'group.yaml'), 'extends: root.yaml\nfields:\n  title: { constant: Staff }\n');
    await writeFile(
      join(shared, 'root.yaml'),
      'fields:\n  department: { from: job.title, lookup: tables/departments.csv, default: OTHER }\n',
    );
    await mkdir(join(shared, 'tables'));
    await writeFile(join(shared, 'tables', 'departments.csv'), 'title,department\nClerk,OFFICE\n');
    await put('acme.yaml', `${ACME}mapping: map.yaml\nstreams: { jobs: { mapping: jobs.yaml } }\n`);
    await put('map.yaml', `extends: ${join(shared, 'group.yaml')}\nfields:\n  startDate: { constant: 2027-01-11 }\n`);
    await put('jobs.yaml', 'fields:\n  title: { from: job.title, transform: [upper] }\n');
    const [loaded] = await loadTenants(dir);
    await apply(store);
    await Promise.all([shared, dir].map((folder) => rm(folder, { recursive: true })));
    const [applied] = await listAppliedTenants(store);
    if (applied === undefined) throw new Error('nothing was applied');
    const tenant = await parseTenant(applied);
    expect(tenant).toEqual(loaded);
    const mapping = await loadTenantMapping(tenant);
    const candidate = { firstName: 'A', lastName: 'B', email: 'a@b.example' };
    const { fields, problems } = evaluateMapping(mapping, { candidate, job: { title: 'Clerk' } });
    expect(problems).toEqual([]);
    expect(fields).toMatchObject({ department: 'OFFICE', title: 'Staff', startDate: '2027-01-11' });
    expect((await loadStreamMapping(tenant, 'jobs'))?.hash).toBeDefined();
    await mkdir(dir);
  });

  test('tells which line of a lookup table is read as its header', async () => {
    const { store } = await freshStore(kind);
    await put('acme.yaml', `${ACME}mapping: map.yaml\n`);
    await put('map.yaml', 'fields:\n  department: { from: job.title, lookup: departments.csv }\n');
    await put('departments.csv', '\nClerk,OFFICE\n"Cook","KITCHEN, COLD"\n');
    const [{ changes } = { changes: [] }] = (await plan(store)).applications;
    expect(changes.filter((line) => line.includes('csv:'))).toEqual([
      expect.stringMatching(/^\+ departments\.csv: 1 value below the header line "Clerk,OFFICE", [0-9a-f]{8}$/),
    ]);
    await Promise.all(['map.yaml', 'departments.csv'].map((name) => rm(join(dir, name))));
  });

  test('shows each setting that is new, changed or gone, and nothing for one that is the same', async () => {
    const { store } = await freshStore(kind);
    await put('acme.yaml', `${ACME}mapping: map.yaml\n`);
    await put('map.yaml', 'fields:\n  department: { constant: People }\n');
    await apply(store);
    expect(await plan(store)).toEqual({ applications: [], same: ['acme'], absent: [], warnings: [] });
    await put('map.yaml', 'fields:\n  department: { constant: Staff }\n');
    await put(
      'acme.yaml',
      `${ACME.replace(', deadline: 30d', '')}mapping: map.yaml\nnotify: https://hooks.example.com/a\n`,
    );
    const { applications } = await plan(store);
    expect(applications[0]?.changes.toSorted()).toEqual([
      '+ notify: https://hooks.example.com/a',
      '- policies.onboarding.deadline: 30d',
      '~ map.yaml.fields.department.constant: People -> Staff',
    ]);
    await put('acme.yaml', `# a comment\n${ACME}`);
    await put('map.yaml', 'fields: {}\n');
    await put('beta.yaml', ACME.replace('tenant: acme', 'tenant: beta').replace('acme-hr', 'beta-hr'));
    expect((await plan(store)).applications.map(({ tenantId, kind: what }) => [tenantId, what])).toEqual([
      ['acme', 'changed'],
      ['beta', 'new'],
    ]);
  });

  test('never passes an id on to another company, not even that of a removed tenant', async () => {
    const { store } = await freshStore(kind);
    await apply(store);
    await put('acme.yaml', ACME.replace('company: "17"', 'company: "18"'));
    expect(await refused(store)).toMatch(
      /acme\.yaml:\d+:\d+ The tenant "acme" and its records belong to company 17.*new id/,
    );
    await removeTenant(store, { tenantId: 'acme', by: 'ada' });
    expect(await refused(store)).toContain('belong to company 17');
    await put('acme.yaml', ACME);
    expect((await plan(store)).applications).toMatchObject([{ kind: 'back' }]);
  });

  test('passes the id of an erased tenant on to nobody either: people of it are marked with its ids', async () => {
    const { store } = await freshStore(kind);
    await apply(store);
    const erasing = { tenantId: 'acme', by: 'ada', reason: 'end of contract', landing: 'keep' } as const;
    const row = await askTenantErasure(store, erasing);
    await endTenantErasure(store, row, () => ({ receipt: 'r' }) as ErasureReceipt);
    await put('acme.yaml', ACME.replace('company: "17"', 'company: "18"'));
    expect(await refused(store)).toMatch(/The tenant "acme" and its records belong to company 17.*new id/);
    await put('acme.yaml', ACME);
    expect((await plan(store)).applications).toMatchObject([{ kind: 'back' }]);
  });

  test('is checked against the whole fleet: one connection name is one HRIS', async () => {
    const { store } = await freshStore(kind);
    await apply(store);
    const elsewhere = join(dir, 'more');
    await mkdir(elsewhere);
    const beta = ACME.replace('tenant: acme', 'tenant: beta').replace('hr.sqlite', 'other.sqlite');
    await writeFile(join(elsewhere, 'beta.yaml'), beta);
    await expect(planApplication(store, elsewhere, { secrets: 'skip' })).rejects.toThrow(
      /beta\.yaml:\d+:\d+ "acme-hr" already names another HR system/,
    );
    await writeFile(join(elsewhere, 'beta.yaml'), beta.replace('acme-hr', 'beta-hr'));
    expect(await planApplication(store, elsewhere, { secrets: 'skip' })).toMatchObject({ absent: ['acme'] });
  });
});

test('a definition that cannot be read is the trouble of its own tenant', async () => {
  const { store } = await freshStore('sqlite');
  await put('beta.yaml', ACME.replace('tenant: acme', 'tenant: beta').replace('acme-hr', 'beta-hr'));
  await apply(store);
  await store.kysely.updateTable('tenants').set({ files: '{}' }).where('tenant_id', '=', 'beta').execute();
  const known = createKnownTenants();
  await known.take(await listAppliedTenants(store));
  expect(known.all().map(({ tenant }) => tenant)).toEqual(['acme']);
  expect(known.unreadable()).toEqual(['beta']);
  expect(() => known.get('beta')).toThrow(expect.objectContaining({ action: 'reauthorize' }));
  expect(() => known.get('nobody')).toThrow('hirebridge tenant apply');
  // Its work comes all the same, and the other one is to feel nothing of it.
  expect(known.areSeveral()).toBe(true);
  await store.kysely
    .updateTable('tenants')
    .set({ state: 'removed', ended_at: 1 })
    .where('tenant_id', '=', 'beta')
    .execute();
  await known.take(await listAppliedTenants(store));
  expect(known.areSeveral()).toBe(false);
});
