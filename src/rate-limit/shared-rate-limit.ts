import { randomUUID } from 'node:crypto';
import {
  type Asked,
  askAgainMs,
  createUsage,
  type Granted,
  LEAST_MS,
  leasePermits,
  type SharedRateLimitState,
  validFromOf,
} from './lease-permits.ts';
import type { Priority, RateLimitAnswer, RateLimitKeeper } from './rate-limit.ts';
import { createLiveRuns, isLate, nothingTold, type Told } from './shares.ts';
import { createWaiters } from './waiters.ts';

/**
 * Limits writes to the store: one per `everyMs` on average and at most `atOnce` together; two per second in any minute.
 */
const WRITES = { everyMs: 525, atOnce: 3 };

/** Time until the next exchange if the store did not answer. */
const OUTAGE_MS = 1_000;

/**
 * Changes the shared rate limit as if no other process did so at the same time; `change` may run several times. `now`
 * is by the clock that all sharers use.
 */
export type ChangeRateLimit = <T>(
  change: (saved: Partial<SharedRateLimitState>, now: number) => { rateLimit?: SharedRateLimitState; result: T },
) => Promise<T>;

/** Timers are hardly finer than this. */
const LEAST_SPACE_MS = 5;

function createWriteBudget() {
  /** When the writes so far would end at an even rate. */
  let endAt = 0;
  return {
    /** When the next write is allowed. A write that can wait leaves one slot for urgent writes. */
    nextAt: (isUrgent: boolean): number => endAt - (WRITES.atOnce - (isUrgent ? 0 : 1)) * WRITES.everyMs,
    written(): void {
      endAt = Math.max(endAt, performance.now()) + WRITES.everyMs;
    },
  };
}

const MOST_KEPT = 256;
/** No call is in flight for longer. */
const LONGEST_CALL_MS = 300_000;

/** Remembers the latest requests and how many were in flight when each was sent. */
function createSentRequests() {
  const sent: { at: number; inFlight: number }[] = [];
  return {
    note(inFlight: number): void {
      sent.push({ at: performance.now(), inFlight });
      if (sent.length > MOST_KEPT) sent.shift();
    },
    /**
     * Converts an answer to this process's clock and adds how many requests were in flight when its request was sent.
     * Falls back to `inFlight`, the number now, if that is forgotten: the number now says how fast answers come, not
     * what was refused.
     */
    received(answer: RateLimitAnswer, inFlight: number): RateLimitAnswer {
      // Wall clocks jump, so only the age of the request is taken from them.
      const roundTripMs = Math.min(Math.max(Date.now() - answer.sentAt, 0), LONGEST_CALL_MS);
      const sentAt = performance.now() - roundTripMs;
      const before = sent.findLast(({ at }) => at <= sentAt + 1);
      return { ...answer, sentAt, inFlight: before?.inFlight ?? inFlight, roundTripMs };
    },
  };
}

const LOOK_MS = 25;
/** A look stays valid for this many look times, so that bulk goes on however slow the store is. */
const LOOKS = 4;
/** A process that met no other for this long stops looking: most run alone, and hires may be far apart. */
const ALONE_MS = 3_600_000;

interface LeadWatchOptions {
  storeClock: ReturnType<typeof createStoreClock>;
  /** Called with the ms by which permits moved since the last look. */
  onMoved: (ms: number) => void;
  /** Called after each look. Permits before this moment of the process's clock are void. */
  onLooked: (validFrom: number) => void;
}

