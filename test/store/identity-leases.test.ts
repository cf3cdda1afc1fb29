import { describe, expect, test } from 'vitest';
import { applyDefinitions, listAppliedTenants } from '../../src/store/applied-tenants.ts';
import { endHire } from '../../src/store/hire-states.ts';
import { insertHires } from '../../src/store/hires.ts';
import {
  endIdentityLease,
  type IdentityLease,
  purgeIdentityLeases,
  takeIdentityLease,
} from '../../src/store/identity-leases.ts';
import { openIntent } from '../../src/store/intents.ts';
import type { Store } from '../../src/store/open-store.ts';
import { recordEnd, removeTenant } from '../../src/store/tenant-acts.ts';
import { freshStore, kinds } from './stores.ts';

const first = leaseOf('5012');
const second = leaseOf('5013');
const LONG_MS = 600_000;

describe.each(kinds)('who is being created, on %s', (kind) => {
  test('whoever waits is told which hire they wait for', async () => {
    const { store, other } = await twoHires(kind);
    await takeIdentityLease(store, first, LONG_MS);
    const refused = takeIdentityLease(other, second, LONG_MS);
    await expect(refused).rejects.toMatchObject({
      code: 'IDENTITY_LEASED',
      message: expect.stringContaining('job candidate 5012 of tenant acme'),
      details: { other: first.hire, pending: false },
    });
    await endIdentityLease(store, first, 0);
    await takeIdentityLease(other, second, LONG_MS);
  });

  test('an attempt that stood still does not end the lease of a later one', async () => {
    const { store, other } = await twoHires(kind);
    await takeIdentityLease(store, first, LONG_MS);
    await takeIdentityLease(store, { ...first, holder: 'later' }, LONG_MS);
    await endIdentityLease(store, first, 0);
    await expect(takeIdentityLease(other, second, LONG_MS)).rejects.toMatchObject({ code: 'IDENTITY_LEASED' });
  });

  test('a pending create keeps its lease, whatever the time, until its hire is over', async () => {
    const { store, other } = await twoHires(kind);
    await takeIdentityLease(store, first, 0);
    const intent = { ...first.hire, verb: 'create-employee', attempt: 1, pinned: {}, budgetMs: 0 };
    await openIntent(store, intent);
    await purgeIdentityLeases(store, 'acme');
    await expect(takeIdentityLease(other, second, LONG_MS)).rejects.toMatchObject({ details: { pending: true } });
    await endHire(store, first.hire, 'cancelled');
    await takeIdentityLease(other, second, LONG_MS);
  });

  test('a create that a removed tenant left behind keeps nobody waiting, until the tenant is back', async () => {
    const { store, other } = await twoHires(kind);
    const receives = { environment: 'production' as const, webhooks: 'off' as const, webhookKeys: [] };
    const definition = { tenantId: 'acme', file: 'f', files: {}, receives, changes: [] };
    await applyDefinitions(store, [{ ...definition, over: null }], 'ada');
    await takeIdentityLease(store, first, 0);
    await openIntent(store, { ...first.hire, verb: 'create-employee', attempt: 1, pinned: {}, budgetMs: 0 });
    await removeTenant(store, { tenantId: 'acme', by: 'ada' });
    await expect(takeIdentityLease(other, second, 0)).rejects.toMatchObject({ details: { pending: true } });
    await recordEnd(store, 'acme');
    await takeIdentityLease(other, second, 0);
    await takeIdentityLease(store, first, 0);
    const [removed] = await listAppliedTenants(store);
    await applyDefinitions(store, [{ ...definition, over: removed?.version ?? null }], 'ada');
    await expect(takeIdentityLease(other, second, 0)).rejects.toMatchObject({ details: { pending: true } });
  });

  test('leases that are over leave no rows', async () => {
    const { store } = await twoHires(kind);
    await takeIdentityLease(store, { ...first, keys: ['over'] }, 0);
    await takeIdentityLease(store, { ...second, keys: ['lasts'] }, LONG_MS);
    await purgeIdentityLeases(store, 'acme');
    const rows = await store.kysely.selectFrom('identity_leases').select('key').execute();
    expect(rows).toEqual([{ key: 'lasts' }]);
  });
});

function leaseOf(jobCandidateId: string): IdentityLease {
  return {
    connection: 'hr',
    hire: { tenantId: 'acme', jobCandidateId, period: 1 },
    keys: ['mail', 'person'],
    holder: `of ${jobCandidateId}`,
  };
}

async function twoHires(kind: (typeof kinds)[number]): Promise<{ store: Store; other: Store }> {
  const stores = await freshStore(kind);
  await insertHires(
    stores.store,
    [first, second].map(({ hire }) => ({ ...hire, state: 'open' as const })),
  );
  return stores;
}
