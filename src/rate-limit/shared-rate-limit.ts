import { randomUUID } from 'node:crypto';
import { type Asked, type Granted, leasePermits, SHARE_MS, type SharedRateLimitState } from './lease-permits.ts';
import type { Priority, RateLimitAnswer, RateLimitKeeper } from './rate-limit.ts';
import { createSentRequests, onOwnClock } from './sent-requests.ts';
import { createWaiters } from './waiters.ts';

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

export interface SharedRateLimitOptions {
  /** From 0 to 1. */
  random: () => number;
  /** Called at the first failure of a row. */
  onOutage: (error: unknown) => void;
  /** At most so much of the company's rate; all of it where absent. */
  share?: number | undefined;
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
  options: Partial<SharedRateLimitOptions> = {},
): SharedRateLimit {
  return new LeasedRateLimit(changeRateLimit, { random: Math.random, onOutage: () => undefined, ...options });
}

/**
 * Invariant: a request leaves only on a permit leased under the shared rate limit, and a permit is used at most once.
 */
class LeasedRateLimit implements SharedRateLimit {
  readonly #changeRateLimit: ChangeRateLimit;
  readonly #options: SharedRateLimitOptions;
  #isAway = false;
  readonly #sharer = randomUUID().slice(0, 8);
  readonly #waiters = createWaiters();
  /** When each leased permit may be used, this process's clock, in order. */
  #permits: number[] = [];
  #answers: RateLimitAnswer[] = [];
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

  constructor(changeRateLimit: ChangeRateLimit, options: SharedRateLimitOptions) {
    this.#changeRateLimit = changeRateLimit;
    this.#options = options;
  }

  acquire(priority: Priority, signal?: AbortSignal): Promise<void> {
    const permit = this.#waiters.wait(priority, () => this.#next(), signal);
    // A live request that finds no permit of this process asks at once, however long bulk was told to wait.
    if (this.#waiters.count('live') > this.#permits.length) this.#askAt = 0;
    this.#next();
    return permit;
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
    const ahead = priority === 'live' ? this.#waiters.count('live') : this.#waiters.all();
    return Math.max(0, this.#pausedUntil - performance.now()) + (ahead * 1000) / this.#perSecond;
  }

  async close(): Promise<void> {
    await this.#syncing;
    this.#closed = true;
    clearTimeout(this.#timer);
    this.#waiters.close();
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
    const mayGo = this.#waiters.all() > 0 && this.#inFlight < this.#mostInFlight;
    const permitAt = mayGo ? (this.#permits[0] ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    const at = Math.min(permitAt, this.#syncing === undefined ? syncAt : Number.POSITIVE_INFINITY);
    if (Number.isFinite(at)) this.#timer = setTimeout(() => this.#next(), Math.max(0, Math.ceil(at - now)));
  }

  #useNext(): boolean {
    if (this.#inFlight >= this.#mostInFlight) return false;
    if (this.#waiters.all() === 0) return false;
    this.#inFlight += 1;
    this.#sent.note(this.#inFlight + this.#othersInFlight);
    this.#used += 1;
    return this.#waiters.goNext();
  }

  /** When to ask: for more permits, to report answers, or to learn whether leased permits are still valid. */
  #syncAt(): number {
    const wanted = this.#waiters.all() > this.#permits.length ? this.#askAt : Number.POSITIVE_INFINITY;
    const checkAt = this.#permits.length > 0 ? this.#syncedAt + SHARE_MS : Number.POSITIVE_INFINITY;
    return Math.max(Math.min(wanted, checkAt, this.#tellAt), this.#syncedAt + LEAST_MS);
  }

  async #sync(): Promise<void> {
    const answers = this.#answers.splice(0);
    this.#tellAt = Number.POSITIVE_INFINITY;
    const unused = this.#dropUnused();
    const live = this.#waiters.count('live');
    const asked: Omit<Asked, 'localNow'> = {
      live,
      bulk: Math.max(this.#waiters.count('bulk'), this.#expected() - live),
      own: [...this.#permits],
      unused,
      answers,
      sharer: this.#sharer,
      inFlight: this.#inFlight,
      share: this.#options.share,
    };
    this.#used = 0;
    try {
      const granted = await this.#changeRateLimit((saved, now) =>
        // Its own clock is read when the store's is known: round trips and retries would make permits come early.
        leasePermits({ ...asked, localNow: performance.now(), random: this.#options.random }, saved, now),
      );
      this.#take(granted);
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) this.#options.onOutage(error);
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
    const isIdle = this.#waiters.all() === 0 && this.#used === 0;
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
    const share = SHARE_MS * (0.85 + 0.15 * this.#options.random());
    this.#askAt = askInMs === undefined ? 0 : performance.now() + Math.max(askInMs, share);
  }
}
