import { setTimeout as pause } from 'node:timers/promises';
import { isConnectorError } from '../errors.ts';
import type { Logger } from '../log.ts';
import { type Delivery, weightOf } from '../store/inbox.ts';
import { type RefusalCode, refusal } from './refusals.ts';

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

export interface GateOptions {
  openStore: () => Promise<DeliveryStore>;
  log: Logger;
  /** How long one delivery may wait for the store, milliseconds. */
  maxWaitMs: number;
  /** How many deliveries and bytes may wait at the same time; a further delivery is answered 503 at once. */
  maxHeld: number;
  maxHeldBytes: number;
}

export interface CommitGate {
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

const RETRY_MS = [50, 100, 200, 400, 800, 1_000] as const;

function retryDelay(attempt: number): number {
  return RETRY_MS[Math.min(attempt, RETRY_MS.length - 1)] ?? 1_000;
}

/**
 * Holds deliveries between listening and storing: the port opens before the store does (a first start creates tables,
 * which may take longer than the sender's 1.4 s of retries), so deliveries wait here, limited in number, bytes and
 * time, until a commit or a 503.
 */
export function createCommitGate(options: GateOptions): CommitGate {
  const closing = new AbortController();
  const state: Commits = { failedAt: Number.NEGATIVE_INFINITY };
  const room = createRoom({ count: options.maxHeld, bytes: options.maxHeldBytes }, 'STORE_UNAVAILABLE');
  const opened = openUntil(options, closing.signal);
  let ready: DeliveryStore | undefined;
  opened.then(
    (store) => (ready = store),
    () => undefined,
  );
  return {
    async commit(delivery) {
      const leave = room.enter(weightOf(delivery));
      const deadline = startDeadline(options.maxWaitMs, closing.signal);
      try {
        const store = ready ?? (await abortable(opened, deadline.signal));
        return await commitUntil(store, delivery, deadline.signal, options.log, state);
      } catch (error) {
        throw refusal('STORE_UNAVAILABLE', error);
      } finally {
        deadline.end();
        leave();
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
      if (attempt % 10 === 0) log.error({ err, attempt }, 'store cannot be opened, deliveries wait');
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
      state.failedAt = performance.now();
      if (deadline.aborted || (isConnectorError(err) && err.action === 'reject')) throw err;
      if (attempt === 0) log.warn({ err, tenantId: delivery.tenantId }, 'delivery not stored yet, trying again');
      await pause(retryDelay(attempt), undefined, { signal: deadline });
    }
  }
}

/**
 * Aborts after `ms`, or when `stop` does. `AbortSignal.any` and `timeout` would do the same, but stay in memory after
 * the delivery is answered, until the garbage collector finds them.
 */
function startDeadline(ms: number, stop: AbortSignal): { signal: AbortSignal; end: () => void } {
  const controller = new AbortController();
  const abort = () => controller.abort(new Error('The store was not there in time.'));
  const timer = setTimeout(abort, ms);
  if (stop.aborted) abort();
  stop.addEventListener('abort', abort, { once: true });
  const end = () => {
    clearTimeout(timer);
    stop.removeEventListener('abort', abort);
  };
  return { signal: controller.signal, end };
}

/** Waits for a promise or the signal, whichever comes first; the promise itself continues. */
export async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
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

/** Counts what is inside, and rejects anything beyond its limits. */
interface Room {
  count(): number;
  /** Enters; call the returned function to leave. */
  enter(size: number): () => void;
}

function createRoom(most: { count: number; bytes: number }, full: RefusalCode): Room {
  let count = 0;
  let bytes = 0;
  return {
    count: () => count,
    enter(size) {
      if (count >= most.count || bytes + size > most.bytes) throw refusal(full);
      count += 1;
      bytes += size;
      return () => {
        count -= 1;
        bytes -= size;
      };
    },
  };
}
