import { ConnectorError } from '../../src/errors.ts';
import { passFailpoint } from '../../src/failpoint.ts';
import type { HireRef } from '../../src/hire/hire.ts';
import { assertMayWrite } from '../../src/store/assert-may-write.ts';
import { decideIntent, latestIntent, type OpenIntent, openIntent } from '../../src/store/intents.ts';
import type { Store } from '../../src/store/open-store.ts';
import { readKept } from '../../src/store/purged.ts';

/** What a look at the foreign system says about this write. */
export type Seen<T> = { kind: 'found'; value: T } | { kind: 'absent' } | Unprovable;

/** Only a person can say. `hits`: ids of records that may be what was written. */
interface Unprovable {
  kind: 'unprovable';
  hits?: string[];
}

/** Bounds of one request that must not be made twice. */
export interface SendGuard {
  signal: AbortSignal;
  /** Throws when the intent's deadline has passed; called directly before the bytes leave. */
  beforeSend: () => void;
  /** Time left for the request, milliseconds. */
  remainingMs: () => number;
}

export interface OnceOptions<T, Pinned> {
  store: Store;
  key: HireRef;
  verb: string;
  /** Of the hire; `open` where absent, `none` where the write is of no hire. */
  state?: 'done' | 'none';
  /** What the request is made of; asked once, the first attempt's stays for every later one. */
  pinned: () => Pinned;
  /** The request may leave until so long after the intent; it ends before. */
  giveUpMs: number;
  /** After that, how much longer a write may stay invisible. */
  readLagMs: number;
  look: () => Promise<Seen<T>>;
  /** Time since the reading by which this write is right. */
  sinceRead: Elapsed;
  /** Takes down what is about to be sent, beside the intent that says what became of it. */
  note: (pinned: Pinned, intent: { verb: string; attempt: number }) => Promise<unknown>;
  send: (pinned: Pinned, guard: SendGuard) => Promise<T>;
}

/** What it takes to know what became of earlier attempts. */
export type EarlierOptions<T> = Pick<OnceOptions<T, never>, 'store' | 'key' | 'verb' | 'readLagMs' | 'look'>;

export type Elapsed = () => number;

export type Once<T> =
  | { kind: 'made' | 'adopted'; value: T }
  | { kind: 'refused'; error: ConnectorError }
  /** An earlier request left, and whether it worked cannot be known. */
  | Unprovable;

/** What became of earlier attempts: known, unknowable, or clear for a next one. */
export type Settled<T> = { kind: 'adopted'; value: T } | Unprovable | { kind: 'clear'; latest: OpenIntent | undefined };

/**
 * Makes one foreign write at most once: look first, then commit the intent, then call, then commit the outcome. While
 * an earlier request may still be under way it throws OUTCOME_UNKNOWN with the time to wait.
 */
export async function writeOnce<T, Pinned>(options: OnceOptions<T, Pinned>): Promise<Once<T>> {
  const settled = await settleEarlier(options);
  return settled.kind === 'clear' ? attempt(options, settled.latest) : settled;
}

/** The first half alone: looks, and decides an intent that is still open. */
export async function settleEarlier<T>(options: EarlierOptions<T>): Promise<Settled<T>> {
  const { store, key, verb } = options;
  const latest = await latestIntent(store, key, verb);
  if (latest?.outcome === 'done') return { kind: 'adopted', value: JSON.parse(latest.result ?? 'null') as T };
  const seen = await options.look();
  if (seen.kind === 'found') {
    if (latest?.outcome === 'open') await decideIntent(store, latest, 'done', seen.value);
    return { kind: 'adopted', value: seen.value };
  }
  if (latest?.outcome === 'open') {
    const waitMs = latest.give_up_at + options.readLagMs - latest.now;
    if (waitMs > 0) throw outcomeUnknown(`${verb} left`, waitMs);
    if (seen.kind === 'unprovable') return seen;
    await decideIntent(store, latest, 'absent', null);
  }
  return { kind: 'clear', latest };
}

async function attempt<T, Pinned>(options: OnceOptions<T, Pinned>, latest: OpenIntent | undefined): Promise<Once<T>> {
  const { store, key, verb, giveUpMs, sinceRead } = options;
  // Asked again directly before the socket; here, so that a tenant that may not write gathers no intents.
  await assertMayWrite(store, key.tenantId);
  // What was refused may have been corrected since; what may have left keeps its form, so that it can be recognised.
  const earlier = latest === undefined || latest.outcome === 'refused' ? 'purged' : readKept<Pinned>(latest.pinned);
  const pinned = earlier === 'purged' ? options.pinned() : earlier;
  const clock = startClock();
  const intent = await openIntent(store, {
    ...key,
    verb,
    ...(options.state && { state: options.state }),
    attempt: (latest?.attempt ?? 0) + 1,
    pinned,
    budgetMs: giveUpMs,
  });
  if (intent === undefined) throw outcomeUnknown(`${verb} left`, giveUpMs);
  await options.note(pinned, intent);
  try {
    const value = await options.send(pinned, guardFor(verb, giveUpMs, clock, sinceRead));
    await decideIntent(store, intent, 'done', value);
    return { kind: 'made', value };
  } catch (error) {
    return settle(options, intent, error);
  }
}

async function settle<T, Pinned>(
  { store, verb }: OnceOptions<T, Pinned>,
  intent: OpenIntent,
  error: unknown,
): Promise<Once<T>> {
  if (!(error instanceof ConnectorError)) throw error;
  if (error.action === 'unknown') throw outcomeUnknown(`${verb} left`, intent.give_up_at - intent.now, error);
  await decideIntent(store, intent, error.action === 'reject' || error.action === 'ignore' ? 'refused' : 'absent', {
    code: error.code,
  });
  if (error.action !== 'reject' && error.action !== 'ignore') throw error;
  return { kind: 'refused', error };
}

/**
 * Time since this was called. The larger of two clocks counts: the steady one stands still while a machine is
 * suspended, the other may be set back.
 */
export function startClock(): Elapsed {
  const wall = Date.now();
  const steady = performance.now();
  return () => Math.max(Date.now() - wall, performance.now() - steady);
}

/** What was read holds for twice the deadline: a worker may stand still before it commits the intent, too. */
export function guardFor(verb: string, giveUpMs: number, elapsed: Elapsed, sinceRead: Elapsed): SendGuard {
  const remainingMs = (): number => Math.min(giveUpMs - elapsed(), 2 * giveUpMs - sinceRead());
  return {
    signal: AbortSignal.timeout(giveUpMs),
    remainingMs,
    beforeSend() {
      passFailpoint('deadline/before');
      if (remainingMs() > 0) return passFailpoint('deadline/after');
      throw new ConnectorError({
        code: 'DEADLINE_PASSED',
        action: 'retry',
        message:
          `${verb} was not sent: its deadline passed while this worker stood still. ` + 'The next attempt looks first.',
      });
    },
  };
}

/** `what` left; while it may still be under way nothing is concluded. */
export function outcomeUnknown(what: string, waitMs: number, cause?: unknown): ConnectorError {
  return new ConnectorError({
    code: 'OUTCOME_UNKNOWN',
    action: 'unknown',
    message:
      `${what} and no answer came. Nothing is sent again before its deadline has passed and a look has shown ` +
      'what became of it.',
    retryAfterMs: Math.max(250, Math.ceil(waitMs) + 50),
    cause,
  });
}
