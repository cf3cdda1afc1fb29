import type { ActivityDeps, Connection } from '../../activities/connections.ts';
import { createLogger } from '../../src/log.ts';
import type { Store } from '../../src/store/open-store.ts';

export const GIVE_UP_MS = 60_000;

/** What a pushing stream of one tenant works with. */
export function pushDeps(store: Store, connection: Connection, giveUpMs = GIVE_UP_MS): ActivityDeps {
  return {
    store,
    log: createLogger('test'),
    limits: { giveUpMs, partnerLagMs: 0, pausedMs: 0 },
    connections: { of: async () => connection },
  } as unknown as ActivityDeps;
}
