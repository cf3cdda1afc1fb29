import { setTimeout as delay } from 'node:timers/promises';
import pLimit from 'p-limit';
import type { Logger } from '../log.ts';
import { isEventName } from '../partner/contract/events.ts';
import { deferDelivery, failDelivery, finishDelivery, type LeasedDelivery, leaseDeliveries } from '../store/inbox.ts';
import { readTenantState } from '../store/tenant-states.ts';
import { dispatch } from './dispatch.ts';
import { isOutage, outageReason } from './is-outage.ts';
import { createReconcileRequests } from './reconcile-requests.ts';
import { type HintSender, sendHints } from './send-hints.ts';
import { signalOnce } from './signal-once.ts';

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
const NOTE_EVERY_MS = 60_000;

interface Relay extends HintSender {
  log: Logger;
  /** When each reason for waiting was logged last. */
  outages: Map<string, number>;
}

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
  const relay: Relay = { ...options, reconciles, outages: new Map() };
  const limit = pLimit(IN_FLIGHT);
  while (!stop.aborted) {
    try {
      const deliveries = await leaseDeliveries(store, BATCH);
      const batch = { ...relay, signalHire: signalOnce(relay.signalHire) };
      await Promise.all(deliveries.map((delivery) => limit(() => relayDelivery(batch, delivery))));
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

/** Says why deliveries wait, once a minute for each reason. */
function noteOutage({ log, outages }: Relay, reason: string): void {
  const now = performance.now();
  if (now - (outages.get(reason) ?? Number.NEGATIVE_INFINITY) < NOTE_EVERY_MS) return;
  outages.set(reason, now);
  log.error({ reason }, 'deliveries wait until Temporal, the partner or the store works again');
}

async function relayDelivery(relay: Relay, delivery: LeasedDelivery): Promise<void> {
  const { store, log } = relay;
  const { tenantId, event, failures } = delivery;
  try {
    const tenant = await readTenantState(store, tenantId);
    // No hire starts before everyone hired earlier is recorded; the delivery waits, and that is no failure of it.
    if (tenant.baseline_done_at === null) return await deferDelivery(store, delivery, DEFER_MS);
    const kind = isEventName(event) ? dispatch[event] : 'ignored';
    await sendHints[kind](relay, delivery, tenant);
    await finishDelivery(store, delivery, kind === 'ignored' ? 'ignored' : 'relayed');
  } catch (error) {
    const reason = outageReason(error);
    if (!isOutage(error)) {
      log.warn({ tenantId, event, failures, reason }, 'delivery not relayed');
      return failDelivery(store, delivery, reason);
    }
    // No try is spent, or an outage would throw deliveries away.
    noteOutage(relay, reason);
    await deferDelivery(store, delivery, DEFER_MS);
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return delay(ms, undefined, { signal }).catch(() => undefined);
}
