import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { FoundPerson } from '../../src/operator/person.ts';
import type { ErasureReceipt } from '../../src/store/erasures.ts';
import { openStore } from '../../src/store/open-store.ts';
import { countTenantRows } from '../../src/store/tenant-rows.ts';
import { readTenantState } from '../../src/store/tenant-states.ts';
import { joinFleet } from '../harness/fleet.ts';
import { readStatus, untilHired } from '../harness/hiring.ts';
import { until } from '../harness/world.ts';

test('a hired person is found, handed over and erased, and no event brings them back', async () => {
  const world = await joinFleet();
  onTestFinished(world.close);
  const [applicant, other] = await world.applicants();
  if (applicant === undefined || other === undefined) throw new Error('the sandbox has nobody to hire');
  const hire = (id: number) => world.control.act('move', { jobCandidateIds: [id], stageType: 'HIRED' });
  await hire(applicant.jobCandidateId);
  await hire(other.jobCandidateId);
  await untilHired(world, 2);
  const person = async (...args: string[]) => {
    const { stdout, stderr, code } = await world.cli(['person', ...args, '--json']);
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    return JSON.parse(stdout) as unknown;
  };
  const { items } = await world.partner.readAll(
    (await import('../../src/partner/contract/index.ts')).contract.candidates.list,
  );
  const known = items.find(({ id }) => Number(id) === applicant.candidateId);
  const email = String(known?.email);

  const byMail = (await person('find', world.tenant, email)) as FoundPerson;
  expect(byMail).toMatchObject({
    candidates: [String(applicant.candidateId)],
    jobCandidates: [String(applicant.jobCandidateId)],
    employees: [expect.any(String)],
  });
  expect(byMail.places.map(({ place }) => place)).toEqual(
    expect.arrayContaining(['hires', 'persons', 'person_keys', 'intents', 'plans', 'foreign_writes']),
  );
  expect(JSON.stringify(byMail)).not.toContain(email);

  const file = join(world.dir, 'export.json');
  await person('export', world.tenant, `candidate:${applicant.candidateId}`, '--out', file);
  const handed = await readFile(file, 'utf8');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  const stranger = items.find(({ id }) => Number(id) === other.candidateId);
  for (const text of [handed, await readFile(join(world.dir, 'export.html'), 'utf8')]) {
    expect(text).toContain(email);
    expect(text).not.toContain(String(stranger?.email));
  }

  const erase = ['erase', world.tenant, email, '--employee', 'keep', '--reason', 'asked for', '--yes'];
  await person('hold', world.tenant, email, '--reason', 'case 12/26');
  expect(await world.cli(['person', ...erase])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('[LEGAL_HOLD]'),
  });
  await person('hold', world.tenant, email, '--release');
  const receipt = (await person(...erase)) as ErasureReceipt;
  expect(receipt).toMatchObject({ tenant: world.tenant, left: [], employee: 'kept in the HR system, as asked' });
  expect(receipt.erased).toMatchObject({ hires: 1, persons: 1 });
  for (const place of byMail.places) expect(receipt.erased[place.place]).toBeGreaterThanOrEqual(place.count);
  expect(JSON.stringify(receipt)).not.toMatch(new RegExp(`"${applicant.candidateId}"|${email}`));
  expect(await person('receipts', world.tenant)).toMatchObject([{ state: 'done', receipt }]);

  const employees = await world.employees();
  expect(employees).toHaveLength(2);
  await hire(applicant.jobCandidateId);
  const { code } = await world.cli(['reconcile', world.tenant, '--full']);
  expect(code).toBe(0);
  await until('the reconcile', async () => (await readStatus(world)).hires['done'] === 1);
  expect((await readStatus(world)).hires).toEqual({ done: 1 });
  expect(await world.employees()).toEqual(employees);
  // A webhook that came since is kept by its ids, and leads to nothing. A reconcile that goes on lists who is shown.
  await until('nothing of them but webhooks is kept', async () => {
    const { stdout } = await world.cli([
      'person',
      'find',
      world.tenant,
      `application:${applicant.jobCandidateId}`,
      '--json',
    ]);
    const { places } = JSON.parse(stdout) as FoundPerson;
    return places.every(({ place }) => place === 'inbox');
  });

  // The customer leaves: all that is left of the tenant goes, and another tenant of the fleet is not asked.
  expect(await world.cli(['tenant', 'remove', world.tenant, '--json'])).toMatchObject({ code: 0 });
  const store = await openStore(world.storeUrl);
  onTestFinished(() => store.close());
  await until('the work has ended', async () => (await readTenantState(store, world.tenant)).ended_at !== null);
  // Longer ago than anything that was under way may take.
  await store.kysely.updateTable('tenants').set({ ended_at: 1 }).where('tenant_id', '=', world.tenant).execute();
  const gone = ['tenant', 'remove', world.tenant, '--erase', '--landing', 'delete', '--reason', 'end of contract'];
  const { stdout, stderr, code: exit } = await world.cli([...gone, '--yes', '--json']);
  expect({ stderr, exit }).toEqual({ stderr: '', exit: 0 });
  const whole = JSON.parse(stdout) as ErasureReceipt;
  expect(whole).toMatchObject({ tenant: world.tenant, person: [], left: [] });
  expect(whole.erased).toMatchObject({ hires: 1, "Temporal's schedules and histories": expect.any(Number) as number });
  expect(await countTenantRows(store, world.tenant)).toEqual([]);
  expect(await world.employees()).toEqual(employees);
  const receipts = (await person('receipts', world.tenant)) as { receipt: ErasureReceipt }[];
  expect(receipts.map((one) => one.receipt)).toEqual([whole, receipt]);
});
