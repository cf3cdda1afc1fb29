import { randomUUID } from 'node:crypto';
import {
  type Asked,
  borrowEveryMs,
  type ChangeRateLimit,
  type Granted,
  leasePermits,
  spaceMs,
} from './lease-permits.ts';
import type { Priority, RateLimitAnswer, RateLimitKeeper } from './rate-limit.ts';
import { createSentRequests, onOwnClock } from './sent-requests.ts';
import { SHARE_MS } from './sharers.ts';
import { createWaiters } from './waiters.ts';

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

const LEAST_MS = 20;
/** Whoever found no permit asks again about so soon, and in no order. */
const POLL_MS = 80;
/** Writes of the store: one in so many ms in the long run, and so many more at once. */
const WRITES = { everyMs: 500, atOnce: 3 };
const OUTAGE_MS = 1_000;
/** A live request is seldom alone: a hire makes about so many, one after the other, and each would ask the store. */
const LIVE_RUN = 10;

/**
 * A rate limit that processes share: permits are leased ahead (sharers.ts), answers are reported with the next lease, a
 * 429 at once, by two writes of the store a second at most. A process with nothing to send and nothing to report does
 * not ask. While the store is unreachable everybody waits.
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
  /** When the writes so far would have ended at an even rate. */
  #wroteAt = 0;
  #leaseMs = SHARE_MS;
  #sharers = 1;
  #isHeld = false;
  #borrowedAt = Number.NEGATIVE_INFINITY;
  #spacedAt = Number.NEGATIVE_INFINITY;
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
    const isAwaited = this.#isHeld || answer.status === 429 || answer.status === 503;
    this.#tellAt = Math.min(this.#tellAt, isAwaited ? now : now + this.#leaseMs);
    this.#next();
  }

  waitMs(priority: Priority): number {
    const ahead = priority === 'live' ? this.#waiters.count('live') : this.#waiters.all();
    return Math.max(0, this.#pausedUntil - performance.now()) + (ahead * 1000) / this.#perSecond;
  }

  perSecond(): number {
    return this.#perSecond;
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
    while (this.#permitAt() <= now && this.#useNext()) this.#permits.shift();
    if (this.#borrowAt() <= now && this.#useNext()) {
      this.#permits.pop();
      this.#borrowedAt = now;
    }
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
    const goAt = mayGo ? Math.min(this.#permitAt(), this.#borrowAt()) : Number.POSITIVE_INFINITY;
    const at = Math.min(goAt, this.#syncing === undefined ? syncAt : Number.POSITIVE_INFINITY);
    if (Number.isFinite(at)) this.#timer = setTimeout(() => this.#next(), Math.max(0, Math.ceil(at - now)));
  }

  #permitAt(): number {
    return Math.max(this.#permits[0] ?? Number.POSITIVE_INFINITY, this.#spacedAt);
  }

  /** When a live request may take the last of the permits that are leased, because the next one is far ahead. */
  #borrowAt(): number {
    const [first] = this.#permits;
    if (first === undefined || this.#waiters.count('live') === 0) return Number.POSITIVE_INFINITY;
    const at = Math.max(this.#pausedUntil, this.#borrowedAt + this.#sharers * borrowEveryMs(this.#perSecond));
    return first - Math.max(at, performance.now()) > 1000 / this.#perSecond ? at : Number.POSITIVE_INFINITY;
  }

  #useNext(): boolean {
    if (this.#inFlight >= this.#mostInFlight) return false;
    if (this.#waiters.all() === 0) return false;
    this.#inFlight += 1;
    this.#sent.note(this.#inFlight + this.#othersInFlight);
    this.#used += 1;
    this.#spacedAt = performance.now() + spaceMs(this.#perSecond);
    return this.#waiters.goNext();
  }

  /** When to ask: for more permits, to report answers, or to learn whether leased permits are still valid. */
  #syncAt(): number {
    const wanted = this.#waiters.all() > this.#permits.length ? this.#askAt : Number.POSITIVE_INFINITY;
    const checkAt = this.#permits.length > 0 ? this.#syncedAt + this.#leaseMs : Number.POSITIVE_INFINITY;
    const budgetAt = this.#wroteAt - WRITES.atOnce * WRITES.everyMs;
    return Math.max(Math.min(wanted, checkAt, this.#tellAt), this.#syncedAt + LEAST_MS, budgetAt);
  }

  async #sync(): Promise<void> {
    const answers = this.#answers.splice(0);
    this.#tellAt = Number.POSITIVE_INFINITY;
    const unused = this.#dropUnused();
    const live = this.#waiters.count('live');
    const asked: Omit<Asked, 'localNow'> = {
      live,
      bulk: this.#waiters.count('bulk') + Math.max(0, this.#expected(live) - live),
      own: [...this.#permits],
      unused,
      answers,
      sharer: this.#sharer,
      inFlight: this.#inFlight,
      share: this.#options.share,
      waits: this.#waiters.takeWaits(),
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
  #expected(live: number): number {
    const elapsed = performance.now() - this.#syncedAt;
    const again = elapsed > 2 * this.#leaseMs ? 0 : (this.#used * this.#leaseMs) / Math.max(elapsed, LEAST_MS);
    return Math.max(Math.ceil(again), live > 0 ? LIVE_RUN : 0);
  }

  /** Permits that nobody waits for, or that passed unused while too many calls were under way: others may have them. */
  #dropUnused(): number {
    const isIdle = this.#waiters.all() === 0 && this.#used === 0;
    const latest = isIdle ? Number.POSITIVE_INFINITY : performance.now() - this.#leaseMs;
    const kept = this.#permits.filter((permit) => permit > latest);
    const dropped = this.#permits.length - kept.length;
    this.#permits = kept;
    return dropped;
  }

  #take(granted: Granted): void {
    const { permits, validFrom, askInMs, mostInFlight, leaseMs } = granted;
    if (granted.isWritten) this.#wroteAt = Math.max(this.#wroteAt, performance.now()) + WRITES.everyMs;
    this.#pausedUntil = validFrom;
    this.#perSecond = granted.perSecond;
    this.#mostInFlight = mostInFlight ?? Number.POSITIVE_INFINITY;
    this.#othersInFlight = granted.othersInFlight;
    this.#leaseMs = leaseMs;
    this.#isHeld = granted.isHeld;
    this.#sharers = granted.sharers;
    this.#permits = this.#permits.filter((permit) => permit >= validFrom);
    this.#permits.push(...permits);
    this.#permits.sort((a, b) => a - b);
    // Asking a little before a share ends, and never in step with the others, leaves no gap.
    const random = this.#options.random();
    const waitMs = permits.length > 0 ? leaseMs * (0.85 + 0.15 * random) : (askInMs ?? 0) + POLL_MS * random;
    this.#askAt = askInMs === undefined ? 0 : performance.now() + Math.max(askInMs, waitMs);
  }
}
