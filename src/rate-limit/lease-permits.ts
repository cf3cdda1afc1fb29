import { freshCeiling, measureCompany, type SavedCeiling, underCeiling } from './ceiling.ts';
import type { Priority, RateLimitAnswer } from './rate-limit.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';
import type { SavedRateLimit } from './saved-rate-limit.ts';

/** What one process wants of the shared rate limit, and what it has to report. */
export interface Asked {
  /** Requests that wait in each priority, and those expected within a share. */
  live: number;
  bulk: number;
  /** Permits leased before and not used yet, the process's clock. */
  own: readonly number[];
  /** Permits that will not be used any more. */
  unused: number;
  /** Their `sentAt` is of the process's clock. */
  answers: readonly RateLimitAnswer[];
  localNow: number;
  /** Names the process among those that share the rate limit. */
  sharer: string;
  /** Its requests under way. */
  inFlight: number;
  /** Of the company's rate; everything where absent. */
  share?: number | undefined;
}

export interface Granted {
  /** When each permit may be used, the process's clock. */
  permits: number[];
  /** A pause began: permits leased for before this moment of the process's clock are void. */
  validFrom: number;
  /** Nothing more is available for so long; undefined: all that was asked for is there. */
  askInMs: number | undefined;
  /** Requests that this process may have under way; undefined: as many as it has permits. */
  mostInFlight: number | undefined;
  /** Under way in the other processes, as last reported. */
  othersInFlight: number;
  /** The learned rate, of all processes together. */
  perSecond: number;
}

/** When each process last asked, and what it had under way then. */
type Sharers = Record<string, { at: number; inFlight: number }>;

/** A rate limit and the processes that share it. */
export interface SharedRateLimitState extends SavedRateLimit {
  sharers?: Sharers;
  ceiling?: SavedCeiling;
  /** Of the shape of all this. */
  version: number;
}

/** Raised when what is saved changes its shape: what another version learned is learned again. */
const RATE_LIMIT_VERSION = 2;

/** A process leases the permits of so many ms, or one: a saturated tenant costs less than two writes a second. */
export const SHARE_MS = 600;
/** A process that did not ask for so long no longer shares. */
const SHARER_MS = 2_000;

/**
 * One exchange with the shared rate limit, pure: reports the answers, gives back what is not used, and leases the
 * permits that fall into the next 600 ms, live before bulk. Permits never lie further ahead, so a cut, a pause or a
 * live request of another process waits no longer than that.
 */
export function leasePermits(
  asked: Asked & { random: () => number },
  shared: Partial<SharedRateLimitState>,
  now: number,
): { rateLimit?: SharedRateLimitState; result: Granted } {
  const clock = { at: now };
  const known = shared.version === RATE_LIMIT_VERSION ? (shared as SharedRateLimitState) : undefined;
  const own = createRateLimiter({ now: () => clock.at, random: asked.random, leaseMs: SHARE_MS }, learnedOf(known));
  const offset = now - asked.localNow;
  for (const answer of asked.answers) own.answered({ ...answer, sentAt: answer.sentAt + offset });
  const { limiter, saved } = withCeiling(own, known?.ceiling, asked.share, clock);
  const validFrom = validFromOf(limiter, now, offset);
  const valid = asked.own.filter((permit) => permit >= validFrom).length;
  const back = asked.unused + asked.own.length - valid;
  if (back > 0) limiter.giveBack(back);
  const { permits, askInMs } = grant(limiter, clock, asked, valid);
  const sharers = sharersNow(known?.sharers ?? {}, asked, now);
  const most = limiter.mostInFlight();
  // A process keeps its share of the requests under way by being seen.
  const isDue = most !== undefined && now - (known?.sharers?.[asked.sharer]?.at ?? 0) > SHARER_MS / 4;
  const result = {
    permits: permits.map((permit) => permit - offset),
    validFrom,
    askInMs,
    perSecond: limiter.save().rate,
    mostInFlight: most === undefined ? undefined : shareOf(most, Object.keys(sharers), asked.sharer, now),
    othersInFlight: Object.entries(sharers).reduce((n, [id, one]) => (id === asked.sharer ? n : n + one.inFlight), 0),
  };
  const changed = permits.length + asked.answers.length + back > 0 || isDue;
  if (!changed) return { result };
  return { rateLimit: { ...limiter.save(), ...saved, sharers, version: RATE_LIMIT_VERSION }, result };
}

/** The limiter under the tenant's ceiling, and what is to be saved of it. */
function withCeiling(
  limiter: RateLimiter,
  known: SavedCeiling | undefined,
  share: number | undefined,
  clock: { at: number },
): { limiter: RateLimiter; saved: Pick<SharedRateLimitState, 'ceiling'> } {
  if (share === undefined) return { limiter, saved: {} };
  const ceiling = { ...freshCeiling, ...known };
  measureCompany(ceiling, limiter, clock.at);
  return {
    limiter: underCeiling(limiter, { share, saved: ceiling, now: () => clock.at }),
    saved: { ceiling },
  };
}

function learnedOf(state: SharedRateLimitState | undefined): SavedRateLimit | undefined {
  if (state === undefined) return undefined;
  const { sharers: _sharers, ceiling: _ceiling, version: _version, ...saved } = state;
  return saved;
}

/**
 * The end of a pause that is on, the process's clock; one ms earlier, so that rounding never voids the canary's permit.
 */
function validFromOf(limiter: RateLimiter, now: number, offset: number): number {
  const pausedUntil = limiter.save().underWay?.permits.pausedUntil ?? 0;
  return pausedUntil > now ? pausedUntil - offset - 1 : 0;
}

/** Permits for those that wait and have none, as far as a share reaches. */
function grant(
  limiter: RateLimiter,
  clock: { at: number },
  { live, bulk }: Asked,
  valid: number,
): Pick<Granted, 'permits' | 'askInMs'> {
  const now = clock.at;
  const permits: number[] = [];
  const missing = Math.max(0, live + bulk - valid);
  const priorities: Priority[] = Array.from({ length: missing }, (_, n) => (n < live ? 'live' : 'bulk'));
  for (const priority of priorities) {
    let wait = limiter.ask(priority);
    while (wait > 0 && clock.at + wait <= now + SHARE_MS) {
      clock.at += wait;
      wait = limiter.ask(priority);
    }
    if (wait > 0) return { permits, askInMs: Math.min(Math.max(clock.at + wait - now - SHARE_MS, 0), 60_000) };
    permits.push(clock.at);
  }
  return { permits, askInMs: undefined };
}

function sharersNow(known: Sharers, { sharer, inFlight }: Asked, now: number): Sharers {
  const others = Object.entries(known).filter(([id, one]) => id !== sharer && one.at > now - SHARER_MS);
  return { ...Object.fromEntries(others), [sharer]: { at: now, inFlight } };
}

/**
 * Divided evenly, so that no process needs to ask before each request. Where there are fewer than processes, they take
 * turns.
 */
function shareOf(most: number, ids: readonly string[], own: string, now: number): number {
  const turn = Math.floor(now / SHARER_MS);
  const place = (ids.toSorted().indexOf(own) + turn) % ids.length;
  return Math.floor(most / ids.length) + (place < most % ids.length ? 1 : 0);
}
