import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { ConnectorError, isConnectorError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { type Delivery, weightOf } from '../store/inbox.ts';
import { isReasonOfHris } from '../store/webhook-refusals.ts';
import {
  type Admission,
  admit,
  createSharedMemory,
  type EventClass,
  enterUnjudged,
  findTenant,
  isOfHris,
  type ReceiverTenant,
  refusal,
} from './admit.ts';

export interface ReceiverOptions {
  port: number;
  host: string;
  /** May still be loading: requests then wait unread, as many as `maxBytesUnderWay` allows. */
  tenants: Admission['tenants'] | Promise<Admission['tenants']>;
  /** Decides by event name (section 6) what happens to a delivery. */
  classify: (event: string) => EventClass;
  /** Opened after the port; failures are retried until `close`. */
  openStore: GateOptions['openStore'];
  log: Logger;
  metrics: ReceiverMetrics;
  /** Handles a request that is not a webhook; returns whether it did. */
  otherwise?: (request: IncomingMessage, response: ServerResponse) => boolean;
  /** Called for every delivery stored for the first time, with the ms since its headers arrived. */
  onStored?: (delivery: Delivery, ms: number) => void;
  /** Called for every refused delivery of a known tenant. */
  onRefused?: (tenantId: string, code: string) => void;
  /** Largest body, bytes. Default 1,000,000. */
  maxBytes?: number;
  /** Limit for all bodies under way of verified senders, and for those of all others, bytes. Default 32,000,000. */
  maxBytesUnderWay?: number;
  /** Time for one body, milliseconds. Default 5,000. */
  maxBodyMs?: number;
  /** Time one delivery may wait for the store, milliseconds. Default 10,000. */
  maxWaitMs?: number;
  /** Linux only: a second receiver may listen on the same port and take over without a gap. */
  reusePort?: boolean;
}

export interface Receiver {
  /** Base address; a tenant's webhooks arrive at `${url}/webhooks/${tenantId}`. */
  url: string;
  /** Why no delivery can be stored now; undefined if it can. */
  trouble(): Promise<string | undefined>;
  /** Stops listening, waits two seconds for deliveries in flight, and closes the store. */
  close(): Promise<void>;
}

const LINGER_MS = 2_000;

/** Receives webhooks: verify, commit, then 200. Listens before the store is open and holds deliveries until then. */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  const { maxBytes = 1_000_000, maxBytesUnderWay = 32_000_000, maxBodyMs = 5_000, maxWaitMs = 10_000 } = options;
  const { tenants, classify, log, metrics, openStore } = options;
  const limits = { maxBytes, maxMs: maxBodyMs };
  // Whoever sends quickly is done in milliseconds, so the oldest body is one that trickles, even from the same address.
  const verified = createSharedMemory(maxBytesUnderWay, 'oldest');
  const unjudged = createSharedMemory(maxBytesUnderWay, 'oldest');
  const parts = { classify, limits, verified, unjudged };
  const admission = Promise.resolve(tenants).then((find): Admission => ({ tenants: find, ...parts }));
  let loaded: Admission | undefined;
  admission.then(
    (known) => (loaded = known),
    () => undefined,
  );
  const admissionNow = async (request: IncomingMessage) => {
    if (loaded !== undefined) return loaded;
    const place = enterUnjudged(request, unjudged);
    const deadline = startDeadline(maxWaitMs, place.turnedOut);
    return abortable(admission, deadline.signal).finally(() => {
      deadline.end();
      place.leave();
    });
  };
  const server = createServer({
    // Longer than a proxy keeps an idle connection (nginx: 60 s): a delivery that meets the closing of one fails.
    keepAliveTimeout: 65_000,
    headersTimeout: maxBodyMs,
    requestTimeout: maxBodyMs * 2,
    connectionsCheckingInterval: 1_000,
  });
  await listen(server, options);
  const gate = createCommitGate({ openStore, log, maxWaitMs });
  const refusals = createRefusalLog(log);
  const { onStored, onRefused } = options;
  const tools = { admission: admissionNow, gate, log, metrics, refusals, onStored, onRefused };
  server.on('request', (request, response) => {
    if (options.otherwise?.(request, response) !== true) void answer({ request, response, ...tools });
  });
  const { address, port, family } = server.address() as AddressInfo;
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    trouble: () => gate.trouble(),
    close: () => drain(server, gate).finally(refusals.close),
  };
}