/** Learns before the next exchange that another process met the limit, or that another's live requests went first. */
function createLeadWatch(changeRateLimit: ChangeRateLimit, { storeClock, onMoved, onLooked }: LeadWatchOptions) {
  let known = 0;
  let seenAt = Number.NEGATIVE_INFINITY;
  let lookMs = 0;
  let othersAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  function note(movedMs: number): void {
    onMoved(movedMs - known);
    // A look and an exchange may overlap, so the older reading may arrive last.
    known = Math.max(known, movedMs);
    seenAt = performance.now();
  }
  const ageMs = (): number => performance.now() - seenAt;
  const isStale = (): boolean => ageMs() > Math.max(LOOK_MS, LOOKS * lookMs);
  async function look(): Promise<void> {
    const began = performance.now();
    // An outage is noticed and reported where permits are asked for.
    const seen = await changeRateLimit(({ leads, underWay }, now) => {
      const validFrom = validFromOf(underWay, now, now - storeClock.ownTimeOf(now));
      return { result: { movedMs: leads?.movedMs ?? known, validFrom } };
    }).catch(() => ({ movedMs: known, validFrom: 0 }));
    looking = undefined;
    lookMs = performance.now() - began;
    note(seen.movedMs);
    onLooked(seen.validFrom);
  }
  return {
    /** Whether bulk may go on. Starts a look in the background before the last one grows stale. */
    mayGo(): boolean {
      if (performance.now() - othersAt > ALONE_MS) return true;
      if (ageMs() > LOOK_MS) looking ??= look();
      return !isStale();
    },
    /** Whether everything must wait for the look under way. */
    isAwaited: (): boolean => looking !== undefined && isStale(),
    /** Takes over what an exchange with the shared rate limit said; see `SavedLeads`. */
    saw({ movedMs, sharers }: { movedMs: number; sharers: number }): void {
      note(movedMs);
      if (sharers > 1) othersAt = seenAt;
    },
    /** Resolves when no look is under way. */
    end: async (): Promise<void> => await looking,
  };
}

export interface SharedRateLimit extends RateLimitKeeper {
  /** In one process, holders take turns, however many calls each holder has and wherever these go. */
  acquire(priority: Priority, signal?: AbortSignal, endpoint?: string, holder?: object): Promise<void>;
  waitMs(priority: Priority, endpoint?: string, holder?: object): number;
  /** Endpoints found to have their own limit; their 429s say nothing about this one. */
  ownEndpoints(): readonly string[];
  /** Gives back leased permits and reports the last answers. */
  close(): Promise<void>;
}

interface SharedRateLimitOptions {
  /** Returns a number from 0 to 1. */
  random: () => number;
  /** Called at the first failure in a row. */
  onOutage: (error: unknown) => void;
  /** Highest share of the company's rate; all of it if absent. */
  share?: number | undefined;
}

/**
 * A rate limit that processes share. Permits are leased ahead (lease-permits.ts); answers are reported with the next
 * lease, a 429 at once, with at most two writes to the store per second. A process with nothing to send or report does
 * not ask. While the store is unreachable, everybody waits.
 */
export function createSharedRateLimit(
  changeRateLimit: ChangeRateLimit,
  options: Partial<SharedRateLimitOptions> = {},
): SharedRateLimit {
  return new LeasedRateLimit(changeRateLimit, { random: Math.random, onOutage: () => undefined, ...options });
}

/**
 * Invariant: a request is sent only with a permit leased under the shared rate limit, and each permit is used at most
 * once.
 */
