import { randomUUID } from 'node:crypto';
import { ConnectorError } from '../errors.ts';
import { type Asked, type Granted, leaseTurns, type SharedState, shareMs } from './lease.ts';
import type { Priority, RateLimitAnswer, RateLimitKeeper } from './rate-limit.ts';

/** Changes the shared rate limit as if nobody else did meanwhile; `change` may run several times. `now` is the clock that all sharers have. */
export type ChangeRateLimit = <T>(
  change: (saved: Partial<SharedState>, now: number) => { rateLimit?: SharedState; result: T },
) => Promise<T>;

export interface SharedRateLimit extends RateLimitKeeper {
  /** Gives back what was leased, and tells the last answers. */
  close(): Promise<void>;
}

interface Waiter {
  go: () => void;
  stop: () => void;
}

/** An answer that no decision waits for is told at most so much later. */
const tellMs = 1_000;
const leastMs = 20;
const outageMs = 1_000;
/** Live goes first, but one in twenty turns is bulk's where it waits. */
const liveInRow = 19;

/**
 * A rate limit that processes share: turns are leased in shares of one request or 250 ms, answers told with the next lease, a 429 at once. A process that
 * has nothing to send and nothing to tell asks nothing. While the store is away everybody waits.
 */
export function createSharedRateLimit(
  changeRateLimit: ChangeRateLimit,
  random: () => number = Math.random,
  onOutage: (error: unknown) => void = () => undefined,
): SharedRateLimit {
  return new LeasedRateLimit(changeRateLimit, random, onOutage);
}

