import type { SavedRateLimit } from './limiter-state.ts';
import type { Priority, RateLimitAnswer } from './rate-limit.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';

/** What one process wants of the shared rate limit, and what it has to tell. */
export interface Asked {
  /** Requests that wait in each priority, and those expected within a share. */
  live: number;
  bulk: number;
  /** Turns leased before and not used yet, the process's clock. */
  own: readonly number[];
  /** Turns that will not be used any more. */
  unused: number;
  /** Their `sentAt` is of the process's clock. */
  answers: readonly RateLimitAnswer[];
  localNow: number;
  /** Names the process among those that share the rate limit. */
  sharer: string;
  /** Its requests under way. */
  inFlight: number;
}

export interface Granted {
  /** When each turn may be used, the process's clock. */
  turns: number[];
  /** A pause began: turns leased for before this moment of the process's clock do not stand. */
  standsFrom: number;
  /** Nothing more is to be had for so long; undefined: all that was asked for is there. */
  askInMs: number | undefined;
  /** Requests that this process may have under way; undefined: as many as it has turns. */
  mostInFlight: number | undefined;
  /** Under way in the other processes, as they told last. */
  othersInFlight: number;
}

/** When each process was here last, and what it had under way then. */
type Sharers = Record<string, { at: number; inFlight: number }>;

/** A rate limit and the processes that share it. */
export interface SharedState extends SavedRateLimit {
  sharers?: Sharers;
  /** Of the shape of all this. */
  version: number;
}

/** Raised when what is saved changes its shape: what another version learned is learned again. */
const rateLimitVersion = 1;

/** A process leases the turns of so many ms, or one. */
export const shareMs = 250;
/** Who was not here for so long shares no more. */
const sharerMs = 2_000;

/**
 * One exchange with the shared rate limit, pure: tells the answers, gives back what is not used, and leases the turns that fall into the next 250 ms, live
 * before bulk. Turns never lie further ahead, so a cut, a pause or a live request of another process waits for no more than that.
 */
export function leaseTurns(
  asked: Asked & { random: () => number },
  shared: Partial<SharedState>,
  now: number,
): { rateLimit?: SharedState; result: Granted } {
  const clock = { at: now };
  const isOurs = shared.version === rateLimitVersion;
  const known = (isOurs && shared.sharers) || {};
  const limiter = createRateLimiter(
    { now: () => clock.at, random: asked.random, leaseMs: shareMs },
    isOurs ? learnedOf(shared as SharedState) : undefined,
  );
  const offset = now - asked.localNow;
  for (const answer of asked.answers) limiter.answered({ ...answer, sentAt: answer.sentAt + offset });
  const standsFrom = limiter.pausedMs() > 0 ? asked.localNow + limiter.pausedMs() - 1 : 0;
  const standing = asked.own.filter((turn) => turn >= standsFrom).length;
  const back = asked.unused + asked.own.length - standing;
  if (back > 0) limiter.giveBack(back);
  const { turns, askInMs } = grant(limiter, clock, asked, standing);
  const sharers = sharersNow(known, asked, now);
  const most = limiter.mostInFlight();
  // A share of the gate is kept by being seen.
  const isDue = most !== undefined && now - (known[asked.sharer]?.at ?? 0) > sharerMs / 4;
  const result = {
    turns: turns.map((turn) => turn - offset),
    standsFrom,
    askInMs,
    mostInFlight: most === undefined ? undefined : shareOf(most, Object.keys(sharers), asked.sharer),
    othersInFlight: Object.entries(sharers).reduce((n, [id, one]) => (id === asked.sharer ? n : n + one.inFlight), 0),
  };
  const changed = turns.length + asked.answers.length + back > 0 || isDue;
  return changed ? { rateLimit: { ...limiter.save(), sharers, version: rateLimitVersion }, result } : { result };
}

function learnedOf({ sharers: _sharers, version: _version, ...saved }: SharedState): SavedRateLimit {
  return saved;
}

/** Turns for those that wait and have none, as far as the next 250 ms reach. */
function grant(
  limiter: RateLimiter,
  clock: { at: number },
  { live, bulk }: Asked,
  standing: number,
): Pick<Granted, 'turns' | 'askInMs'> {
  const now = clock.at;
  const turns: number[] = [];
  const missing = Math.max(0, live + bulk - standing);
  const priorities: Priority[] = Array.from({ length: missing }, (_, n) => (n < live ? 'live' : 'bulk'));
  for (const priority of priorities) {
    let wait = limiter.ask(priority);
    while (wait > 0 && clock.at + wait <= now + shareMs) {
      clock.at += wait;
      wait = limiter.ask(priority);
    }
    if (wait > 0) return { turns, askInMs: Math.min(Math.max(clock.at + wait - now - shareMs, 0), 60_000) };
    turns.push(clock.at);
  }
  return { turns, askInMs: undefined };
}

function sharersNow(known: Sharers, { sharer, inFlight }: Asked, now: number): Sharers {
  const others = Object.entries(known).filter(([id, one]) => id !== sharer && one.at > now - sharerMs);
  return { ...Object.fromEntries(others), [sharer]: { at: now, inFlight } };
}

/** The gate is divided evenly, so that no process needs to ask before each request; nobody is left without. */
function shareOf(most: number, ids: readonly string[], own: string): number {
  const place = ids.toSorted().indexOf(own);
  return Math.max(1, Math.floor(most / ids.length) + (place < most % ids.length ? 1 : 0));
}
