import { setTimeout as pause } from 'node:timers/promises';
import { isGrpcServiceError, NamespaceNotFoundError } from '@temporalio/client';
import { isConnectorError } from '../errors.ts';
import type { SignalHire } from '../hire/hire.ts';
import type { Logger } from '../log.ts';
import {
  deferDeliveries,
  failDelivery,
  finishDeliveries,
  type LeasedDelivery,
  leaseDeliveries,
  lookForDue,
  renewLeases,
} from '../store/inbox.ts';
import { readTenantState } from '../store/tenant-states.ts';
import type { StreamName } from '../streams/streams.ts';
import { placeOfDelivery, STARTING_EVENT, tracedForHire } from '../trace.ts';
import { within } from '../within.ts';
import {
  type Coalesced,
  createCoalesced,
  dispatchOf,
  type HintSender,
  hintEdited,
  hintRecords,
  hintStreams,
  hireEvents,
  hireHints,
  type StreamHinter,
} from './dispatch.ts';

export interface RelayOptions extends Omit<HintSender & StreamHinter, 'reconciles' | 'streamHints'> {
  log: Logger;
  triggerReconcile: (tenantId: string) => Promise<void>;
  /** Has hinted records read again. */
  hintStream: (stream: { tenantId: string; stream: StreamName }) => Promise<void>;
  /** Whether this process can read the tenant's definition; if not, its deliveries wait for one that can. */
  isReadable: (tenantId: string) => boolean;
  /** Whether several tenants share this process; a lone tenant's hires begin without delay. */
  isShared: () => boolean;
  /** Whether new deliveries are announced by calling `look`; if absent, never. */
  isTold?: () => boolean;
  /** How long to wait, ms, before looking at an empty inbox again if deliveries are not announced. */
  idleMs?: number | undefined;
  /** Within this time, ms, at most one reconcile per tenant and one hint per stream is sent, whatever events ask. */
  gapMs?: number;
  /** How long closing waits for deliveries under way, ms; the others are leased again later. */
  closeMs?: number;
}

/** Deliveries about hires of one tenant processed at once; a hanging tenant leaves the others their share. */
const MOST_OF_A_TENANT = 8;
/** If some of the next deliveries are not about hires, this many are searched for more of them. */
const MOST_TOGETHER = 200;
/**
 * If there are other tenants, a tenant's hires begin this far apart. Fifty at once then leave the others a processor,
 * and a worker ends fewer in that time than it begins. A delivery waits for this at most a third of its lease.
 */
const PACE = { ms: 150, longestMs: 10_000 };
const MOST_UNDER_WAY = 256;
/** A delivery may name thousands of hires. After this long, the tenant's next deliveries begin beside it. */
const LONG_MS = 1_000;
/** How often the lease of such a delivery is renewed: three times in its length. */
const RENEW_MS = 10_000;
/** Wait before asking an unreadable store again. */
const STORE_WAIT_MS = 1_000;
const CLOSE_MS = 3_000;
/**
 * After an announcement it waits `gatherMs` before looking: an event often comes with others about the same person, and
 * a delivery that arrives after a hire began makes it look again. Announcements may get lost, and a tenant's resumption
 * has none. So it also looks regularly but rarely, and when a delivery that was put back becomes due.
 */
const LOOK = { untoldMs: 50, toldMs: 1_000, gatherMs: 20 };

interface Relay extends DeliveryRelay, Pick<RelayOptions, 'isShared' | 'isTold' | 'isReadable'> {
  reconciles: Coalesced;
  streamHints: Coalesced;
  underWay: UnderWay;
  /** When the next hire of each tenant may begin. */
  paced: Map<string, number>;
  /** When each tenant with due deliveries last began some. */
  begun: Map<string, number>;
  looked: { at: number };
}

export interface RunningRelay {
  /** Looks at the inbox soon, since something may have been stored. */
  look(): void;
  /** Has these records of a stream read again soon. */
  hint(stream: { tenantId: string; stream: StreamName }, ids: readonly string[]): Promise<void>;
  /** Milliseconds since it last saw which deliveries are due. */
  lookedMs(): number;
  close(): Promise<void>;
}

