import { setTimeout as pause } from 'node:timers/promises';
import type { SignalHire } from '../../activities/deps.ts';
import type { Logger } from '../log.ts';
import { leaseDeliveries, lookForDue } from '../store/inbox.ts';
import type { StreamName } from '../streams/streams.ts';
import { within } from '../within.ts';
import { createCoalesced } from './coalesced.ts';
import { hireEvents } from './dispatch.ts';
import { ofStreamKey, type StreamHinter } from './hint-streams.ts';
import { outageReason } from './is-outage.ts';
import { type DeliveryRelay, noteOutage, relayDelivery, relayTogether } from './relay-deliveries.ts';
import type { HintSender } from './send-hints.ts';
import { signalOnce } from './signal-once.ts';
import { createUnderWay, type UnderWay } from './under-way.ts';

export interface RelayOptions extends Omit<HintSender & StreamHinter, 'reconciles' | 'streamHints'> {
  log: Logger;
  triggerReconcile: (tenantId: string) => Promise<void>;
  /** Has the records that are hinted at read again. */
  hintStream: (stream: { tenantId: string; stream: StreamName }) => Promise<void>;
  /** Whether several tenants share this process; the hires of a single one begin as soon as they can. */
  isShared: () => boolean;
  /** Whether somebody is going to tell of the next delivery, by `look`; never where absent. */
  isTold?: () => boolean;
  /** How long an empty inbox waits before it is looked at again, ms, where nobody tells. */
  idleMs?: number | undefined;
  /** At most one reconcile a tenant and one hint a stream is sent in this time, however many events ask, ms. */
  gapMs?: number;
  /** How long the end waits for deliveries under way; what is left by then is leased again later, ms. */
  closeMs?: number;
}

/** Deliveries of one tenant about hires under way at once; whatever hangs there, the others have their own. */
const MOST_OF_A_TENANT = 8;
/** Where some of the next ask for no hire, so many are looked through for more of them. */
const MOST_TOGETHER = 200;
/**
 * Beside other tenants, a tenant's hires begin so far apart. Fifty at once leave the others a processor that way, and a
 * worker ends fewer in that time than it begins. No delivery waits for it for longer than a third of its lease.
 */
const PACE = { ms: 150, longestMs: 10_000 };
const MOST_UNDER_WAY = 256;
/** A store that cannot be read is asked again after so long. */
const STORE_WAIT_MS = 1_000;
const CLOSE_MS = 3_000;
/**
 * Whoever is told of a delivery looks `gatherMs` later: an event often comes with others of the same person, and what
 * comes after a hire has begun makes it look again. What is told may be lost on the way, and nobody tells of a tenant
 * that resumes: so it looks all the same, seldom, and when the next delivery is due that was put back.
 */
const LOOK = { untoldMs: 50, toldMs: 1_000, gatherMs: 20 };

interface Relay extends DeliveryRelay, Pick<RelayOptions, 'isShared' | 'isTold'> {
  underWay: UnderWay;
  /** When the next hire of each tenant may begin. */
  paced: Map<string, number>;
  looked: { at: number };
}

export interface RunningRelay {
  /** Looks at the inbox soon: something may have been stored. */
  look(): void;
  /** Since it last saw what is due, ms. */
  lookedMs(): number;
  close(): Promise<void>;
}

/** Moves stored deliveries on to Temporal. Several may run on one store: each row is leased by one. */
export function startRelay(options: RelayOptions): RunningRelay {
  const stop = new AbortController();
  const { log, triggerReconcile, hintStream, gapMs = 2_000, closeMs = CLOSE_MS } = options;
  const reconciles = createCoalesced(triggerReconcile, gapMs);
  const streamHints = createCoalesced((key) => hintStream(ofStreamKey(key)), gapMs);
  const beginning = {
    underWay: createUnderWay(),
    paced: new Map<string, number>(),
    outages: new Map<string, number>(),
    looked: { at: performance.now() },
  };
  const relay: Relay = { ...options, reconciles, streamHints, ...beginning };
  const running = relayUntil(stop.signal, relay, options.idleMs);
  const finish = async (): Promise<void> => {
    await running;
    await relay.underWay.ended();
    await Promise.all([reconciles.payOwed(true), streamHints.payOwed(true)]).catch((error: unknown) =>
      log.warn({ err: error }, 'a requested reconcile or stream is left to its schedule'),
    );
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    lookedMs: () => performance.now() - relay.looked.at,
    look() {
      timer ??= setTimeout(() => {
        timer = undefined;
        relay.underWay.wake();
      }, LOOK.gatherMs);
    },
    async close() {
      clearTimeout(timer);
      stop.abort();
      await within(closeMs, finish());
    },
  };
}

async function relayUntil(stop: AbortSignal, relay: Relay, idleMs: number | undefined): Promise<void> {
  const { log, underWay, reconciles, streamHints, isTold = () => false } = relay;
  while (!stop.aborted) {
    const mayWait = isTold() && !reconciles.isOwing() && !streamHints.isOwing();
    let waitMs = idleMs ?? (mayWait ? LOOK.toldMs : LOOK.untoldMs);
    try {
      const { due, nextInMs = waitMs } = await lookForDue(relay.store);
      await beginDue(relay, due, stop);
      relay.looked.at = performance.now();
      waitMs = Math.min(waitMs, Math.max(nextInMs, LOOK.gatherMs));
    } catch (error) {
      log.error({ err: error }, 'inbox cannot be read');
      waitMs = STORE_WAIT_MS;
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
 * meanwhile about one hire is one signal.
 */
async function beginDue(relay: Relay, due: readonly string[], stop: AbortSignal): Promise<void> {
  const { underWay } = relay;
  for (const tenantId of due) {
    const room = Math.min(MOST_OF_A_TENANT, MOST_UNDER_WAY - underWay.all());
    if (room <= 0 || underWay.of(tenantId) > 0) continue;
    const { aboutHires, others } = await leaseBatch(relay, tenantId, room);
    const batch = { ...relay, signalHire: signalOnce(paced(relay, tenantId, stop)) };
    for (const delivery of aboutHires) underWay.begin(tenantId, () => relayDelivery(batch, delivery));
    if (others.length > 0) underWay.begin(tenantId, () => relayTogether(batch, others));
  }
}

async function leaseBatch({ store }: Relay, tenantId: string, room: number) {
  const next = await leaseDeliveries(store, tenantId, room);
  const aboutHires = next.filter(({ event }) => hireEvents.includes(event));
  const others = next.filter(({ event }) => !hireEvents.includes(event));
  const more = others.length === 0 ? [] : await leaseDeliveries(store, tenantId, MOST_TOGETHER, hireEvents);
  return { aboutHires, others: [...others, ...more] };
}

/** Signals as the relay does; beside other tenants a hire that begins waits for its turn. */
function paced({ paced: turns, signalHire, isShared }: Relay, tenantId: string, stop: AbortSignal): SignalHire {
  if (!isShared()) return signalHire;
  const lastTurn = performance.now() + PACE.longestMs;
  return async (hire, about, options) => {
    if (options.start && about === 'person') {
      const now = performance.now();
      const turn = Math.min(Math.max(turns.get(tenantId) ?? 0, now), lastTurn);
      turns.set(tenantId, turn + PACE.ms);
      // The end of the relay is no reason to keep a hire waiting.
      if (turn > now) await pause(turn - now, undefined, { signal: stop }).catch(() => undefined);
    }
    return signalHire(hire, about, options);
  };
}
