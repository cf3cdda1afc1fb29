import { randomUUID } from 'node:crypto';
import {
  type Asked,
  askAgainMs,
  type ChangeRateLimit,
  createUsage,
  type Granted,
  LEAST_MS,
  leasePermits,
  OUTAGE_MS,
  spaceMs,
  validFromOf,
} from './lease-permits.ts';
import type { Priority, RateLimitAnswer, RateLimitKeeper } from './rate-limit.ts';
import { createLiveRuns, isLate, nothingTold, type Told } from './shares.ts';
import { createWaiters } from './waiters.ts';

/** Writes of the store: one in so many ms in the long run, and so many more at once; two a second in any minute. */
const WRITES = { everyMs: 525, atOnce: 3 };

interface WriteBudget {
  /** When the next write is allowed; one that can wait leaves one for those that cannot. */
  nextAt(isUrgent: boolean): number;
  written(): void;
}

function createWriteBudget(): WriteBudget {
  /** When the writes so far would have ended at an even rate. */
  let endAt = 0;
  return {
    nextAt: (isUrgent) => endAt - (WRITES.atOnce - (isUrgent ? 0 : 1)) * WRITES.everyMs,
    written() {
      endAt = Math.max(endAt, performance.now()) + WRITES.everyMs;
    },
  };
}

/** The latest requests that left, and how many were under way then. */
interface SentRequests {
  note(inFlight: number): void;
  /**
   * The answer to one, on this process's clock, with those under way when it left; `inFlight` are so now, and are taken
   * where that is forgotten. At its answer their number says how fast answers come, not what was refused.
   */
  received(answer: RateLimitAnswer, inFlight: number): RateLimitAnswer;
}

const MOST_KEPT = 256;
/** No call is under way for longer. */
const LONGEST_CALL_MS = 300_000;

function createSentRequests(): SentRequests {
  const sent: { at: number; inFlight: number }[] = [];
  const inFlightAt = (sentAt: number) => sent.findLast(({ at }) => at <= sentAt + 1)?.inFlight;
  return {
    note: (inFlight) => {
      sent.push({ at: performance.now(), inFlight });
      if (sent.length > MOST_KEPT) sent.shift();
    },
    received(answer, inFlight) {
      const sentAt = onOwnClock(answer.sentAt);
      return {
        ...answer,
        sentAt,
        inFlight: inFlightAt(sentAt) ?? inFlight,
        roundTripMs: performance.now() - sentAt,
      };
    },
  };
}

/** Wall clocks are set back and forth: only how long ago it was is taken from them. */
function onOwnClock(sentAt: number): number {
  return performance.now() - Math.min(Math.max(Date.now() - sentAt, 0), LONGEST_CALL_MS);
}

/** Learns before the next exchange that another process met the limit, or that live requests of its went first. */
interface LeadWatch {
  /** Whether bulk may go on; a look begins in the background before what was seen grows stale. */
  mayGo(): boolean;
  /** Nothing may go before the look that is under way returns. */
  isAwaited(): boolean;
  /** What an exchange with the shared rate limit said; see `SavedLeads`. */
  saw(said: { movedMs: number; sharers: number }): void;
  /** Resolves when no look is under way. */
  end(): Promise<void>;
}

const LOOK_MS = 25;
/** What was seen holds for so many looks: bulk goes on meanwhile, however slow the store. */
const LOOKS = 4;
/** A process that met no other for so long does not look: most run alone, and hires may be far apart. */
const ALONE_MS = 3_600_000;

interface LeadWatchOptions {
  storeClock: StoreClock;
  /** By so much since it was last seen, ms. */
  onMoved: (ms: number) => void;
  /** After each look. Permits for before this moment of the own clock are void. */
  onLooked: (validFrom: number) => void;
}

function createLeadWatch(
  changeRateLimit: ChangeRateLimit,
  { storeClock, onMoved, onLooked }: LeadWatchOptions,
): LeadWatch {
  let known = 0;
  let seenAt = Number.NEGATIVE_INFINITY;
  let lookMs = 0;
  let othersAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  function note(movedMs: number): void {
    onMoved(movedMs - known);
    // A look and an exchange overlap: what was read first may come last.
    known = Math.max(known, movedMs);
    seenAt = performance.now();
  }
  const ageMs = (): number => performance.now() - seenAt;
  const isStale = (): boolean => ageMs() > Math.max(LOOK_MS, LOOKS * lookMs);
  async function look(): Promise<void> {
    const began = performance.now();
    // An outage is noticed, and told of, where permits are asked for.
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
    mayGo() {
      if (performance.now() - othersAt > ALONE_MS) return true;
      if (ageMs() > LOOK_MS) looking ??= look();
      return !isStale();
    },
    isAwaited: () => looking !== undefined && isStale(),
    saw({ movedMs, sharers }) {
      note(movedMs);
      if (sharers > 1) othersAt = seenAt;
    },
    end: async () => await looking,
  };
}

export interface SharedRateLimit extends RateLimitKeeper {
  /** Those who hold it in one process go in turn, however many calls of each wait; wherever they go. */
  acquire(priority: Priority, signal?: AbortSignal, endpoint?: string, holder?: object): Promise<void>;
  waitMs(priority: Priority, endpoint?: string, holder?: object): number;
  /** Endpoints that were found to have a limit of their own; their 429s say nothing of this one. */
  ownEndpoints(): readonly string[];
  /** Gives back what was leased, and reports the last answers. */
  close(): Promise<void>;
}