interface Exchange {
  request: IncomingMessage;
  response: ServerResponse;
  admission: (request: IncomingMessage) => Promise<Admission>;
  gate: CommitGate;
  log: Logger;
  metrics: ReceiverMetrics;
  onStored: ReceiverOptions['onStored'];
  refusals: RefusalLog;
  onRefused: ReceiverOptions['onRefused'];
}

/** Handles one delivery from address to answer. Never rejects: if it is not stored, the answer says so. */
async function answer(exchange: Exchange): Promise<void> {
  const { request, response, admission, gate, metrics } = exchange;
  const stop = metrics.seconds.startTimer();
  const came = performance.now();
  let tenant: ReceiverTenant | undefined;
  try {
    const known = await admission(request);
    tenant = findTenant(request, known.tenants);
    const delivery = await admit(request, tenant, known);
    metrics.held.set(gate.held() + 1);
    const { fresh } = await gate.commit(delivery);
    noteOdd(delivery, fresh, exchange);
    metrics.deliveries.inc({ tenant: tenant.id, status: 200, code: fresh ? 'STORED' : 'REPEATED' });
    reply(response, 200, fresh ? 'STORED' : 'REPEATED');
    if (fresh) exchange.onStored?.(delivery, performance.now() - came);
  } catch (error) {
    const refused = error instanceof ConnectorError ? error : refusal('STORE_UNAVAILABLE', error);
    const status = refused.status ?? 503;
    metrics.deliveries.inc({ tenant: tenant?.id ?? '', status, code: refused.code });
    exchange.refusals.say(tenant?.id, status, refused);
    if (tenant !== undefined) noteRefused(exchange, tenant.id, refused.code);
    refuse(exchange, status, refused.code);
  } finally {
    metrics.held.set(gate.held());
    stop();
  }
}

/** A browser or an uptime check that asks by GET is no sender of webhooks. */
function noteRefused({ request, onRefused }: Exchange, tenantId: string, code: string): void {
  if (code === 'WEBHOOK_METHOD_WRONG') return;
  onRefused?.(tenantId, isOfHris(request) && !isReasonOfHris(code) ? `HRIS_${code}` : code);
}

/** Logs and counts stored deliveries that nothing acts upon. Event names come from the sender, so they are clipped. */
function noteOdd(delivery: Delivery, fresh: boolean, { log, metrics }: Exchange): void {
  const { tenantId, state } = delivery;
  const event = delivery.event.replaceAll(/[^\w.:-]/g, '?').slice(0, 80);
  log.debug({ tenantId, event, state, fresh }, 'delivery stored');
  if (state === 'unknown') {
    metrics.unknownEvents.inc({ tenant: tenantId });
    log.warn({ tenantId, event }, 'event of unknown name or form stored, nothing acts upon it');
  }
  if (state === 'other-company') {
    metrics.foreignEvents.inc({ tenant: tenantId });
    log.warn({ tenantId, event }, 'event of another company stored, nothing acts upon it');
  }
}

function reply(response: ServerResponse, status: number, code: string, headers: Record<string, string> = {}): void {
  if (response.headersSent || response.destroyed) return;
  const body = JSON.stringify(status === 200 ? { status: code } : { error: code });
  // With its length the answer is one write; without it, the body would be sent in chunks.
  const length = Buffer.byteLength(body);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': length, ...headers }).end(body);
}

/**
 * Answers a refusal and discards the rest of the body for a moment: closing at once would reset the connection, and the
 * sender would see a broken pipe instead of the status. A sender that continues after that is cut off.
 */
function refuse({ request, response }: Exchange, status: number, code: string): void {
  const headers = status === 405 ? { allow: 'POST' } : status === 503 ? { 'retry-after': '1' } : undefined;
  reply(response, status, code, headers);
  if (request.complete || request.destroyed) return;
  request.on('error', () => undefined);
  request.resume();
  const timer = setTimeout(() => request.destroy(), LINGER_MS);
  request.once('close', () => clearTimeout(timer));
}

