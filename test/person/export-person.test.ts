import { expect, test } from 'vitest';
import { withTenant } from '../../src/operator/open-tenant.ts';
import { exportPerson } from '../../src/operator/person.ts';
import { contract } from '../../src/partner/contract/index.ts';
import { insertHires } from '../../src/store/hires.ts';
import { openPullWorld } from '../activities/streams/pull-world.ts';
import { created, employee, write } from '../hris/profile.ts';
import { linkPerson, who } from '../store/known-people.ts';

test('an export shows the employee, but no record that became somebody else', async () => {
  const { world, store } = await openPullWorld('{ jobs: { every: 1h } }');
  const { tenantsDir, dataDir, partner } = world;
  const [one] = (await partner.readAll(contract.candidates.list, {})).items;
  const candidateId = String(one?.id);
  const ask = { store, places: { tenantsDir, dataDir }, tenantId: 'acme' };
  const ids = await withTenant(ask, async ({ connection: { hris, tenant } }) => {
    const made: string[] = [];
    for (const [n, reference] of [`acme:${candidateId}`, '99:5001'].entries()) {
      const { id } = created(await hris.employees.create(employee(`p${n}`), reference, write));
      const ref = { tenantId: 'acme', jobCandidateId: String(n), period: 1 };
      await insertHires(store, [{ ...ref, state: 'open' }]);
      await linkPerson(store, who(candidateId, tenant.hris.connection, 'acme'), ref, { id });
      made.push(id);
    }
    return made;
  });
  const exported = await exportPerson({ ...ask, by: 'ada' }, `candidate:${candidateId}`);
  expect(exported.hris).toMatchObject([{ employee: { id: ids[0] } }]);
  expect(exported.notAsked).toEqual([expect.stringMatching(new RegExp(`^employee ${ids[1]}: .+somebody else`))]);
});