interface SharedRateLimitOptions {
  /** From 0 to 1. */
  random: () => number;
  /** Called at the first failure of a row. */
  onOutage: (error: unknown) => void;
  /** At most so much of the company's rate; all of it where absent. */
  share?: number | undefined;
}

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

/** Invariant: a request leaves only on a permit leased under the shared rate limit, and each is used at most once. */
class LeasedRateLimit implements SharedRateLimit {
  readonly #changeRateLimit: ChangeRateLimit;
  readonly #options: SharedRateLimitOptions;
  #isAway = false;
  readonly #sharer = randomUUID().slice(0, 8);
  readonly #waiters = createWaiters();
  readonly #permits = createHeldPermits();
  #answers: RateLimitAnswer[] = [];
  /** Permits that were dropped and are to be given back; those that an exchange does not know of by the next. */
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
  readonly #leadWatch: LeadWatch;
  readonly #liveRuns = createLiveRuns();
  /** A live request came since permits were last asked for. */
  #isLiveNew = false;
  #spacedAt = Number.NEGATIVE_INFINITY;
  /** Nothing is available before. */
  #askAt = 0;
  /** A 429, or the answer to the request that tries alone, is not reported yet. */
  #isAwaited = false;
  /** Answers must be reported by then. */
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
    // What was leased as if no limit came.
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

  /** Uses the permits that are due, and plans what comes next. */
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

  /** When a late live request may take the last permit without asking, one at a time of all sharers. */
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

  /** When to ask: for permits, to report answers, or whether leased permits are still valid. */
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
    // What passed unused while too many calls were under way, too: others may have it.
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

/** Permits that a process has leased and not used yet: when each may be used, its own clock. */
export interface HeldPermits {
  /** In order. */
  all(): readonly number[];
  /** When the next may be used; infinite where there is none. */
  first(): number;
  /** Whether so many live requests have no permits, or would wait although others may send. */
  areLate(live: number, everyMs: number): boolean;
  /** Gives how many are left. */
  use(): number;
  /** The last one goes instead of the first. */
  useLast(): void;
  add(permits: readonly number[]): void;
  /** Exchanges the last ones for as many of these places. */
  lead(places: readonly number[]): void;
  /** Somebody else goes first. */
  moveBack(ms: number): void;
  /** Those before a moment go; gives how many. */
  drop(before: number): number;
}

export function createHeldPermits(): HeldPermits {
  let permits: number[] = [];
  function add(more: readonly number[]): void {
    permits = [...permits, ...more].sort((a, b) => a - b);
  }
  return {
    all: () => permits,
    first: () => permits[0] ?? Number.POSITIVE_INFINITY,
    areLate: (live, everyMs) =>
      live > permits.length ||
      isLate(live, permits, { now: performance.now(), tat: Number.POSITIVE_INFINITY, everyMs }),
    use() {
      permits.shift();
      return permits.length;
    },
    useLast: () => void permits.pop(),
    add,
    lead(places) {
      const exchanged = permits.splice(Math.max(0, permits.length - places.length));
      add(places.slice(0, exchanged.length));
    },
    moveBack(ms) {
      const now = performance.now();
      // Those that are overdue keep their distances.
      const lateMs = Math.max(0, now - (permits[0] ?? now));
      const moved = permits.map((permit) => permit + (permit < now ? lateMs : 0) + ms);
      if (ms > 0) permits = moved.sort((a, b) => a - b);
    },
    drop(before) {
      const kept = permits.filter((permit) => permit >= before);
      const dropped = permits.length - kept.length;
      permits = kept;
      return dropped;
    },
  };
}

/** A clock set back by more, or an answer that was away for longer: what was known of the two clocks is forgotten. */
const MOST_LATE_MS = 1_000;
/** Two clocks drift apart by so much of the time at most: what NTP corrects without a jump. */
const DRIFT = 0.0005;
/** A clock that was set back by less is followed once what it showed before is so old. */
const REMEMBERED_MS = 60_000;

/**
 * The store's clock beside the own one. What the store showed is some ms old when it arrives, and of an exchange that
 * was held up much older; so of the last minute the one that came fastest counts. Otherwise each exchange would shift
 * the permits of those before, and a request that left at the very end of a pause would seem to have left within it.
 */
interface StoreClock {
  /** When the store's clock, which showed `now` in an answer that has just come, showed it: the own clock, ms. */
  ownTimeOf(now: number): number;
}

export function createStoreClock(): StoreClock {
  /** The own clock less the store's, as each answer showed it. */
  let seen: { at: number; aheadMs: number }[] = [];
  return {
    ownTimeOf(now) {
      const at = performance.now();
      seen = seen.filter((one) => at - one.at < REMEMBERED_MS);
      const known = Math.min(...seen.map((one) => one.aheadMs + DRIFT * (at - one.at)));
      if (at - now > known + MOST_LATE_MS) seen = [];
      seen.push({ at, aheadMs: at - now });
      return now + (seen.length === 1 ? at - now : Math.min(known, at - now));
    },
  };
}