/** Relays stored deliveries to Temporal. Several relays may share a store: each row is leased by one. */
export function startRelay(options: RelayOptions): RunningRelay {
  const stop = new AbortController();
  const { log, triggerReconcile, hintStream, gapMs = 2_000, closeMs = CLOSE_MS } = options;
  const reconciles = createCoalesced(triggerReconcile, gapMs);
  const hintNamed = (key: string): Promise<void> => {
    const [tenantId = '', stream = ''] = key.split(' ');
    return hintStream({ tenantId, stream: stream as StreamName });
  };
  const streamHints = createCoalesced(hintNamed, gapMs);
  const beginning = {
    underWay: createUnderWay(),
    paced: new Map<string, number>(),
    begun: new Map<string, number>(),
    outages: new Map<string, number>(),
    settling: new Set<Promise<void>>(),
    looked: { at: performance.now() },
  };
  const relay: Relay = { ...options, reconciles, streamHints, ...beginning };
  const running = relayUntil(stop.signal, relay, options.idleMs);
  const finish = async (): Promise<void> => {
    await running;
    await relay.underWay.ended();
    await Promise.all([reconciles.payOwed(true), streamHints.payOwed(true)]).catch((error: unknown) =>
      log.warn({ err: error }, 'a requested reconcile or stream waits for the next worker, or for its schedule'),
    );
    await Promise.all(relay.settling);
  };
  let timer: NodeJS.Timeout | undefined;
  return {
    lookedMs: () => performance.now() - relay.looked.at,
    hint: (stream, ids) => hintRecords(relay, stream, new Map(ids.map((id) => [id, false]))),
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
    // Not awaited: one tenant's reconcile that cannot be requested must not delay deliveries.
    Promise.all([reconciles.payOwed(), streamHints.payOwed()]).catch((error: unknown) =>
      noteOutage(relay, outageReason(error)),
    );
    await underWay.change(waitMs, stop);
  }
}

/**
 * Begins due deliveries as far as there is room: a batch of every tenant, and its next batch when that has ended or
 * takes long, so that several deliveries about one hire become one signal. The tenant that has waited longest since its
 * last batch comes first: the backlogs of as many tenants as there is room for hold up nobody else.
 */
async function beginDue(relay: Relay, due: readonly string[], stop: AbortSignal): Promise<void> {
  const { underWay, begun } = relay;
  const last = (tenantId: string): number => begun.get(tenantId) ?? 0;
  for (const gone of new Set(begun.keys()).difference(new Set(due))) begun.delete(gone);
  for (const tenantId of due.toSorted((one, other) => last(one) - last(other))) {
    if (!relay.isReadable(tenantId)) continue;
    const room = Math.min(MOST_OF_A_TENANT - underWay.of(tenantId), MOST_UNDER_WAY - underWay.all());
    if (room <= 0 || underWay.sinceBegun(tenantId) < LONG_MS) continue;
    begun.set(tenantId, performance.now());
    const next = await leaseDeliveries(relay.store, tenantId, room);
    const aboutHires = next.filter(({ event }) => hireEvents.includes(event));
    const others = next.filter(({ event }) => !hireEvents.includes(event));
    if (others.length > 0) others.push(...(await leaseDeliveries(relay.store, tenantId, MOST_TOGETHER, hireEvents)));
    const batch = { ...relay, signalHire: signalOnce(paced(relay, tenantId, stop)) };
    for (const delivery of aboutHires) underWay.begin(tenantId, () => relayDelivery(batch, delivery));
    if (others.length > 0) underWay.begin(tenantId, () => relayTogether(batch, others));
  }
}

/** Signals like the relay does; with other tenants around, a hire that starts waits for its turn. */
function paced({ paced: turns, signalHire, isShared }: Relay, tenantId: string, stop: AbortSignal): SignalHire {
  if (!isShared()) return signalHire;
  const lastTurn = performance.now() + PACE.longestMs;
  return async (hire, about, options) => {
    if (options.start && about === 'person') {
      const now = performance.now();
      const turn = Math.min(Math.max(turns.get(tenantId) ?? 0, now), lastTurn);
      turns.set(tenantId, turn + PACE.ms);
      // Closing the relay ends the wait, and the hire starts at once.
      if (turn > now) await pause(turn - now, undefined, { signal: stop }).catch(() => undefined);
    }
    return signalHire(hire, about, options);
  };
}

/**
 * Sends each distinct signal once, however often it is requested. This is right because all these deliveries were
 * stored before the first signal leaves: a hint means "read again", and one read after the last of them covers them
 * all. A move into Hired is two events, the end of an onboarding five.
 */
function signalOnce(signalHire: SignalHire): SignalHire {
  const sent = new Map<string, Promise<boolean>>();
  return (hire, about, options) => {
    const key = JSON.stringify([hire.tenantId, hire.jobCandidateId, about, options]);
    const known = sent.get(key) ?? signalHire(hire, about, options);
    sent.set(key, known);
    return known;
  };
}

/** Counts the work under way, by tenant. */
interface UnderWay {
  of(tenantId: string): number;
  /** Milliseconds since the tenant's latest work began; infinite if none is under way. */
  sinceBegun(tenantId: string): number;
  all(): number;
  /** `work` must not reject. */
  begin(tenantId: string, work: () => Promise<void>): void;
  /**
   * Resolves when a tenant's last work has ended or `wake` was called since the last call, after `ms`, or at a stop.
   */
  change(ms: number, stop: AbortSignal): Promise<void>;
  wake(): void;
  /** Resolves when nothing is under way. */
  ended(): Promise<void>;
}