/** Invariant: a request leaves only on a turn leased under the shared rate limit, and a turn is used at most once. */
class LeasedRateLimit implements SharedRateLimit {
  readonly #changeRateLimit: ChangeRateLimit;
  readonly #random: () => number;
  /** Told of the first failure of a row. */
  readonly #onOutage: (error: unknown) => void;
  #isAway = false;
  readonly #sharer = randomUUID().slice(0, 8);
  readonly #queues: Record<Priority, Waiter[]> = { live: [], bulk: [] };
  /** When each leased turn may be used, this process's clock, in order. */
  #turns: number[] = [];
  #answers: RateLimitAnswer[] = [];
  #liveInRow = 0;
  /** Turns used since the last exchange: as many are expected again. */
  #used = 0;
  #inFlight = 0;
  #mostInFlight = Number.POSITIVE_INFINITY;
  #othersInFlight = 0;
  #syncing: Promise<void> | undefined;
  #syncedAt = Number.NEGATIVE_INFINITY;
  /** Nothing is to be had before. */
  #askAt = 0;
  /** Answers must be told by then. */
  #tellAt = Number.POSITIVE_INFINITY;
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
      // A live request is asked for at once, whatever bulk was told.
      if (priority === 'live') this.#askAt = 0;
      this.#next();
    });
  }

  answered(answer: RateLimitAnswer): void {
    this.#answers.push({ ...answer, inFlight: this.#inFlight + this.#othersInFlight });
    this.#inFlight = Math.max(0, this.#inFlight - 1);
    const now = Date.now();
    this.#tellAt = Math.min(this.#tellAt, answer.status === 429 || answer.status === 503 ? now : now + tellMs);
    this.#next();
  }

  async close(): Promise<void> {
    await this.#syncing;
    this.#closed = true;
    clearTimeout(this.#timer);
    // Nobody will let them go any more: a key was renewed, or the process ends.
    for (const waiter of Object.values(this.#queues).flatMap((queue) => queue.splice(0))) waiter.stop();
    if (this.#answers.length + this.#turns.length > 0) await this.#sync().catch(() => undefined);
  }

  /** Lets go who may, and plans what comes next. */
  #next(): void {
    clearTimeout(this.#timer);
    const now = Date.now();
    while ((this.#turns[0] ?? Number.POSITIVE_INFINITY) <= now && this.#letGo()) this.#turns.shift();
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
    const turnAt = mayGo ? (this.#turns[0] ?? Number.POSITIVE_INFINITY) : Number.POSITIVE_INFINITY;
    const at = Math.min(turnAt, this.#syncing === undefined ? syncAt : Number.POSITIVE_INFINITY);
    if (Number.isFinite(at)) this.#timer = setTimeout(() => this.#next(), Math.max(0, Math.ceil(at - now)));
  }

  #waiting(): number {
    return this.#queues.live.length + this.#queues.bulk.length;
  }

  #letGo(): boolean {
    if (this.#inFlight >= this.#mostInFlight) return false;
    const { live, bulk } = this.#queues;
    const bulksTurn = live.length === 0 || (this.#liveInRow >= liveInRow && bulk.length > 0);
    const waiter = bulksTurn ? bulk.shift() : live.shift();
    this.#liveInRow = bulksTurn ? 0 : this.#liveInRow + 1;
    if (waiter === undefined) return false;
    this.#inFlight += 1;
    this.#used += 1;
    waiter.go();
    return true;
  }

  /** When the shared rate limit is to be asked: for more turns, to tell answers, or to hear whether leased turns still stand. */
  #syncAt(): number {
    const wanted = this.#waiting() > this.#turns.length ? this.#askAt : Number.POSITIVE_INFINITY;
    const stands = this.#turns.length > 0 ? this.#syncedAt + shareMs : Number.POSITIVE_INFINITY;
    return Math.max(Math.min(wanted, stands, this.#tellAt), this.#syncedAt + leastMs);
  }

  async #sync(): Promise<void> {
    const answers = this.#answers.splice(0);
    this.#tellAt = Number.POSITIVE_INFINITY;
    const unused = this.#dropUnused();
    const asked: Asked = {
      live: this.#queues.live.length,
      bulk: Math.max(this.#queues.bulk.length, this.#expected() - this.#queues.live.length),
      own: [...this.#turns],
      unused,
      answers,
      localNow: Date.now(),
      sharer: this.#sharer,
      inFlight: this.#inFlight,
    };
    this.#used = 0;
    try {
      const granted = await this.#changeRateLimit((saved, now) =>
        leaseTurns({ ...asked, random: this.#random }, saved, now),
      );
      this.#take(granted);
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) this.#onOutage(error);
      this.#isAway = true;
      this.#answers.unshift(...answers);
      this.#askAt = Date.now() + outageMs;
      this.#tellAt = answers.length > 0 ? this.#askAt : Number.POSITIVE_INFINITY;
    }
    this.#syncedAt = Date.now();
  }

  /** Requests within the next share, as lately: whoever sends one after the other has none waiting when turns are leased. */
  #expected(): number {
    const elapsed = Date.now() - this.#syncedAt;
    return elapsed > 2 * shareMs ? 0 : Math.ceil((this.#used * shareMs) / Math.max(elapsed, leastMs));
  }

  /** Turns that nobody waits for, or that the gate let pass: others may have them. */
  #dropUnused(): number {
    const isIdle = this.#waiting() === 0 && this.#used === 0;
    const latest = isIdle ? Number.POSITIVE_INFINITY : Date.now() - shareMs;
    const kept = this.#turns.filter((turn) => turn > latest);
    const dropped = this.#turns.length - kept.length;
    this.#turns = kept;
    return dropped;
  }

  #take({ turns, standsFrom, askInMs, mostInFlight, othersInFlight }: Granted): void {
    this.#mostInFlight = mostInFlight ?? Number.POSITIVE_INFINITY;
    this.#othersInFlight = othersInFlight;
    this.#turns = this.#turns.filter((turn) => turn >= standsFrom);
    this.#turns.push(...turns);
    this.#turns.sort((a, b) => a - b);
    // A share lasts 250 ms; asking a little earlier, and never in step with the others, leaves no gap.
    const share = shareMs * (0.75 + 0.25 * this.#random());
    this.#askAt = askInMs === undefined ? 0 : Date.now() + Math.max(askInMs, share);
  }
}

function rateLimitClosed(): ConnectorError {
  return new ConnectorError({
    code: 'CONNECTION_CLOSED',
    action: 'retry',
    message: 'The connection was closed while a call waited for its turn. Nothing was sent.',
  });
}