class LeasedRateLimit implements SharedRateLimit {
  readonly #changeRateLimit: ChangeRateLimit;
  readonly #options: SharedRateLimitOptions;
  #isAway = false;
  readonly #sharer = randomUUID().slice(0, 8);
  readonly #waiters = createWaiters();
  readonly #permits = createHeldPermits();
  #answers: RateLimitAnswer[] = [];
  /** Dropped permits to give back. Permits dropped during an exchange go back with the next one. */
  #unused = 0;
  readonly #usage = createUsage();
  #inFlight = 0;
  readonly #sent = createSentRequests();
  #syncing: Promise<void> | undefined;
  #syncedAt = Number.NEGATIVE_INFINITY;
  readonly #writes = createWriteBudget();
  readonly #storeClock = createStoreClock();
  #told: Told = nothingTold;
  #borrowedAt = Number.NEGATIVE_INFINITY;
  readonly #leadWatch: ReturnType<typeof createLeadWatch>;
  readonly #liveRuns = createLiveRuns();
  /** A live request came since permits were last asked for. */
  #isLiveNew = false;
  #spacedAt = Number.NEGATIVE_INFINITY;
  /** No permits are available before this time. */
  #askAt = 0;
  /** A 429, or the answer to a single trial request, is still to be reported. */
  #isAwaited = false;
  /** Answers must be reported by this time. */
  #tellAt = Number.POSITIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(changeRateLimit: ChangeRateLimit, options: SharedRateLimitOptions) {
    this.#changeRateLimit = changeRateLimit;
    this.#options = options;
    this.#leadWatch = createLeadWatch(changeRateLimit, {
      storeClock: this.#storeClock,
      onMoved: (ms) => this.#permits.moveBack(ms),
      onLooked: (validFrom) => this.#obeyPause(validFrom),
    });
  }

  acquire(priority: Priority, signal?: AbortSignal, _endpoint?: string, holder: object = this): Promise<void> {
    const permit = this.#waiters.wait(priority, holder, () => this.#next(), signal);
    if (priority === 'live') {
      this.#isLiveNew = true;
      this.#liveRuns.note();
    }
    this.#next();
    return permit;
  }

  answered(answer: RateLimitAnswer): void {
    this.#answers.push(this.#sent.received(answer, this.#inFlight));
    this.#inFlight = Math.max(0, this.#inFlight - 1);
    const isRefused = answer.status === 429 || answer.status === 503;
    // Drops the permits that were leased as if no limit came.
    if (isRefused && this.#told.isGrowing) this.#unused += this.#permits.drop(Number.POSITIVE_INFINITY);
    this.#isAwaited ||= this.#told.isHeld || isRefused;
    this.#tellAt = Math.min(this.#tellAt, performance.now() + (this.#isAwaited ? 0 : this.#told.leaseMs));
    this.#next();
  }

  waitMs(priority: Priority, _endpoint?: string, holder: object = this): number {
    const ahead = this.#waiters.ahead(priority, holder);
    return Math.max(0, this.#told.validFrom - performance.now()) + (ahead * 1000) / this.#told.perSecond;
  }

  readonly perSecond = (): number => this.#told.perSecond;
  readonly ownEndpoints = (): readonly string[] => this.#told.ownEndpoints;
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#timer);
    await Promise.all([this.#syncing, this.#leadWatch.end()]);
    this.#waiters.close();
    if (this.#answers.length + this.#unused + this.#permits.all().length > 0) await this.#sync().catch(() => undefined);
  }

  /** Uses the permits that are due and plans the next step. */
  #next(): void {
    clearTimeout(this.#timer);
    const now = performance.now();
    while (this.#permitAt() <= now && this.#useNext()) this.#usage.note(this.#permits.use() === 0);
    if (this.#borrowAt() <= now && this.#useNext()) {
      this.#permits.useLast();
      this.#usage.note(false);
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
    const mayGo = this.#waiters.all() > 0 && !this.#isFull();
    const isAwaited = this.#waiters.count('live') === 0 && this.#leadWatch.isAwaited();
    const permitAt = isAwaited ? Number.POSITIVE_INFINITY : this.#permitAt();
    const goAt = mayGo ? Math.min(permitAt, this.#borrowAt()) : Number.POSITIVE_INFINITY;
    const at = Math.min(goAt, this.#syncing === undefined ? syncAt : Number.POSITIVE_INFINITY);
    if (Number.isFinite(at)) this.#timer = setTimeout(() => this.#next(), Math.max(0, Math.ceil(at - now)));
  }

  readonly #isFull = (): boolean => this.#inFlight >= (this.#told.mostInFlight ?? Number.POSITIVE_INFINITY);

  #permitAt(): number {
    return Math.max(this.#permits.first(), this.#spacedAt);
  }

  /** When a late live request may take the last permit without asking; all sharers together borrow one at a time. */
  #borrowAt(): number {
    const [first] = this.#permits.all();
    if (first === undefined || this.#waiters.count('live') === 0) return Number.POSITIVE_INFINITY;
    const everyMs = 1000 / this.#told.perSecond;
    const at = Math.max(this.#told.validFrom, this.#borrowedAt + this.#told.sharers * everyMs);
    return first - Math.max(at, performance.now()) > everyMs ? at : Number.POSITIVE_INFINITY;
  }

  #useNext(): boolean {
    if (this.#isFull() || this.#waiters.all() === 0) return false;
    if (this.#waiters.count('live') === 0 && !this.#leadWatch.mayGo()) return false;
    this.#inFlight += 1;
    this.#sent.note(this.#inFlight + this.#told.othersInFlight);
    this.#spacedAt = performance.now() + spaceMs(this.#told.perSecond);
    return this.#waiters.goNext();
  }

  /** Another process met the limit. */
  #obeyPause(validFrom: number): void {
    this.#unused += this.#permits.drop(validFrom);
    if (validFrom > this.#told.validFrom) this.#told = { ...this.#told, validFrom };
    this.#askAt = Math.max(this.#askAt, validFrom - this.#told.leaseMs);
    this.#next();
  }

  /** When to ask: for permits, to report answers, or to check that leased permits are still valid. */
  #syncAt(): number {
    const held = this.#permits.all().length;
    const isLate = this.#isLate();
    const isUrgent = isLate && this.#isLiveNew;
    const wantedAt = isUrgent ? 0 : this.#askAt;
    const wanted = isLate || this.#waiters.all() > held ? wantedAt : Number.POSITIVE_INFINITY;
    const checkAt = held > 0 ? this.#syncedAt + this.#told.leaseMs : Number.POSITIVE_INFINITY;
    const writeAt = this.#writes.nextAt(isUrgent || this.#isAwaited);
    return Math.max(Math.min(wanted, checkAt, this.#tellAt), this.#syncedAt + LEAST_MS, writeAt);
  }

  #isLate(): boolean {
    const everyMs = this.#told.sharers > 1 ? 1000 / this.#told.perSecond : Number.POSITIVE_INFINITY;
    return this.#permits.areLate(this.#waiters.count('live'), everyMs);
  }

  async #sync(): Promise<void> {
    const answers = this.#answers.splice(0);
    [this.#tellAt, this.#isAwaited, this.#isLiveNew] = [Number.POSITIVE_INFINITY, false, false];
    const isIdle = this.#waiters.all() === 0 && !this.#usage.any();
    const live = this.#waiters.count('live');
    const isStarved = this.#told.sharers === 1 && this.#waiters.count('bulk') > 0 && this.#permits.all().length === 0;
    const again = this.#usage.expected({ at: this.#syncedAt, leaseMs: this.#told.leaseMs, isStarved });
    const expected = live > 0 ? Math.max(again, this.#liveRuns.expected()) : again;
    // Also drop permits that expired because too many calls were in flight: other processes may use them.
    this.#unused += this.#permits.drop(isIdle ? Number.POSITIVE_INFINITY : performance.now() - this.#told.leaseMs);
    const asked: Omit<Asked, 'localNow'> = {
      live,
      bulk: this.#waiters.count('bulk') + Math.max(0, expected - live),
      unused: this.#unused,
      own: [...this.#permits.all()],
      answers,
      sharer: this.#sharer,
      inFlight: this.#inFlight,
      needs: this.#inFlight + this.#waiters.all(),
      share: this.#options.share,
      waits: this.#waiters.takeWaits(),
    };
    this.#usage.forget();
    try {
      const granted = await this.#changeRateLimit((saved, now) =>
        leasePermits({ ...asked, localNow: this.#storeClock.ownTimeOf(now), random: this.#options.random }, saved, now),
      );
      this.#unused -= asked.unused;
      this.#take(granted);
      this.#isAway = false;
    } catch (error) {
      if (!this.#isAway) this.#options.onOutage(error);
      this.#isAway = true;
      this.#answers.unshift(...answers);
      this.#askAt = performance.now() + OUTAGE_MS;
      this.#tellAt = answers.length + this.#unused > 0 ? this.#askAt : Number.POSITIVE_INFINITY;
    }
    this.#syncedAt = performance.now();
  }

  #take(granted: Granted): void {
    if (granted.isWritten) this.#writes.written();
    this.#told = granted;
    this.#permits.drop(granted.validFrom);
    this.#leadWatch.saw(granted);
    this.#permits.add(granted.permits);
    this.#permits.lead(granted.places);
    this.#askAt = performance.now() + askAgainMs(granted, this.#isLate(), this.#options.random());
  }
}

export type HeldPermits = ReturnType<typeof createHeldPermits>;

/** Permits that were not used in time must not go out in one burst, so they are spaced by this many ms. */
function spaceMs(perSecond: number): number {
  const half = 500 / perSecond;
  return half < LEAST_SPACE_MS ? 0 : half;
}

/** Permits that a process has leased and not used: when each may be used, by its own clock. */
export function createHeldPermits() {
  let permits: number[] = [];
  function add(more: readonly number[]): void {
    permits = [...permits, ...more].sort((a, b) => a - b);
  }
  return {
    /** All permits, earliest first. */
    all: (): readonly number[] => permits,
    /** When the next permit may be used; infinite if there is none. */
    first: (): number => permits[0] ?? Number.POSITIVE_INFINITY,
    /** Whether this many live requests lack permits, or would wait although other processes may send. */
    areLate: (live: number, everyMs: number): boolean =>
      live > permits.length ||
      isLate(live, permits, { now: performance.now(), tat: Number.POSITIVE_INFINITY, everyMs }),
    /** Uses the first permit and returns how many are left. */
    use(): number {
      permits.shift();
      return permits.length;
    },
    /** Uses the last permit instead of the first. */
    useLast: () => void permits.pop(),
    add,
    /** Swaps the last permits for these places. */
    lead(places: readonly number[]): void {
      const exchanged = permits.splice(Math.max(0, permits.length - places.length));
      add(places.slice(0, exchanged.length));
    },
    /** Moves permits back because another process goes first. */
    moveBack(ms: number): void {
      const now = performance.now();
      // Overdue permits keep their distances.
      const lateMs = Math.max(0, now - (permits[0] ?? now));
      const moved = permits.map((permit) => permit + (permit < now ? lateMs : 0) + ms);
      if (ms > 0) permits = moved.sort((a, b) => a - b);
    },
    /** Drops permits before a moment and returns how many. */
    drop(before: number): number {
      const kept = permits.filter((permit) => permit >= before);
      const dropped = permits.length - kept.length;
      permits = kept;
      return dropped;
    },
  };
}

/** If a clock was set back by more, or an answer took longer, everything known about the two clocks is forgotten. */
const MOST_LATE_MS = 1_000;
/** Two clocks drift apart by at most this share of the time: what NTP corrects without a jump. */
const DRIFT = 0.0005;
/** A clock that was set back by less is followed once older readings reach this age. */
const REMEMBERED_MS = 60_000;

/**
 * The store's clock next to our own. A reading of the store's clock is some ms old when it arrives, and much older if
 * the exchange was delayed, so the fastest reading of the last minute counts. Otherwise each exchange would shift
 * earlier permits, and a request sent at the very end of a pause would seem sent during it.
 */
export function createStoreClock() {
  /** Our clock minus the store's, as each answer showed it. */
  let seen: { at: number; aheadMs: number }[] = [];
  return {
    /** Time by our clock, in ms, when the store's clock showed `now`, for an answer that has just arrived. */
    ownTimeOf(now: number): number {
      const at = performance.now();
      seen = seen.filter((one) => at - one.at < REMEMBERED_MS);
      const known = Math.min(...seen.map((one) => one.aheadMs + DRIFT * (at - one.at)));
      if (at - now > known + MOST_LATE_MS) seen = [];
      seen.push({ at, aheadMs: at - now });
      return now + (seen.length === 1 ? at - now : Math.min(known, at - now));
    },
  };
}
