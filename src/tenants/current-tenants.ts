import { setTimeout as delay } from 'node:timers/promises';
import { storeExists } from '../config.ts';
import type { Logger } from '../log.ts';
import {
  type AppliedTenant,
  applyDefinitions,
  listAppliedTenants,
  listReceiving,
  readTenantsVersion,
} from '../store/applied-tenants.ts';
import type { Store } from '../store/open-store.ts';

interface CurrentTenant {
  tenantId: string;
  webhooks: 'on' | 'off';
}

/** The applied tenants; before the first start, those of the folder. */
export async function currentTenants(store: Store, dir: string): Promise<CurrentTenant[]> {
  const applied = await listReceiving(store);
  if (applied.length > 0)
    return applied.map(({ tenantId, state, webhooks }) => ({
      tenantId,
      webhooks: state === 'removed' ? 'off' : webhooks,
    }));
  // Reading files loads schemas, mappings and HR systems, which costs a command as much as everything else it does.
  const { loadTenants } = await import('./load-tenants.ts');
  const tenants = await loadTenants(dir, { secrets: 'skip' });
  return tenants.map(({ tenant, partner }) => ({ tenantId: tenant, webhooks: partner.webhooks }));
}

interface TenantsWatch {
  /** Looks for changes now. */
  look(): Promise<void>;
  /** Resolves once the look under way has ended. */
  close(): Promise<void>;
}

interface WatchOptions {
  log: Logger;
  /**
   * Takes over changed tenants, at first all of them. If it rejects, the error is logged and the same tenants come
   * again.
   */
  take: (changed: readonly AppliedTenant[]) => Promise<void> | void;
  /** How often the store's counter is read, ms. */
  everyMs?: number;
}

/** Hands over every applied tenant, and later each changed one within a second or two of the change. */
export async function watchTenants(store: Store, { log, take, everyMs = 1_000 }: WatchOptions): Promise<TenantsWatch> {
  const stop = new AbortController();
  let seen = -1;
  let looking: Promise<void> = Promise.resolve();
  const look = (): Promise<void> => {
    looking = looking.catch(() => undefined).then(lookOnce);
    return looking;
  };
  const lookOnce = async (): Promise<void> => {
    // Read the version before the rows, so that a tenant applied in between is handed over twice rather than never.
    const version = await readTenantsVersion(store);
    if (version === seen) return;
    const changed = await listAppliedTenants(store, seen);
    if (changed.length > 0) await take(changed);
    seen = version;
  };
  await look();
  const watching = (async () => {
    while (!stop.signal.aborted) {
      await delay(everyMs, undefined, { signal: stop.signal }).catch(() => undefined);
      if (!stop.signal.aborted) await look().catch((error: unknown) => log.warn({ err: error }, 'tenants not read'));
    }
  })();
  return {
    look,
    async close() {
      stop.abort();
      await watching;
    },
  };
}

/**
 * Refuses the folder of a first start before the store is made, so that a refusal leaves nothing behind. Checks nothing
 * where there is a store: its tenants count then.
 * @throws ConnectorError TENANTS_UNREADABLE, TENANTS_MISSING, TENANT_FILE_INVALID
 */
export async function assertFirstFolder(dataDir: string, dir: string, secrets: 'check' | 'skip'): Promise<void> {
  if (storeExists(dataDir)) return;
  const { loadTenants } = await import('./load-tenants.ts');
  await loadTenants(dir, { secrets });
}

/**
 * The first start: a store without tenants takes those of the folder and checks their secrets. After that, only
 * `hirebridge tenant apply` changes tenants. If receiver and worker both start, the second finds the tenants applied.
 */
export async function startWithFolder(store: Store, dir: string): Promise<void> {
  if ((await listAppliedTenants(store)).length > 0) return;
  const { planApplication } = await import('./plan-application.ts');
  const { applications } = await planApplication(store, dir, { secrets: 'check' });
  await applyDefinitions(store, applications, 'first start');
}