function createUnderWay(): UnderWay {
  const counts = new Map<string, number>();
  const begunAt = new Map<string, number>();
  const running = new Set<Promise<void>>();
  let changed = false;
  let wake = (): void => undefined;

  function end(tenantId: string, done: Promise<void>): void {
    const left = (counts.get(tenantId) ?? 1) - 1;
    running.delete(done);
    if (left > 0) return void counts.set(tenantId, left);
    counts.delete(tenantId);
    begunAt.delete(tenantId);
    noteChange();
  }

  function noteChange(): void {
    changed = true;
    wake();
  }

  return {
    of: (tenantId) => counts.get(tenantId) ?? 0,
    sinceBegun: (tenantId) => performance.now() - (begunAt.get(tenantId) ?? Number.NEGATIVE_INFINITY),
    all: () => running.size,
    begin(tenantId, work) {
      begunAt.set(tenantId, performance.now());
      counts.set(tenantId, (counts.get(tenantId) ?? 0) + 1);
      const done: Promise<void> = work().finally(() => end(tenantId, done));
      running.add(done);
    },
    async change(ms, stop) {
      const isDue = changed || stop.aborted;
      changed = false;
      if (isDue) return;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
        stop.addEventListener('abort', wake, { once: true });
      });
      stop.removeEventListener('abort', wake);
      wake = () => undefined;
      changed = false;
    },
    wake: noteChange,
    ended: async () => void (await Promise.all(running)),
  };
}

interface DeliveryRelay extends HintSender, StreamHinter {
  log: Logger;
  /** When each reason for waiting was last logged. */
  outages: Map<string, number>;
  /** Deliveries whose work is done, except for a request that came too early. */
  settling: Set<Promise<void>>;
}

const DEFER_MS = 1_000;
const NOTE_EVERY_MS = 60_000;

/** Relays a delivery about hires, and perhaps about streams as well. */
async function relayDelivery(relay: DeliveryRelay, delivery: LeasedDelivery): Promise<void> {
  const { hires } = dispatchOf(delivery.event);
  const debts: Promise<void>[] = [];
  const sender = collecting(keepingLeased(signalling(relay, delivery), [delivery]), debts);
  try {
    if (hires !== undefined)
      await hireHints[hires](sender, delivery, await readTenantState(relay.store, delivery.tenantId));
    await hintStreams(sender, [delivery]);
    await finishOncePaid(relay, [delivery], debts);
  } catch (error) {
    await putBack(relay, [delivery], error);
  }
}

/** The same relay, which collects the requests that came too early. */
function collecting(relay: DeliveryRelay, debts: Promise<void>[]): DeliveryRelay {
  const collect = ({ ask }: DeliveryRelay['reconciles']): DeliveryRelay['reconciles'] => ({
    ask: (key) => ask(key, (paid) => debts.push(paid)),
  });
  return { ...relay, reconciles: collect(relay.reconciles), streamHints: collect(relay.streamHints) };
}

/**
 * Finishes deliveries once the requests that came too early were accepted: until then only this process knows of them.
 * The deliveries stay leased for that time, but keep no place of their tenant, whose next ones begin meanwhile.
 */
async function finishOncePaid(
  relay: DeliveryRelay,
  deliveries: readonly LeasedDelivery[],
  debts: readonly Promise<void>[],
): Promise<void> {
  const { store, settling } = relay;
  if (debts.length === 0) return finishDeliveries(store, deliveries, 'relayed');
  const settled = Promise.all(debts)
    .then(() => finishDeliveries(store, deliveries, 'relayed'))
    .catch((error: unknown) => putBack(relay, deliveries, error))
    .finally(() => settling.delete(settled));
  settling.add(settled);
}

/** Puts the signals of one delivery into the trace of its hire. */
function signalling(relay: DeliveryRelay, { tenantId, bodyHash, event }: LeasedDelivery): DeliveryRelay {
  const { installationId } = relay.store;
  const own = event === STARTING_EVENT ? {} : { causedBy: placeOfDelivery({ installationId, tenantId, bodyHash }) };
  return {
    ...relay,
    signalHire: (hire, about, options) =>
      tracedForHire(`relay ${event}`, { installationId, ...hire }, own, () => relay.signalHire(hire, about, options)),
  };
}

/**
 * The same relay, which keeps these deliveries leased for as long as it sends signals for them. Otherwise another relay
 * would take them up from the beginning, this one's end would not count, and so on without end.
 */
