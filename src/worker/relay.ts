import { setTimeout as delay } from 'node:timers/promises';
import { isGrpcServiceError } from '@temporalio/client';
import pLimit from 'p-limit';
import { isConnectorError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { isEventName } from '../partner/contract/events.ts';
import { deferDelivery, failDelivery, finishDelivery, type LeasedDelivery, leaseDeliveries } from '../store/inbox.ts';
import { readTenantState } from '../store/tenant-states.ts';
import { dispatch } from './dispatch.ts';
import { createReconcileRequests } from './reconcile-requests.ts';
import { type HintSender, sendHints } from './send-hints.ts';

export interface RelayOptions extends Omit<HintSender, 'reconciles'> {
  log: Logger;
  triggerReconcile: (tenantId: string) => Promise<void>;
  /** How long an empty inbox waits before it is looked at again, ms. */
  idleMs?: number;
  /** At most one reconcile per tenant is asked for in this time, however many events ask, ms. */
  reconcileGapMs?: number;
}

const BATCH = 50;
const IN_FLIGHT = 16;
const DEFER_MS = 1_000;

/** Moves stored deliveries on to Temporal. Several may run on one store: each row is leased by one. */
export function startRelay(options: RelayOptions): { close(): Promise<void> } {
  const stop = new AbortController();
  const running = relayUntil(stop.signal, options);
  return {
    async close() {
      stop.abort();
      await running;
    },
  };
}

async function relayUntil(stop: AbortSignal, options: RelayOptions): Promise<void> {
  const { store, log, triggerReconcile, idleMs = 200, reconcileGapMs = 2_000 } = options;
  const reconciles = createReconcileRequests(triggerReconcile, reconcileGapMs);
  const relay = { ...options, reconciles };
  const limit = pLimit(IN_FLIGHT);
  while (!stop.aborted) {
    try {
      const deliveries = await leaseDeliveries(store, BATCH);
      await Promise.all(deliveries.map((delivery) => limit(() => relayDelivery(relay, delivery))));
      await reconciles.payOwed();
      if (deliveries.length < BATCH) await pause(idleMs, stop);
    } catch (error) {
      log.error({ err: error }, 'inbox cannot be read');
      await pause(DEFER_MS, stop);
    }
  }
  await reconciles
    .payOwed(true)
    .catch((error: unknown) => log.warn({ err: error }, 'a requested reconcile is left to its schedule'));
}

async function relayDelivery(relay: HintSender & { log: Logger }, delivery: LeasedDelivery): Promise<void> {
  const { store, log } = relay;
  const { tenantId, event, tries } = delivery;
  try {
    const tenant = await readTenantState(store, tenantId);
    // No hire starts before everyone hired earlier is recorded; the delivery waits, and that is no failure of it.
    if (tenant.baseline_done_at === null) return await deferDelivery(store, delivery, DEFER_MS);
    const kind = isEventName(event) ? dispatch[event] : 'ignored';
    await sendHints[kind](relay, delivery, tenant);
    await finishDelivery(store, delivery, kind === 'ignored' ? 'ignored' : 'relayed');
  } catch (error) {
    // An outage of Temporal or the partner is not counted, or it would throw deliveries away.
    if (isUnavailable(error) || isPartnerAway(error)) return deferDelivery(store, delivery, DEFER_MS);
    const reason = error instanceof Error ? error.name : 'unknown';
    log.warn({ tenantId, event, tries, reason }, 'delivery not relayed');
    await failDelivery(store, delivery, reason);
  }
}

const UNAVAILABLE = 14;
const DEADLINE_EXCEEDED = 4;

function isUnavailable(error: unknown): boolean {
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  return isGrpcServiceError(cause) && (cause.code === UNAVAILABLE || cause.code === DEADLINE_EXCEEDED);
}

/** Asking the partner for its stages may fail like any call; only a rejection is about the event itself. */
function isPartnerAway(error: unknown): boolean {
  return isConnectorError(error) && error.action !== 'reject';
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
