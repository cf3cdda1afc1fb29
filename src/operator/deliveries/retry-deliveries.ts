import { ConnectorError } from '../../errors.ts';
import { audit } from '../../store/audit.ts';
import {
  type DeliveryFilter,
  listDeliveries as listRows,
  retryDeliveries as retryRows,
  type StoredDelivery,
} from '../../store/inbox-retry.ts';
import { leftStates } from '../../store/inbox-tables.ts';
import type { Store } from '../../store/open-store.ts';

/** One delivery as people see it: ids and states, never its body. */
export interface DeliveryView extends Omit<StoredDelivery, 'bodyHash' | 'receivedAt'> {
  /** The first characters of its body's hash. */
  delivery: string;
  receivedAt: string;
}

const ID_LENGTH = 12;

/** Those that came last first. */
export async function listDeliveries(store: Store, filter: DeliveryFilter): Promise<DeliveryView[]> {
  return (await listRows(store, filter)).map(({ bodyHash, receivedAt, ...row }) => ({
    delivery: bodyHash.slice(0, ID_LENGTH),
    ...row,
    receivedAt: new Date(receivedAt).toISOString(),
  }));
}

export interface DeliveryRetry {
  /** As `inbox list` shows it; without one, all undeliverable deliveries are meant. */
  delivery?: string;
  tenantId?: string;
  by: string;
}

/** Gives one delivery, or every undeliverable one, to the relay again. @throws ConnectorError DELIVERY_UNKNOWN */
export async function retryDeliveries(store: Store, { delivery, tenantId, by }: DeliveryRetry): Promise<number> {
  const states = delivery === undefined ? (['undeliverable'] as const) : leftStates;
  const count = await retryRows(store, {
    states,
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(delivery === undefined ? {} : { hash: delivery }),
  });
  if (delivery !== undefined && count === 0)
    throw new ConnectorError({
      code: 'DELIVERY_UNKNOWN',
      action: 'reject',
      message: `No delivery ${delivery} can be retried. List those that can with: hirebridge inbox list`,
    });
  const whose = tenantId === undefined ? {} : { tenantId };
  await audit(store, { by, ...whose, act: 'deliveries-retried', details: delivery ?? `${count} undeliverable` });
  return count;
}