function keepingLeased(relay: DeliveryRelay, deliveries: readonly LeasedDelivery[]): DeliveryRelay {
  let renewedAt = performance.now();
  const signalHire: SignalHire = async (hire, about, options) => {
    const isSent = await relay.signalHire(hire, about, options);
    if (performance.now() - renewedAt < RENEW_MS) return isSent;
    renewedAt = performance.now();
    await renewLeases(relay.store, deliveries);
    return isSent;
  };
  return { ...relay, signalHire };
}

/**
 * Relays a tenant's deliveries that are not about hires in a few statements: thousands cost others little. If that
 * fails, one by one, so that a bad delivery does not fail the others. In an outage the rest waits half as long.
 */
async function relayTogether(relay: DeliveryRelay, deliveries: readonly LeasedDelivery[]): Promise<void> {
  try {
    return await hintAndFinish(relay, deliveries);
  } catch {
    for (const [index, delivery] of deliveries.entries()) {
      try {
        await hintAndFinish(relay, [delivery]);
      } catch (error) {
        await putBack(relay, [delivery], error);
        if (isOutage(error)) return defer(relay, deliveries.slice(index + 1), DEFER_MS / 2);
      }
    }
  }
}

async function hintAndFinish(relay: DeliveryRelay, deliveries: readonly LeasedDelivery[]): Promise<void> {
  const debts: Promise<void>[] = [];
  const sender = collecting(keepingLeased(relay, deliveries), debts);
  const concerned = await hintEdited(sender, deliveries);
  const taken = concerned.union(await hintStreams(sender, deliveries));
  const ignored = deliveries.filter((delivery) => !taken.has(delivery));
  await finishOncePaid(relay, [...taken], debts);
  await finishDeliveries(relay.store, ignored, 'ignored');
}

/** Logs why deliveries wait, once a minute for each reason. */
function noteOutage({ log, outages }: DeliveryRelay, reason: string): void {
  const now = performance.now();
  if (now - (outages.get(reason) ?? Number.NEGATIVE_INFINITY) < NOTE_EVERY_MS) return;
  outages.set(reason, now);
  log.error({ reason }, 'deliveries wait until Temporal, the partner or the store works again');
}

async function putBack(relay: DeliveryRelay, deliveries: readonly LeasedDelivery[], error: unknown): Promise<void> {
  const { store, log } = relay;
  const reason = outageReason(error);
  if (isOutage(error)) {
    noteOutage(relay, reason);
    return defer(relay, deliveries, DEFER_MS);
  }
  for (const delivery of deliveries) {
    const { tenantId, event, failures } = delivery;
    log.warn({ tenantId, event, failures, reason }, 'delivery not relayed');
    await failDelivery(store, delivery, reason).catch((cause: unknown) => noteOutage(relay, outageReason(cause)));
  }
}

/** Costs no try, because an outage must discard nothing. If the store fails here, the lease returns the rows. */
async function defer(relay: DeliveryRelay, deliveries: readonly LeasedDelivery[], waitMs: number): Promise<void> {
  await deferDeliveries(relay.store, deliveries, waitMs).catch((cause: unknown) =>
    noteOutage(relay, outageReason(cause)),
  );
}

const INVALID_ARGUMENT = 3;

/**
 * Whether the cause of a failure is not the delivery: Temporal, the partner or the store failed. A busy server and an
 * expired key count too, since neither says anything about the delivery.
 */
function isOutage(error: unknown): boolean {
  if (isConnectorError(error)) return error.action !== 'reject';
  if (error instanceof NamespaceNotFoundError) return true;
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  // A recreated namespace lacks the search attributes until somebody adds them: not the delivery's fault.
  if (isGrpcServiceError(cause)) return cause.code !== INVALID_ARGUMENT || /search attribute/i.test(cause.details);
  // Errors of database drivers and sockets have a code; a mistake in our own code has none. One about the data comes
  // back however often it is tried.
  if (!(error instanceof Error) || error instanceof TypeError) return false;
  const { code } = error as NodeJS.ErrnoException;
  return typeof code === 'string' && !OF_DATA.test(code);
}

/** SQLSTATE of data that Postgres cannot keep (21, 22), or that exceeds its limits (54). */
const OF_DATA = /^(?:21|22|54)[0-9A-Z]{3}$/;

/** The loggable reason of an outage: a name or a code, never a whole message, which might quote a record. */
export function outageReason(error: unknown): string {
  if (isConnectorError(error)) return error.code;
  const cause = error instanceof Error && isGrpcServiceError(error.cause) ? error.cause : error;
  if (isGrpcServiceError(cause)) return `Temporal ${/^\d+ [A-Z_]+/.exec(cause.message)?.[0] ?? cause.code}`;
  if (!(cause instanceof Error)) return 'unknown';
  const { code } = cause as { code?: string | number };
  return code === undefined ? cause.name : `${cause.name} ${code}`;
}
