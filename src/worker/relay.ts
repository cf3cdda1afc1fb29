import type { Logger } from '../log.ts';
import { isEventName } from '../partner/contract/events.ts';
import {
  deferDelivery,
  failDelivery,
  finishDelivery,
  type LeasedDelivery,
  leaseDeliveries,
  tenantsDue,
} from '../store/inbox.ts';
import { readTenantState } from '../store/tenant-states.ts';
import type { StreamName } from '../streams/streams.ts';
import { within } from '../within.ts';
import { createCoalesced } from './coalesced.ts';
import { type Dispatch, dispatch } from './dispatch.ts';
import { hintStreams, ofStreamKey, type StreamHinter } from './hint-streams.ts';
import { isOutage, outageReason } from './is-outage.ts';
import { type HintSender, hireHints } from './send-hints.ts';
import { signalOnce } from './signal-once.ts';
import { createUnderWay, type UnderWay } from './under-way.ts';

export interface RelayOptions extends Omit<HintSender & StreamHinter, 'reconciles' | 'streamHints'> {
  log: Logger;
  triggerReconcile: (tenantId: string) => Promise<void>;
  /** Has the records that are hinted at read again. */
  hintStream: (stream: { tenantId: string; stream: StreamName }) => Promise<void>;
  /** How long an empty inbox waits before it is looked at again, ms. */
  idleMs?: number;
  /** At most one reconcile a tenant and one hint a stream is sent in this time, however many events ask, ms. */
  gapMs?: number;
  /** How long the end waits for deliveries under way; what is left by then is leased again later, ms. */
  closeMs?: number;
}

/** Deliveries of one tenant under way at once; whatever hangs there, the others have their own. */
const MOST_OF_A_TENANT = 8;
/**
 * A tenant's hires begin so far apart after the first few. Fifty at once leave the others a processor that way, and a
 * worker ends fewer in that time than it begins.
 */
const pace = { ms: 150, few: 4 };
const MOST_UNDER_WAY = 256;
const DEFER_MS = 1_000;
const NOTE_EVERY_MS = 60_000;
const CLOSE_MS = 5_000;

interface Relay extends HintSender, StreamHinter {
  log: Logger;
  underWay: UnderWay;
  /** When each tenant's hires would all have begun, had they kept their distance. */
  paced: Map<string, number>;
  /** When each reason for waiting was logged last. */
  outages: Map<string, number>;
}

/** Moves stored deliveries on to Temporal. Several may run on one store: each row is leased by one. */
export function startRelay(options: RelayOptions): { close(): Promise<void> } {
  const stop = new AbortController();
  const { log, triggerReconcile, hintStream, gapMs = 2_000, closeMs = CLOSE_MS } = options;
  const reconciles = createCoalesced(triggerReconcile, gapMs);
  const streamHints = createCoalesced((key) => hintStream(ofStreamKey(key)), gapMs);
  const beginning = {
    underWay: createUnderWay(),
    paced: new Map<string, number>(),
    outages: new Map<string, number>(),
  };
  const relay: Relay = { ...options, reconciles, streamHints, ...beginning };
  const running = relayUntil(stop.signal, relay, options.idleMs ?? 200);
  const finish = async (): Promise<void> => {
    await running;
    await relay.underWay.ended();
    await Promise.all([reconciles.payOwed(true), streamHints.payOwed(true)]).catch((error: unknown) =>
      log.warn({ err: error }, 'a requested reconcile or stream is left to its schedule'),
    );
  };
  return {
    async close() {
      stop.abort();
      await within(closeMs, finish());
    },
  };
}

async function relayUntil(stop: AbortSignal, relay: Relay, idleMs: number): Promise<void> {
  const { log, underWay, reconciles, streamHints } = relay;
  while (!stop.aborted) {
    let waitMs = idleMs;
    try {
      if (await beginDue(relay)) continue;
    } catch (error) {
      log.error({ err: error }, 'inbox cannot be read');
      waitMs = DEFER_MS;
    }
    // Nobody waits for it: one tenant's reconcile that cannot be asked for keeps no delivery waiting.
    Promise.all([reconciles.payOwed(), streamHints.payOwed()]).catch((error: unknown) =>
      noteOutage(relay, outageReason(error)),
    );
    await underWay.change(waitMs, stop);
  }
}

/**
 * Begins what is due and has room: a batch of every tenant, and its next one when that has ended, so that what arrives
 * meanwhile about one hire is one signal. Says whether there was anything.
 */
async function beginDue(relay: Relay): Promise<boolean> {
  const { store, underWay } = relay;
  let begun = 0;
  const resting = tenantsAtRest(relay);
  for (const tenantId of await tenantsDue(store)) {
    const room = Math.min(MOST_OF_A_TENANT, MOST_UNDER_WAY - underWay.all());
    if (room <= 0 || underWay.of(tenantId) > 0 || resting.has(tenantId)) continue;
    const deliveries = await leaseDeliveries(store, tenantId, room);
    const batch = { ...relay, signalHire: signalOnce(paced(relay, tenantId)) };
    for (const delivery of deliveries) underWay.begin(tenantId, () => relayDelivery(batch, delivery));
    begun += deliveries.length;
  }
  return begun > 0;
}

/** Signals as the relay does, and takes down how long the tenant should rest for it. */
function paced({ paced: until, signalHire }: Relay, tenantId: string): Relay['signalHire'] {
  return (hire, about, options) => {
    const begins = options.start && about === 'person';
    if (begins) until.set(tenantId, Math.max(until.get(tenantId) ?? 0, performance.now()) + pace.ms);
    return signalHire(hire, about, options);
  };
}

/** Whose next batch waits. */
function tenantsAtRest({ paced: until }: Relay): Set<string> {
  const now = performance.now();
  for (const [tenantId, at] of until) if (at <= now) until.delete(tenantId);
  return new Set([...until].filter(([, at]) => at > now + pace.few * pace.ms).map(([tenantId]) => tenantId));
}

/** Says why deliveries wait, once a minute for each reason. */
function noteOutage({ log, outages }: Relay, reason: string): void {
  const now = performance.now();
  if (now - (outages.get(reason) ?? Number.NEGATIVE_INFINITY) < NOTE_EVERY_MS) return;
  outages.set(reason, now);
  log.error({ reason }, 'deliveries wait until Temporal, the partner or the store works again');
}

async function relayDelivery(relay: Relay, delivery: LeasedDelivery): Promise<void> {
  try {
    const entry: Dispatch = isEventName(delivery.event) ? dispatch[delivery.event] : {};
    if (entry.hires !== undefined)
      await hireHints[entry.hires](relay, delivery, await readTenantState(relay.store, delivery.tenantId));
    const isTaken = (await hintStreams(relay, delivery, entry)) || entry.hires !== undefined;
    await finishDelivery(relay.store, delivery, isTaken ? 'relayed' : 'ignored');
  } catch (error) {
    // A store that fails here as well leaves the row to its lease.
    await putBack(relay, delivery, error).catch((cause: unknown) => noteOutage(relay, outageReason(cause)));
  }
}

async function putBack(relay: Relay, delivery: LeasedDelivery, error: unknown): Promise<void> {
  const { store, log } = relay;
  const { tenantId, event, failures } = delivery;
  const reason = outageReason(error);
  if (!isOutage(error)) {
    log.warn({ tenantId, event, failures, reason }, 'delivery not relayed');
    return failDelivery(store, delivery, reason);
  }
  // No try is spent, or an outage would throw deliveries away.
  noteOutage(relay, reason);
  await deferDelivery(store, delivery, DEFER_MS);
}