function listen(server: Server, { port, host, reusePort = false }: ReceiverOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) =>
      reject(
        new ConnectorError({
          code: 'RECEIVER_CANNOT_LISTEN',
          action: 'retry',
          message:
            `The receiver cannot listen on ${host}:${port} (${cause.code ?? 'error'}). ` +
            'Free that port or choose another with --port or HIREBRIDGE_PORT.',
          cause,
        }),
      ),
    );
    server.listen({ port, host, reusePort, backlog: 1_024 }, resolve);
  });
}

async function drain(server: Server, gate: CommitGate): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), LINGER_MS);
  const late = setTimeout(() => gate.abandon(), LINGER_MS / 2);
  await closed;
  clearTimeout(timer);
  clearTimeout(late);
  await gate.close();
}

/** Counters of the receiver. Labels are tenant ids and our own codes, never text from outside. */
export function createReceiverMetrics(registry: Registry) {
  const registers = [registry];
  return {
    deliveries: new Counter({
      name: 'hirebridge_webhook_deliveries_total',
      help: 'Webhook deliveries answered, by tenant (empty when unknown), status and code.',
      labelNames: ['tenant', 'status', 'code'] as const,
      registers,
    }),
    unknownEvents: new Counter({
      name: 'hirebridge_webhook_unknown_events_total',
      help: 'Deliveries with an event name or form of data that the contract does not know; stored without effect.',
      labelNames: ['tenant'] as const,
      registers,
    }),
    foreignEvents: new Counter({
      name: 'hirebridge_webhook_foreign_company_total',
      help: 'Deliveries that name another company than the tenant file; stored without effect.',
      labelNames: ['tenant'] as const,
      registers,
    }),
    held: new Gauge({ name: 'hirebridge_webhook_held', help: 'Deliveries waiting for the store.', registers }),
    seconds: new Histogram({
      name: 'hirebridge_webhook_seconds',
      help: 'From the end of the headers to the answer.',
      buckets: [0.005, 0.02, 0.05, 0.1, 0.2, 0.4, 0.8, 1.4, 5, 10],
      registers,
    }),
  };
}
type ReceiverMetrics = ReturnType<typeof createReceiverMetrics>;

/** The part of the store that a receiver needs. */
export interface DeliveryStore {
  /**
   * Resolves only after the delivery is durable; `fresh` is false if the same body was stored before. Once `signal`
   * aborts, nobody waits for it any more.
   */
  commit(delivery: Delivery, signal: AbortSignal): Promise<{ fresh: boolean }>;
  /** Why the store is unusable now, if it is. */
  trouble(): Promise<string | undefined>;
  close(): Promise<void>;
}

interface GateOptions {
  openStore: () => Promise<DeliveryStore>;
  log: Logger;
  /** How long one delivery may wait for the store, milliseconds. */
  maxWaitMs: number;
}

interface CommitGate {
  commit(delivery: Delivery): Promise<{ fresh: boolean }>;
  /** Deliveries waiting now. */
  held(): number;
  /** Why no delivery can be stored now; undefined if it can. */
  trouble(): Promise<string | undefined>;
  /** Ends every wait with a 503; from now on deliveries are not held. */
  abandon(): void;
  /** Abandons all waits and closes the store. */
  close(): Promise<void>;
}

/** So many bytes may wait at the same time. A small delivery counts as `LEAST_HELD`, so a thousand of them may. */
const MOST_HELD = 64_000_000;
const LEAST_HELD = 64_000;

const RETRY_MS = [50, 100, 200, 400, 800, 1_000] as const;

function retryDelay(attempt: number): number {
  return RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)] ?? 1_000;
}

/**
 * Holds deliveries between listening and storing: the port opens before the store does (a first start creates tables,
 * which may take longer than the sender's 1.4 s of retries), so deliveries wait here, limited in number, bytes and
 * time, until a commit or a 503. If no more may wait, the tenant with the most gives up its newest.
 */
