import { expect, test } from 'vitest';
import { keepMapping } from '../../../activities/connections.ts';
import { pinnedMapping } from '../../../activities/hire/read-sources.ts';
import type { HireContext } from '../../../activities/hire/with-hire.ts';
import { insertHires } from '../../../src/store/hires.ts';
import { insertPlan } from '../../../src/store/plans.ts';
import { loadTenantMapping } from '../../../src/tenants/open-hris.ts';
import type { Tenant } from '../../../src/tenants/schema.ts';
import { freshStore } from '../../store/stores.ts';

const ref = { tenantId: 'acme', jobCandidateId: '7', period: 1 };

/** A tenant whose own mapping file holds this title. */
function tenantOf(title: string): Tenant {
  const file = '/tenants/acme-mapping.yaml';
  const hris = { kind: 'sql', connection: 'hr', options: { url: 'sqlite::memory:' } };
  const files = { [file]: `fields:\n  title: { constant: ${title} }\n` };
  return { tenant: 'acme', hris, mapping: file, files } as unknown as Tenant;
}

test('a hire whose create may have left keeps the mapping of its plan; the next plan uses the new one', async () => {
  const { store } = await freshStore('sqlite');
  const [before, now] = [await loadTenantMapping(tenantOf('Old')), await loadTenantMapping(tenantOf('New'))];
  await keepMapping(store, tenantOf('Old'), { subject: 'employee', mapping: before });
  await insertHires(store, [{ ...ref, state: 'open' }]);
  await insertPlan(store, ref, { mappingHash: before.hash, change: { kind: 'create' } });
  const hashFor = async (outcome: string | undefined): Promise<string> => {
    const connection = { tenant: tenantOf('New'), mapping: now };
    const creation = outcome === undefined ? undefined : { outcome };
    return (await pinnedMapping({ store, ref, connection, creation } as unknown as HireContext)).hash;
  };
  expect(before.hash).not.toBe(now.hash);
  expect([await hashFor('open'), await hashFor('absent')]).toEqual([before.hash, before.hash]);
  expect([await hashFor('refused'), await hashFor(undefined)]).toEqual([now.hash, now.hash]);
});
