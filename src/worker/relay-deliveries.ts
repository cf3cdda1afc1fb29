import type { Logger } from '../log.ts';
import { deferDeliveries, failDelivery, finishDeliveries, type LeasedDelivery } from '../store/inbox.ts';
import { readTenantState } from '../store/tenant-states.ts';
import { placeOfDelivery, STARTING_EVENT, tracedForHire } from '../trace.ts';
import { dispatchOf } from './dispatch.ts';
import { hintStreams, type StreamHinter } from './hint-streams.ts';
import { isOutage, outageReason } from './is-outage.ts';
import { type HintSender, hintUnmade, hireHints } from './send-hints.ts';

export interface DeliveryRelay extends HintSender, StreamHinter {
  log: Logger;
  /** When each reason for waiting was logged last. */
  outages: Map<string, number>;
}

const DEFER_MS = 1_000;
const NOTE_EVERY_MS = 60_000;

/** One about hires, and perhaps about records of streams as well. */
export async function relayDelivery(relay: DeliveryRelay, delivery: LeasedDelivery): Promise<void> {
  const { hires } = dispatchOf(delivery.event);
  try {
    if (hires !== undefined)
      await hireHints[hires](
        signalling(relay, delivery),
        delivery,
        await readTenantState(relay.store, delivery.tenantId),
      );
    await hintStreams(relay, [delivery]);
    await finishDeliveries(relay.store, [delivery], 'relayed');
  } catch (error) {
    await putBack(relay, delivery, error);
  }
}

/** Signals of one delivery, each in the trace of its hire. */
function signalling(relay: DeliveryRelay, { tenantId, bodyHash, event }: LeasedDelivery): DeliveryRelay {
  const { installationId } = relay.store;
  const own = event === STARTING_EVENT ? {} : { causedBy: placeOfDelivery({ installationId, tenantId, bodyHash }) };
  return {
    ...relay,
    signalHire: (hire, about, options) =>
      tracedForHire(`relay ${event}`, { installationId, ...hire }, own, () => relay.signalHire(hire, about, options)),
  };
}

/** Some of one tenant that ask for no hire, in a few statements: thousands of them cost the other tenants little. */
export async function relayTogether(relay: DeliveryRelay, deliveries: readonly LeasedDelivery[]): Promise<void> {
  try {
    await hintAndFinish(relay, deliveries);
  } catch {
    await relayEach(relay, deliveries);
  }
}

/** One of them may be bad, and the others are not to fail with it. In an outage the others wait, for less long. */
async function relayEach(relay: DeliveryRelay, deliveries: readonly LeasedDelivery[]): Promise<void> {
  for (const [index, delivery] of deliveries.entries()) {
    try {
      await hintAndFinish(relay, [delivery]);
    } catch (error) {
      await putBack(relay, delivery, error);
      if (isOutage(error)) return defer(relay, deliveries.slice(index + 1), DEFER_MS / 2);
    }
  }
}

async function hintAndFinish(relay: DeliveryRelay, deliveries: readonly LeasedDelivery[]): Promise<void> {
  await hintUnmade(relay, deliveries);
  const taken = await hintStreams(relay, deliveries);
  const ignored = deliveries.filter((delivery) => !taken.has(delivery));
  await finishDeliveries(relay.store, [...taken], 'relayed');
  await finishDeliveries(relay.store, ignored, 'ignored');
}

/** Says why deliveries wait, once a minute for each reason. */
export function noteOutage({ log, outages }: DeliveryRelay, reason: string): void {
  const now = performance.now();
  if (now - (outages.get(reason) ?? Number.NEGATIVE_INFINITY) < NOTE_EVERY_MS) return;
  outages.set(reason, now);
  log.error({ reason }, 'deliveries wait until Temporal, the partner or the store works again');
}

async function putBack(relay: DeliveryRelay, delivery: LeasedDelivery, error: unknown): Promise<void> {
  const { store, log } = relay;
  const { tenantId, event, failures } = delivery;
  const reason = outageReason(error);
  if (isOutage(error)) {
    noteOutage(relay, reason);
    return defer(relay, [delivery], DEFER_MS);
  }
  log.warn({ tenantId, event, failures, reason }, 'delivery not relayed');
  await failDelivery(store, delivery, reason).catch((cause: unknown) => noteOutage(relay, outageReason(cause)));
}

/** No try is spent: an outage must throw no delivery away. A store that fails here leaves the rows to their lease. */
async function defer(relay: DeliveryRelay, deliveries: readonly LeasedDelivery[], waitMs: number): Promise<void> {
  await deferDeliveries(relay.store, deliveries, waitMs).catch((cause: unknown) =>
    noteOutage(relay, outageReason(cause)),
  );
}
