import { ConnectorError } from '../../src/errors.ts';
import { passFailpoint } from '../../src/failpoint.ts';
import type { HireRef } from '../../src/hire/hire.ts';
import { assertMayWrite } from '../../src/store/freezes.ts';
import { decideIntent, latestIntent, type OpenIntent, openIntent } from '../../src/store/intents.ts';
import { readKept, type Store } from '../../src/store/open-store.ts';

/** The result of looking for this write in the other system. */
export type Seen<T> = { kind: 'found'; value: T } | { kind: 'absent' } | Unprovable;

/** Only a person can tell. `hits`: ids of records that this write may have created. */
interface Unprovable {
  kind: 'unprovable';
  hits?: string[];
}

/** Limits of one request that must not be made twice. */
export interface SendGuard {
  signal: AbortSignal;
  /** Throws if the intent's deadline has passed; called just before bytes are sent. */
  beforeSend: () => void;
  /** Time left for the request, milliseconds. */
  remainingMs: () => number;
}

export interface OnceOptions<T, Pinned> {
  store: Store;
  key: HireRef;
  verb: string;
  /** Required state of the hire: `open` if absent; `none` if the write belongs to no hire. */
  state?: 'done' | 'none';
  /** The hire's `updated_at` when this was decided; see `openIntent`. */
  readAt?: number;
  /** Builds the request's pinned values. Called once: later attempts reuse the first attempt's values. */
  pinned: () => Pinned;
  /** The request may be sent until this long after the intent, and must end by then. */
  giveUpMs: number;
  /** How much longer than that a write may stay invisible. */
  readLagMs: number;
  look: () => Promise<Seen<T>>;
  /** Time since the reading that justifies this write. */
  sinceRead: Elapsed;
  /** Stores what is about to be sent, next to the intent that records the outcome. */
  note: (pinned: Pinned, intent: { verb: string; attempt: number }) => Promise<unknown>;
  send: (pinned: Pinned, guard: SendGuard) => Promise<T>;
}

/** Everything needed to find the outcome of earlier attempts. */
export type EarlierOptions<T> = Pick<OnceOptions<T, never>, 'store' | 'key' | 'verb' | 'readLagMs' | 'look'>;

export type Elapsed = () => number;

export type Once<T> =
  | { kind: 'made' | 'adopted'; value: T }
  | { kind: 'refused'; error: ConnectorError }
  /** An earlier request was sent, and its outcome cannot be known. */
  | Unprovable;

/** Outcome of earlier attempts: known, unknowable, or clear for another attempt. */
export type Settled<T> = { kind: 'adopted'; value: T } | Unprovable | { kind: 'clear'; latest: OpenIntent | undefined };

/**
 * Makes a write to another system at most once: looks first, commits the intent, makes the call, commits the outcome.
 * Throws OUTCOME_UNKNOWN with the time to wait while an earlier request may still be under way.
 */
export async function writeOnce<T, Pinned>(options: OnceOptions<T, Pinned>): Promise<Once<T>> {
  const settled = await settleEarlier(options);
  return settled.kind === 'clear' ? attempt(options, settled.latest) : settled;
}

/** Only the first half: looks, and decides an intent that is still open. */
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
  // Asked again just before sending; asked here too, so that a tenant that may not write collects no intents.
  await assertMayWrite(store, key.tenantId);
  // A refused request may have been corrected since. A request that may have been sent keeps its values, so that it can
  // be recognised.
  const earlier = latest === undefined || latest.outcome === 'refused' ? 'purged' : readKept<Pinned>(latest.pinned);
  const pinned = earlier === 'purged' ? options.pinned() : earlier;
  const clock = startClock();
  const intent = await openIntent(store, {
    ...key,
    verb,
    ...(options.state && { state: options.state }),
    ...(options.readAt !== undefined && { readAt: options.readAt }),
    attempt: (latest?.attempt ?? 0) + 1,
    pinned,
    budgetMs: giveUpMs,
  });
  if (intent === undefined) throw outcomeUnknown(`${verb} left`, giveUpMs);
  await options.note(pinned, intent);
  let value: T;
  try {
    value = await options.send(pinned, guardFor(verb, giveUpMs, clock, sinceRead));
  } catch (error) {
    if (!(error instanceof ConnectorError)) throw error;
    if (error.action === 'unknown') throw outcomeUnknown(`${verb} left`, intent.give_up_at - intent.now, error);
    const isRefused = error.action === 'reject' || error.action === 'ignore';
    await decideIntent(store, intent, isRefused ? 'refused' : 'absent', { code: error.code });
    if (!isRefused) throw error;
    return { kind: 'refused', error };
  }
  // A store that fails here says nothing about the write, which may not be shown yet.
  await decideIntent(store, intent, 'done', value).catch((error: unknown) => {
    if (!(error instanceof ConnectorError)) throw error;
    throw new ConnectorError({
      code: 'OUTCOME_UNKNOWN',
      action: 'unknown',
      message: `${verb} was made, but the store did not take the outcome. That is looked up before anything is sent.`,
      retryAfterMs: error.retryAfterMs,
      cause: error,
    });
  });
  return { kind: 'made', value };
}

/**
 * Returns the time since this call. Takes the larger of two clocks: the steady clock stops while a machine is
 * suspended, and the wall clock may be set back.
 */
export function startClock(): Elapsed {
  const wall = Date.now();
  const steady = performance.now();
  return () => Math.max(Date.now() - wall, performance.now() - steady);
}

/** A reading is valid for twice the deadline, because a worker may also stand still before it commits the intent. */
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
          `${verb} was not sent: its deadline passed, because this worker stalled or the searches before it took too ` +
          'long. The next attempt checks first.',
      });
    },
  };
}

/** @throws ConnectorError READ_TOO_LONG_AGO if the reading that justifies a write is too old: the worker stalled */
export function assertFresh({ giveUpMs }: { giveUpMs: number }, sinceRead: Elapsed): void {
  if (sinceRead() > 2 * giveUpMs) throw readTooLongAgo();
}

export function readTooLongAgo(): ConnectorError {
  return new ConnectorError({
    code: 'READ_TOO_LONG_AGO',
    action: 'retry',
    message:
      'Nothing was written: this worker stalled, or other calls took too long, so what it had read is too old. The ' +
      'next attempt reads again.',
    retryAfterMs: 0,
  });
}

/** `what` was sent; nothing is concluded while it may still be under way. */
export function outcomeUnknown(what: string, waitMs: number, cause?: unknown): ConnectorError {
  return new ConnectorError({
    code: 'OUTCOME_UNKNOWN',
    action: 'unknown',
    message:
      `${what} and no answer came. Nothing is sent again until its deadline has passed and hirebridge has looked ` +
      'up the result.',
    retryAfterMs: Math.max(250, Math.ceil(waitMs) + 50),
    cause,
  });
}
