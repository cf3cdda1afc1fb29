import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from '../log.ts';
import { type AppliedTenant, listAppliedTenants, readTenantsVersion } from '../store/applied-tenants.ts';
import type { Store } from '../store/open-store.ts';

export interface TenantsWatch {
  /** Looks now. */
  look(): Promise<void>;
  /** Ends after the take-up under way. */
  close(): Promise<void>;
}

export interface WatchOptions {
  log: Logger;
  /** Takes up what changed; at first everything. A rejection is logged, and the same is handed over again. */
  take: (changed: readonly AppliedTenant[]) => Promise<void> | void;
  /** How often the store's counter is read, ms. */
  everyMs?: number;
}

/** Hands over every applied tenant, and from then on each that changed, within a second or two of the change. */
export async function watchTenants(store: Store, { log, take, everyMs = 1_000 }: WatchOptions): Promise<TenantsWatch> {
  const stop = new AbortController();
  let seen = -1;
  let looking: Promise<void> = Promise.resolve();
  const look = (): Promise<void> => {
    looking = looking.catch(() => undefined).then(lookOnce);
    return looking;
  };
  const lookOnce = async (): Promise<void> => {
    // Before the rows: what is applied in between is handed over twice rather than never.
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
