import { AsyncLocalStorage } from 'node:async_hooks';
import type { Logger } from '../log.ts';
import type { Observation } from '../partner/client/types.ts';
import { noteEvidence } from '../store/evidence.ts';
import type { Store } from '../store/open-store.ts';

/**
 * Keeps what answers show of the assumptions, for `doctor`. A process writes each tenant's first confirmation and
 * first contradiction of an assumption and nothing after that, so a busy tenant costs no writes.
 */
export function createEvidenceKeeper(
  store: Store,
  log: Logger,
): (tenantId: string, observations: readonly Observation[]) => void {
  const written = new Set<string>();
  // No part of the activity whose call showed it: when it is written there would be chance.
  const outside = AsyncLocalStorage.snapshot();
  return (tenantId, observations) => {
    for (const { assumption, holds } of observations) {
      const verdict = holds ? 'confirmed' : 'contradicted';
      const key = `${tenantId} ${assumption} ${verdict}`;
      if (written.has(key)) continue;
      written.add(key);
      if (!holds) log.warn({ tenantId, assumption }, 'assumption contradicted, see hirebridge doctor');
      outside(() => noteEvidence(store, { tenantId, assumption, verdict })).catch(() => written.delete(key));
    }
  };
}
