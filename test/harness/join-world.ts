import { applyDefinitions } from '../../src/store/applied-tenants.ts';
import { openStore } from '../../src/store/open-store.ts';
import { planApplication } from '../../src/tenants/plan-application.ts';
import { startWorld, type World } from './world.ts';
import type { WorldOptions } from './world-tenant.ts';

/** A further tenant, with a partner and an HR system of its own, in the processes of a world that runs. */
export async function joinWorld(
  { dataDir, storeUrl, env, logFile, webhookUrl }: World,
  options: WorldOptions,
  prepare: (joined: World) => Promise<void> = async () => undefined,
): Promise<World> {
  const shared = { dataDir, storeUrl, env, logFile, webhookPort: Number(new URL(webhookUrl).port) };
  const joined = await startWorld(options, shared);
  await prepare(joined);
  const store = await openStore(storeUrl);
  try {
    const { applications } = await planApplication(store, joined.tenantsDir, { secrets: 'skip' });
    await applyDefinitions(store, applications, 'test');
  } finally {
    await store.close();
  }
  return joined;
}