function createCommitGate(options: GateOptions): CommitGate {
  const closing = new AbortController();
  const state: Commits = { failedAt: Number.NEGATIVE_INFINITY };
  const room = createSharedMemory(MOST_HELD, 'newest');
  const opened = openUntil(options, closing.signal);
  let ready: DeliveryStore | undefined;
  opened.then(
    (store) => (ready = store),
    () => undefined,
  );
  return {
    async commit(delivery) {
      const place = room.enter(delivery.tenantId, Math.max(LEAST_HELD, weightOf(delivery)));
      const deadline = startDeadline(options.maxWaitMs, closing.signal, place.turnedOut);
      try {
        const store = ready ?? (await abortable(opened, deadline.signal));
        return await commitUntil(store, delivery, deadline.signal, options.log, state);
      } catch (error) {
        // One that made room for others says nothing about the store.
        if (!place.turnedOut.aborted) state.failedAt = performance.now();
        throw refusal('STORE_UNAVAILABLE', error);
      } finally {
        deadline.end();
        place.leave();
      }
    },
    held: () => room.count(),
    async trouble() {
      if (ready === undefined) return 'the store is not open yet';
      return performance.now() - state.failedAt > FAILED_MS ? ready.trouble() : 'the last commit failed';
    },
    abandon: () => closing.abort(),
    async close() {
      closing.abort();
      const store = await opened.catch(() => undefined);
      await store?.close();
    },
  };
}

/** When the last commit failed, by this process's clock; reset when one has worked since. */
interface Commits {
  failedAt: number;
}

/** After this long a failure no longer counts: a receiver that is not ready gets no deliveries to prove otherwise. */
const FAILED_MS = 5_000;

async function openUntil({ openStore, log }: GateOptions, stop: AbortSignal): Promise<DeliveryStore> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await openStore();
    } catch (err) {
      // What is rejected ends the process, which says why.
      const isOver = isConnectorError(err) && err.action === 'reject';
      if (attempt % 10 === 0 && !isOver) log.error({ err, attempt }, 'store cannot be opened, deliveries wait');
      await pause(retryDelay(attempt), undefined, { signal: stop });
    }
  }
}

/** Repeats a failed commit until the deadline, because the sender's next attempt may come too late or never. */
async function commitUntil(
  store: DeliveryStore,
  delivery: Delivery,
  deadline: AbortSignal,
  log: Logger,
  state: Commits,
) {
  for (let attempt = 0; ; attempt++) {
    try {
      const result = await abortable(store.commit(delivery, deadline), deadline);
      state.failedAt = Number.NEGATIVE_INFINITY;
      return result;
    } catch (err) {
      if (deadline.aborted || (isConnectorError(err) && err.action === 'reject')) throw err;
      state.failedAt = performance.now();
      if (attempt === 0) log.warn({ err, tenantId: delivery.tenantId }, 'delivery not stored yet, trying again');
      await pause(retryDelay(attempt), undefined, { signal: deadline });
    }
  }
}

/**
 * Aborts after `ms`, or when one of `stops` does. `AbortSignal.any` and `timeout` would do the same, but stay in memory
 * after the delivery is answered, until the garbage collector finds them.
 */
function startDeadline(ms: number, ...stops: AbortSignal[]): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error('The store was not there in time.'));
  const timer = setTimeout(abort, ms);
  if (stops.some((stop) => stop.aborted)) abort();
  for (const stop of stops) stop.addEventListener('abort', abort, { once: true });
  const end = () => {
    clearTimeout(timer);
    for (const stop of stops) stop.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, end };
}

/** Waits for a promise or the signal, whichever comes first; the promise itself continues. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error('stopped'));
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop, { once: true });
  promise.catch(() => undefined);
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

interface RefusalLog {
  say(tenantId: string | undefined, status: number, refused: ConnectorError): void;
  /** Logs the number of refusals that had no line of their own. */
  close(): void;
}

/**
 * Keeps a sender of rubbish from filling the log: logs the first refusal of each tenant and code at once, and the
 * following ones as a number, once in `everyMs`.
 */
function createRefusalLog(log: Logger, everyMs = 10_000): RefusalLog {
  const silences = new Map<string, { count: number; end: () => void }>();
  return {
    say(tenantId, status, refused) {
      const key = `${tenantId ?? ''} ${refused.code}`;
      const silence = silences.get(key);
      if (silence !== undefined) {
        silence.count += 1;
        return;
      }
      const write = status === 503 ? log.error.bind(log) : log.warn.bind(log);
      write({ tenantId, status, err: refused }, 'delivery refused');
      const end = (): void => {
        clearTimeout(timer);
        silences.delete(key);
        if (begun.count > 0) write({ tenantId, status, code: refused.code, count: begun.count }, 'more were refused');
      };
      const timer = setTimeout(end, everyMs).unref();
      const begun = { count: 0, end };
      silences.set(key, begun);
    },
    close() {
      for (const { end } of silences.values()) end();
    },
  };
}
