import type { Priority } from '../../src/rate-limit/rate-limit.ts';
import { createRateLimiter } from '../../src/rate-limit/rate-limiter.ts';
import { createRandom, type Random } from '../../src/sandbox/random.ts';
import type { BankServer } from './bank.ts';
import { type Limit, tokenBucket, type Verdict } from './limits.ts';

/** `exact`: Retry-After in ms; `seconds`: rounded up, as HTTP has it; `none`: no header at all. */
export type Told = 'exact' | 'seconds' | 'none';

/** What became of the calls of one run; times in virtual ms. */
export interface Driven {
  endMs: number;
  /** When each success was admitted. */
  admitted: number[];
  /** When each refusal was made. */
  refused: number[];
  live: { at: number; waitMs: number }[];
}

interface Flight {
  step: 'arrives' | 'is done' | 'is answered';
  at: number;
  sentAt: number;
  inFlight: number;
  verdict?: Verdict;
}

const WORKERS = 16;
const RTT = { least: 20, most: 200 };
const LIVE_SHARE = 0.05;

/** A saturated backlog and a trickle of live calls before one server of the bank, in virtual time. */
export function drive(server: BankServer, told: Told, seed: number): Driven {
  return new Drive(server, told, createRandom(seed)).run();
}

/** Invariant: events happen in the order of their times. */
class Drive {
  #now = 0;
  readonly #server: BankServer;
  readonly #told: Told;
  readonly #random: Random;
  readonly #limit: Limit;
  readonly #endpoint: Limit | undefined;
  readonly #limiter;
  readonly #flights: Flight[] = [];
  readonly #liveSince: number[] = [];
  #underWay = 0;
  #inFlight = 0;
  #liveAt = 0;
  readonly #askAt: Record<Priority, number> = { live: 0, bulk: 0 };
  readonly #seen: Driven;

  constructor(server: BankServer, told: Told, random: Random) {
    this.#server = server;
    this.#told = told;
    this.#random = random;
    this.#limit = server.make();
    const own = server.endpointPerSecond;
    this.#endpoint = own === undefined ? undefined : tokenBucket(own, 1);
    this.#limiter = createRateLimiter({ now: () => this.#now, random });
    this.#seen = { endMs: (server.minutes ?? 15) * 60_000, admitted: [], refused: [], live: [] };
  }

  run(): Driven {
    this.#liveAt = this.#untilLive();
    while (this.#now < this.#seen.endMs) {
      while ((this.#flights[0]?.at ?? Number.POSITIVE_INFINITY) <= this.#now) this.#land(this.#flights.shift()!);
      while (this.#liveAt <= this.#now) {
        this.#liveSince.push(this.#liveAt);
        this.#liveAt += this.#untilLive();
        this.#askAt.live = this.#now;
      }
      this.#sendAll();
      const asks = this.#liveSince.length > 0 ? Math.min(this.#askAt.live, this.#askAt.bulk) : this.#askAt.bulk;
      this.#now = Math.min(this.#flights[0]?.at ?? Number.POSITIVE_INFINITY, this.#liveAt, asks);
    }
    return this.#seen;
  }

  #untilLive(): number {
    return (-Math.log(1 - this.#random()) * 1000) / (LIVE_SHARE * this.#server.perSecond);
  }

  #sendAll(): void {
    while (this.#liveSince.length > 0 && this.#send('live')) {
      const since = this.#liveSince.shift() ?? 0;
      this.#seen.live.push({ at: since, waitMs: this.#now - since });
    }
    while (this.#send('bulk'));
  }

  /** Full in flight: the next answer lets them ask again. */
  #send(priority: Priority): boolean {
    if (this.#askAt[priority] > this.#now) return false;
    const most = Math.min(
      WORKERS * (this.#server.serviceMs === undefined ? 1 : 4),
      this.#limiter.mostInFlight() ?? 1e9,
    );
    const wait = this.#inFlight >= most ? Number.POSITIVE_INFINITY : this.#limiter.ask(priority);
    this.#askAt[priority] = this.#now + (wait === 0 ? 0 : Math.max(1, wait));
    if (wait > 0) return false;
    this.#inFlight += 1;
    this.#fly({ step: 'arrives', at: this.#now + this.#way(), sentAt: this.#now, inFlight: this.#inFlight });
    return true;
  }

  /** One way, half of a round trip. */
  #way(): number {
    return (RTT.least + (RTT.most - RTT.least) * this.#random()) / 2;
  }

  #fly(flight: Flight): void {
    const place = this.#flights.findLastIndex((other) => other.at <= flight.at);
    this.#flights.splice(place + 1, 0, flight);
  }

  #land(flight: Flight): void {
    if (flight.step === 'arrives') return this.#arrive(flight);
    if (flight.step === 'is done') return this.#leave(flight);
    this.#inFlight -= 1;
    const { ok = true } = flight.verdict ?? {};
    for (const priority of ['live', 'bulk'] as const)
      this.#askAt[priority] = Math.min(this.#askAt[priority], Math.max(this.#now, 0));
    this.#limiter.answered({
      sentAt: flight.sentAt,
      inFlight: flight.inFlight,
      status: ok ? 200 : 429,
      retryAfterMs: ok ? undefined : this.#retryAfter(flight.verdict),
      headers: this.#headers(flight.verdict),
    });
  }

  #arrive(flight: Flight): void {
    const verdict = this.#judge();
    this.#seen[verdict.ok ? 'admitted' : 'refused'].push(this.#now);
    if (!verdict.ok) return this.#fly({ ...flight, verdict, step: 'is answered', at: this.#now + this.#way() });
    this.#underWay += 1;
    this.#fly({ ...flight, verdict, step: 'is done', at: this.#now + (this.#server.serviceMs ?? 0) });
  }

  #leave(flight: Flight): void {
    this.#underWay -= 1;
    this.#fly({ ...flight, step: 'is answered', at: this.#now + this.#way() });
  }

  #judge(): Verdict {
    if (this.#random() < (this.#server.noise ?? 0)) return { ok: false, retryAfterMs: 1_000 };
    if (this.#endpoint === undefined || this.#random() >= 0.1) return this.#limit(this.#now, this.#underWay);
    const own = this.#endpoint(this.#now, this.#underWay);
    return own.ok ? this.#limit(this.#now, this.#underWay) : own;
  }

  #retryAfter(verdict: Verdict | undefined): number | undefined {
    if (verdict === undefined || this.#told === 'none') return undefined;
    return this.#told === 'exact' ? verdict.retryAfterMs : Math.ceil(verdict.retryAfterMs / 1000) * 1000;
  }

  #headers(verdict: Verdict | undefined): Record<string, string> {
    const { remaining, resetMs } = verdict ?? {};
    if (this.#server.headers !== true || this.#told === 'none') return {};
    if (remaining === undefined || resetMs === undefined) return {};
    return { 'x-ratelimit-remaining': String(remaining), 'x-ratelimit-reset': String(Math.ceil(resetMs / 1000)) };
  }
}
