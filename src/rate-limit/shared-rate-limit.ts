import { randomUUID } from 'node:crypto';
import { ConnectorError } from '../errors.ts';
import { type Asked, type Granted, leasePermits, SHARE_MS, type SharedRateLimitState } from './lease-permits.ts';
import { MOST_LIVE_IN_ROW } from './permits.ts';
import type { Priority, RateLimitAnswer, RateLimitKeeper } from './rate-limit.ts';
import { createSentRequests, onOwnClock } from './sent-requests.ts';

/**
 * Changes the shared rate limit as if nobody else did meanwhile; `change` may run several times. `now` is of the clock
 * that all sharers have.
 */
export type ChangeRateLimit = <T>(
  change: (saved: Partial<SharedRateLimitState>, now: number) => { rateLimit?: SharedRateLimitState; result: T },
) => Promise<T>;

export interface SharedRateLimit extends RateLimitKeeper {
  /** Gives back what was leased, and reports the last answers. */
  close(): Promise<void>;
}

interface Waiter {
  go: () => void;
  stop: () => void;
}

/** An answer that no decision waits for is reported at most so much later. */
const TELL_MS = 1_000;
const LEAST_MS = 20;
const OUTAGE_MS = 1_000;

/**
 * A rate limit that processes share: permits are leased in shares of one request or 600 ms, answers are reported with
 * the next lease, a 429 at once. A process with nothing to send and nothing to report does not ask. While the store is
 * unreachable everybody waits.
 */
export function createSharedRateLimit(
  changeRateLimit: ChangeRateLimit,
  random: () => number = Math.random,
  onOutage: (error: unknown) => void = () => undefined,
): SharedRateLimit {
  return new LeasedRateLimit(changeRateLimit, random, onOutage);
}

/**
 * Invariant: a request leaves only on a permit leased under the shared rate limit, and a permit is used at most once.
 */
