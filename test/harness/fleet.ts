import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inject } from 'vitest';
import { steerTenant } from '../../src/operator/tenants.ts';
import { applyDefinitions } from '../../src/store/applied-tenants.ts';
import { openStore, type Store } from '../../src/store/open-store.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { readStatus, untilBaseline } from './hiring.ts';
import { fromHarness } from './services.ts';
import type { FleetAddresses } from './start-fleet.ts';
import { startWorld, type TenantWorld } from './world.ts';
import type { WorldOptions } from './world-tenant.ts';

export interface FleetTenant extends TenantWorld {
  installationId: string;
  temporalAddress: string;
  /** The worker's `/metrics`. */
  workerHealth: string;
}

type JoinOptions = Omit<WorldOptions, 'temporalAddress' | 'tenant' | 'storeUrl' | 'env'> & {
  /** Edits the tenant file before it is applied. */
  edit?: (text: string) => string;
};

/**
 * A tenant of its own, with its own partner and HR system, in the receiver and worker that end-to-end tests share. Live
 * when this resolves; removed from the fleet with `close`.
 */
export async function joinFleet({ edit, ...options }: JoinOptions = {}): Promise<FleetTenant> {
  if (!inject('needsTemporal')) throw new Error('A file that needs the fleet is listed in test/vitest.config.ts.');
  const { temporalAddress, workerHealth, ...shared }: FleetAddresses = await fromHarness('fleet');
  const tenant = `t${randomBytes(4).toString('hex')}`;
  const world = await startWorld({ ...options, temporalAddress, tenant }, shared);
  const installationId = await changeTenant(world, edit);
  await untilBaseline(world);
  return {
    ...world,
    installationId,
    temporalAddress,
    workerHealth,
    async close() {
      // A partner and an HR system that are gone for good would be asked for ever.
      if ((await readStatus(world)).state !== 'removed')
        await withStore(world, (store) => steerTenant(store, 'remove', { tenantId: tenant, by: 'test' }));
      await world.close();
    },
  };
}

export async function editTenant({ tenantsDir, tenant }: TenantWorld, change: (text: string) => string): Promise<void> {
  const file = join(tenantsDir, `${tenant}.yaml`);
  await writeFile(file, change(await readFile(file, 'utf8')));
}

/** Edits the tenant file and applies it; returns the id of the installation. */
export async function changeTenant(world: TenantWorld, change = (text: string): string => text): Promise<string> {
  await editTenant(world, change);
  return withStore(world, async (store) => {
    const { applications } = await planApplication(store, world.tenantsDir, { secrets: 'skip' });
    await applyDefinitions(store, applications, 'test');
    return store.installationId;
  });
}

async function withStore<T>({ storeUrl }: TenantWorld, use: (store: Store) => Promise<T>): Promise<T> {
  const store = await openStore(storeUrl);
  try {
    return await use(store);
  } finally {
    await store.close();
  }
}
