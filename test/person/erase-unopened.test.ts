import { expect, test } from 'vitest';
import { erasePerson, findPerson } from '../../src/operator/person.ts';
import { applyDefinitions, removeTenant } from '../../src/store/applied-tenants.ts';
import { openErasures } from '../../src/store/erasures.ts';
import { readMarks } from '../../src/store/person-marks.ts';
import type { HireClient } from '../../src/temporal/hire-client.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { openPullWorld } from '../activities/streams/pull-world.ts';

const REASON = /^Nothing was erased: .+ tenant acme .+ env:NOT_IN_THIS_SHELL is missing or empty.+ where they run\.$/;

test('from a shell without the tenant’s secrets nobody is erased, unless the tenant was removed', async () => {
  const { world, store, edit, pull, rows } = await openPullWorld('{ candidates: { every: 1h } }');
  const { tenantsDir, dataDir } = world;
  await pull('full');
  const landed = rows();
  const [id] = landed.keys();
  await edit((text) => text.replace(/apiKey: .*/, 'apiKey: env:NOT_IN_THIS_SHELL'));
  const { applications } = await planApplication(store, tenantsDir, { secrets: 'skip' });
  await applyDefinitions(store, applications, 'ann');
  const away = () => {
    throw new Error('Temporal is away');
  };
  const hires = { installationId: 'i', client: { workflow: { getHandle: away } } } as unknown as HireClient;
  const parts = { store, hires, places: { tenantsDir, dataDir }, tenantId: 'acme', by: 'ann' };
  const erase = () => erasePerson(parts, { who: `candidate:${id}`, reason: 'request', employee: 'terminate' });
  await expect(erase()).rejects.toMatchObject({ code: 'SECRET_MISSING', message: expect.stringMatching(REASON) });
  expect([await openErasures(store), (await readMarks(store)).marks, rows()]).toEqual([[], [], landed]);
  const { notAsked } = await findPerson(parts, `candidate:${id}`);
  expect(notAsked).toEqual([expect.stringContaining('env:NOT_IN_THIS_SHELL is missing')]);
  await removeTenant(store, { tenantId: 'acme', by: 'ann' });
  await erase();
  expect((await readMarks(store)).marks).toMatchObject([{ mark: 'erased' }]);
});