class LeasedRateLimit implements SharedRateLimit {
  readonly #changeRateLimit: ChangeRateLimit;
  readonly #random: () => number;
  /** Called at the first failure of a row. */
  readonly #onOutage: (error: unknown) => void;
  #isAway = false;
  readonly #sharer = randomUUID().slice(0, 8);
  readonly #queues: Record<Priority, Waiter[]> = { live: [], bulk: [] };
  /** When each leased permit may be used, this process's clock, in order. */
  #permits: number[] = [];
  #answers: RateLimitAnswer[] = [];
  #liveInRow = 0;
  /** Permits used since the last exchange: as many are expected again. */
  #used = 0;
  #inFlight = 0;
  readonly #sent = createSentRequests();
  #mostInFlight = Number.POSITIVE_INFINITY;
  #othersInFlight = 0;
  #syncing: Promise<void> | undefined;
  #syncedAt = Number.NEGATIVE_INFINITY;
  /** Nothing is available before. */
  #askAt = 0;
  /** Answers must be reported by then. */
  #tellAt = Number.POSITIVE_INFINITY;
  #pausedUntil = 0;
  #perSecond = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(changeRateLimit: ChangeRateLimit, random: () => number, onOutage: (error: unknown) => void) {
    this.#changeRateLimit = changeRateLimit;
    this.#random = random;
    this.#onOutage = onOutage;
  }

  acquire(priority: Priority, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      if (this.#closed) return reject(rateLimitClosed());
      const queue = this.#queues[priority];
      const onAbort = (): void => {
        queue.splice(queue.indexOf(waiter), 1);
        reject(signal?.reason as Error);
        this.#next();
      };
      const waiter: Waiter = {
        go: () => {
          signal?.removeEventListener('abort', onAbort);
          resolve();
        },
        stop: () => {
          signal?.removeEventListener('abort', onAbort);
          reject(rateLimitClosed());
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      queue.push(waiter);
      // A live request that finds no permit of this process asks at once, however long bulk was told to wait.
      if (this.#queues.live.length > this.#permits.length) this.#askAt = 0;
      this.#next();
    });
  }

  answered(answer: RateLimitAnswer): void {
    const sentAt = onOwnClock(answer.sentAt);
    this.#answers.push({ ...answer, sentAt, inFlight: this.#sent.inFlightAt(sentAt) ?? this.#inFlight });
    this.#inFlight = Math.max(0, this.#inFlight - 1);
    const now = performance.now();
    this.#tellAt = Math.min(this.#tellAt, answer.status === 429 || answer.status === 503 ? now : now + TELL_MS);
    this.#next();
  }

  waitMs(priority: Priority): number {
    const ahead = priority === 'live' ? this.#queues.live.length : this.#waiting();
    return Math.max(0, this.#pausedUntil - performance.now()) + (ahead * 1000) / this.#perSecond;
  }

  async close(): Promise<void> {
    await this.#syncing;
    this.#closed = true;
    clearTimeout(this.#timer);
    // No permit will come for those that wait: a key was renewed, or the process ends.
    for (const waiter of Object.values(this.#queues).flatMap((queue) => queue.splice(0))) waiter.stop();
    if (this.#answers.length + this.#permits.length > 0) await this.#sync().catch(() => undefined);
  }

  /** Uses the permits that are due, and plans what comes next. */
  #next(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    while ((this.#permits[0] ?? Number.POSITIVE_INFINITY) <= now && this.#useNext()) this.#permits.shift();
    if (this.#closed) return;
    const syncAt = this.#syncAt();
    if (syncAt <= now && this.#syncing === undefined) {
      this.#syncing = this.#sync().finally(() => {
        this.#syncing = undefined;
        this.#next();
      });
      return;
    }
    const mayGo = this.#waiting() > 0 && this.#inFlight < this.#mostInFlight;
    const permitAt = mayGo ? (this.#permits[0] ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    const at = Math.min(permitAt, this.#syncing === undefined ? syncAt : Number.POSITIVE_INFINITY);
    if (Number.isFinite(at)) this.#timer = setTimeout(() => this.#next(), Math.max(0, Math.ceil(at - now)));
  }

  #waiting(): number {
    return this.#queues.live.length + this.#queues.bulk.length;
  }

  #useNext(): boolean {
    if (this.#inFlight >= this.#mostInFlight) return false;
    const { live, bulk } = this.#queues;
    const isBulkDue = live.length === 0 || (this.#liveInRow >= MOST_LIVE_IN_ROW && bulk.length > 0);
    const waiter = isBulkDue ? bulk.shift() : live.shift();
    this.#liveInRow = isBulkDue ? 0 : this.#liveInRow + 1;
    if (waiter === undefined) return false;
    this.#inFlight += 1;
    this.#sent.note(this.#inFlight + this.#othersInFlight);
    this.#used += 1;
    waiter.go();
    return true;
  }

  /** When to ask: for more permits, to report answers, or to learn whether leased permits are still valid. */
  #syncAt(): number {
    const wanted = this.#waiting() > this.#permits.length ? this.#askAt : Number.POSITIVE_INFINITY;
    const checkAt = this.#permits.length > 0 ? this.#syncedAt + SHARE_MS : Number.POSITIVE_INFINITY;
    return Math.max(Math.min(wanted, checkAt, this.#tellAt), this.#syncedAt + LEAST_MS);
  }

  async #sync(): Promise<void> {
    const answers = this.#answers.splice(0);
    this.#tellAt = Number.POSITIVE_INFINITY;
    const unused = this.#dropUnused();
    const asked: Omit<Asked, 'localNow'> = {
      live: this.#queues.live.length,
      bulk: Math.max(this.#queues.bulk.length, this.#expected() - this.#queues.live.length),
      own: [...this.#permits],
      unused,
      answers,
      sharer: this.#sharer,
      inFlight: this.#inFlight,
    };
    this.#used = 0;
    try {
      const granted = await this.#changeRateLimit((saved, now) =>
        // Its own clock is read when the store's is known: round trips and retries would make permits come early.
        leasePermits({ ...asked, localNow: performance.now(), random: this.#random }, saved, now),
      );
      this.#take(granted);
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) this.#onOutage(error);
      this.#isAway = true;
      this.#answers.unshift(...answers);
      this.#askAt = performance.now() + OUTAGE_MS;
      this.#tellAt = answers.length > 0 ? this.#askAt : Number.POSITIVE_INFINITY;
    }
    this.#syncedAt = performance.now();
  }

  /** Requests expected within the next share: whoever sends one at a time has none waiting when permits are leased. */
  #expected(): number {
    const elapsed = performance.now() - this.#syncedAt;
    return elapsed > 2 * SHARE_MS ? 0 : Math.ceil((this.#used * SHARE_MS) / Math.max(elapsed, LEAST_MS));
  }

  /** Permits that nobody waits for, or that passed unused while too many calls were under way: others may have them. */
  #dropUnused(): number {
    const isIdle = this.#waiting() === 0 && this.#used === 0;
    const latest = isIdle ? Number.POSITIVE_INFINITY : performance.now() - SHARE_MS;
    const kept = this.#permits.filter((permit) => permit > latest);
    const dropped = this.#permits.length - kept.length;
    this.#permits = kept;
    return dropped;
  }

  #take({ permits, validFrom, askInMs, mostInFlight, othersInFlight, perSecond }: Granted): void {
    this.#pausedUntil = validFrom;
    this.#perSecond = perSecond;
    this.#mostInFlight = mostInFlight ?? Number.POSITIVE_INFINITY;
    this.#othersInFlight = othersInFlight;
    this.#permits = this.#permits.filter((permit) => permit >= validFrom);
    this.#permits.push(...permits);
    this.#permits.sort((a, b) => a - b);
    // Asking a little before a share ends, and never in step with the others, leaves no gap.
    const share = SHARE_MS * (0.85 + 0.15 * this.#random());
    this.#askAt = askInMs === undefined ? 0 : performance.now() + Math.max(askInMs, share);
  }
}

function rateLimitClosed(): ConnectorError {
  return new ConnectorError({
    code: 'CONNECTION_CLOSED',
    action: 'retry',
    message: 'The connection was closed while a call waited for a permit of the rate limit. Nothing was sent.',
  });
}
