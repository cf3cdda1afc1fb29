import { ConnectorError } from '../../errors.ts';
import { audit } from '../../store/audit.ts';
import { replayDeliveries as replayRows } from '../../store/inbox-retry.ts';
import type { Store } from '../../store/open-store.ts';
import { readClock } from '../../store/tenant-states.ts';

export interface Replay {
  tenantId: string;
  /** The first characters of its id. */
  delivery?: string;
  by: string;
  /** Received so many milliseconds ago at most, and at least. */
  window?: { sinceMs: number; untilMs: number };
}

/**
 * Gives stored deliveries to the relay once more, as if they had just come: what they hint at is read again, and what
 * is done already stays as it is. Says how many. @throws ConnectorError DELIVERY_UNKNOWN
 */
export async function replayDeliveries(store: Store, { tenantId, delivery, window, by }: Replay): Promise<number> {
  const now = await readClock(store);
  const count = await replayRows(store, {
    tenantId,
    ...(delivery === undefined ? {} : { hash: delivery }),
    ...(window === undefined ? {} : { received: { from: now - window.sinceMs, to: now - window.untilMs } }),
  });
  if (delivery === undefined || count > 0) {
    await audit(store, { by, tenantId, act: 'deliveries-replayed', details: delivery ?? `${count} of a window` });
    return count;
  }
  throw new ConnectorError({
    code: 'DELIVERY_UNKNOWN',
    action: 'reject',
    message:
      `${tenantId} has no delivery ${delivery} that could be replayed. ` +
      `List them with: hirebridge inbox list --tenant ${tenantId} --state relayed`,
  });
}
